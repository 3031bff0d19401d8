"""What the insights pages show, computed from queries."""
