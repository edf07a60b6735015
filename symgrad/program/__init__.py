"""The let-bound program: nodes, dims, the Program itself and its verifier."""
