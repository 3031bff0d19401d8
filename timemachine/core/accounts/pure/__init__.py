"""The parts of `accounts` that import no framework."""
