"""The parts of `transcripts` that import no framework."""
