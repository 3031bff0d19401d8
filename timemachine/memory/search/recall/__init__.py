"""Recall: turns of earlier sessions that answer a question, by words, meaning and time expressions."""
