"""Sealing sessions, replays and comparisons, and checking what is stored against the seals."""
