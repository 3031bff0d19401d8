"""How far an answer is supported by the passages it was given. Pure."""
