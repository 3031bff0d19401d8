"""Pages: replays."""
