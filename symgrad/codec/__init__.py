"""A Program written down, and read again: one codec for files, pickles, the disk cache and other processes.

What may stand where is said once, as a form (``forms``): writing, reading, checking and the JSON schema follow from it.
``operations`` says it of the parameters of every operation. ``programs`` has a Program as plain JSON, ``document`` what
``export("json")`` writes around it and ``symgrad.load`` reads, ``packed`` the same records of nodes in less space, for
derivations that the disk cache keeps. What is read is data, never code, and all of it is checked.
"""
