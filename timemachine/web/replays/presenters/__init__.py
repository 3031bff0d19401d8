"""What the replays pages show, computed from queries."""
