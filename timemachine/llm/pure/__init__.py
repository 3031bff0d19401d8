"""The parts of `llm` that import no framework."""
