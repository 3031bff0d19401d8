"""Judging: a model checks for each sentence of a recorded answer whether the recorded passages support it."""
