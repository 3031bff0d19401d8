"""Comparisons: several models answer the same recorded questions over the same frozen contexts, and their results."""
