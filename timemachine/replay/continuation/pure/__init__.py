"""Continuations without a framework."""
