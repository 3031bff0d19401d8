"""The parts of `training` that import no framework."""
