"""The parts of `timeline` that import no framework."""
