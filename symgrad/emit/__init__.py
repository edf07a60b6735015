"""Programs as source: what kernels load and exports take away."""
