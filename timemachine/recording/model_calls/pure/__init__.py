"""Requests of recorded calls, without a database."""
