"""Sweeps: a grid of retrieval settings measured over the finds and asks of a session."""
