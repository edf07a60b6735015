"""Kernels: a Program lowered to code that runs."""
