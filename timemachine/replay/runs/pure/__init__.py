"""The parts of `runs` that import no framework."""
