"""What earlier sessions are good for: transcripts, search and recall, patterns, training data."""
