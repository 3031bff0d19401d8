"""Deleting recorded data: fields, turns, sessions, by hand or by rule."""
