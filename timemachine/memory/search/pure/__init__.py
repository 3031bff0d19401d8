"""The parts of `search` that import no framework."""
