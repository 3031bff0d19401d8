"""Transcripts: the turns of a session in order, or the important ones, as input for an agent."""
