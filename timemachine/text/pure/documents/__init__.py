"""Reads files of several formats as text with blocks, and splits text into passages."""
