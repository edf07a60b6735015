"""A Program as calls of an array library: one writer, and a dialect for each library."""
