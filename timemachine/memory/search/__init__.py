"""Search across sessions: steps with these words or a similar meaning, indexed by a worker in the background."""
