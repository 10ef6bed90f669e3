"""Time travel: where one can go back to, what would go, the jump itself, and the files that follow."""
