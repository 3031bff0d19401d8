"""The parts of `comparison` that import no framework."""
