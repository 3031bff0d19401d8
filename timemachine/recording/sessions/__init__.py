"""Sessions, their ordered actions and the passages frozen with them; what was recorded is never changed."""
