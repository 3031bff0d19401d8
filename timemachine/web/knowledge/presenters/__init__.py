"""What the knowledge pages show, computed from queries."""
