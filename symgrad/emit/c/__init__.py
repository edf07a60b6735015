"""C: how the loop language is spelled in it, and the functions that it lacks."""
