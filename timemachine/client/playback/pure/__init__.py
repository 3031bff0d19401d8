"""Playback without a framework: the recorded calls, what makes a request equal to a recorded one, and the answers."""
