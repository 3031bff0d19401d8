"""Views of the replays pages."""
