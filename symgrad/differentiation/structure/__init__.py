"""Structured derivatives: sums of terms whose identities, slices and lookups are never built."""
