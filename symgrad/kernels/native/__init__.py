"""The native backend: C loops for what they compute faster than NumPy, compiled by the machine's own compiler."""
