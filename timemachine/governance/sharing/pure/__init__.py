"""The parts of `sharing` that import no framework."""
