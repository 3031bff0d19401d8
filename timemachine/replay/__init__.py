"""Replaying recorded steps and comparing the results."""
