"""Forward and reverse mode over nodes, and Jacobians with δ seeds."""
