"""Forms of the replays pages."""
