"""The parts of `patterns` that import no framework."""
