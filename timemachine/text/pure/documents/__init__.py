"""Files of other people as texts with blocks, and texts as passages. No framework."""
