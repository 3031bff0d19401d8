"""Playback: a local address that answers an agent from a recorded session, without a model and without Django."""
