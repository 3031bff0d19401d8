"""The parts of `usage` that import no framework."""
