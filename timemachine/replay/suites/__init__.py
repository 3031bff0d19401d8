"""Replay suites: named sets of sessions that are replayed with the same options, and what changed since the last run."""
