"""The parts of `importing` that import no framework."""
