"""The parts of `sweeps` that import no framework."""
