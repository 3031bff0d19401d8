"""The parts of `suites` that import no framework."""
