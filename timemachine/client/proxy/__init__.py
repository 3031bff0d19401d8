"""A proxy between a program and its model providers, which records the calls."""
