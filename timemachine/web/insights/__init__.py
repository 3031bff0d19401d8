"""Pages of costs, patterns, recall, search and training data."""
