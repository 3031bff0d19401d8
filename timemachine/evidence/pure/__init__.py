"""The parts of `evidence` that import no framework."""
