"""What the instructions of Python's code say: the one place that depends on their names, which versions change."""
