"""What the comparisons pages show, computed from queries."""
