"""The parts of `erasure` that import no framework."""
