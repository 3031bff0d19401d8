"""Deleting recorded data: fields, turns and sessions, manually or by rule."""
