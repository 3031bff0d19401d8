"""Differences between two texts, answers, ranked lists, JSON values or sessions."""
