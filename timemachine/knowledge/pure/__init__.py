"""The parts of `knowledge` that import no framework."""
