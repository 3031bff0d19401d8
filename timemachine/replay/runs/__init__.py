"""Replays of a session: planning, running the steps under leases, and writing their results."""
