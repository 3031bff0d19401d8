"""Files that are handed in: kept at once, read, and put passage by passage."""
