"""Judging: a model says of each sentence of a recorded answer whether the recorded passages support it."""
