"""Tracing: NumPy code runs on handles and leaves a Program behind."""
