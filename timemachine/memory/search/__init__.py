"""Search across sessions: which steps hold these words, or mean this; indexed by a worker beside the recording."""
