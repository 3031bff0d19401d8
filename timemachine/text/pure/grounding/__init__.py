"""How far an answer is supported by its passages."""
