"""Uploaded files: stored, read, and put into a collection passage by passage."""
