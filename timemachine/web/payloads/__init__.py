"""Recorded payloads shown as what they are: `pure.shapes` recognises them, `rendering` writes them as HTML."""
