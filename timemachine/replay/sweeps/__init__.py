"""A grid of retrieval settings over the finds and asks of a session, measured."""
