"""The parts of `recall` that import no framework."""
