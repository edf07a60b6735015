"""Programs as source: what kernels run and exports hold."""
