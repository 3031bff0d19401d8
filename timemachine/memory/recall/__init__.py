"""Recall: what earlier sessions say to a question, by words, meaning and words of time; each turn with its session and step."""
