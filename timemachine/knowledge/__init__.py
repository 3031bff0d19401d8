"""Collections: frames, their embeddings, and ranking them for a query."""
