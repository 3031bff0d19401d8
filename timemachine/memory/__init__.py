"""Use recorded sessions again: transcripts, search and recall, patterns, training data."""
