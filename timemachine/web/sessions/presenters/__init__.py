"""What the sessions pages show, computed from queries."""
