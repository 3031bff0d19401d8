"""The parts of `text` that import no framework."""
