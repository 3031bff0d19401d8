"""The parts of `redaction` that import no framework."""
