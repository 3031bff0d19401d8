"""Replay suites: a named set of sessions that is replayed again with the same options, and what changed since its last run."""
