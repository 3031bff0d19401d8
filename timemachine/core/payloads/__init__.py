"""Bytes of a project, each stored once under its SHA-256."""
