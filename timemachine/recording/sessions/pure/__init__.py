"""The parts of `sessions` that import no framework."""
