"""The parts of `answering` that import no framework."""
