"""Derivatives of operators that users replace."""
