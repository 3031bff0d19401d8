"""The parts of `judging` that import no framework."""
