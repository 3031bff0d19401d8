"""Sentences pinned to the steps of a session, beside its record; `web/notes.py`, which says one thing once, is another matter."""
