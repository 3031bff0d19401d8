"""Sessions, their ordered actions, and the passages frozen with them. What was recorded never changes."""
