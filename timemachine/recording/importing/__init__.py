"""Importing the files of other tools, and exporting sessions."""
