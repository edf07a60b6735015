"""A derivation, step by step: the function's own lines, then the chain rule through each of them."""
