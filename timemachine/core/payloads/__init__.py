"""Bytes of a project, kept once by their SHA-256."""
