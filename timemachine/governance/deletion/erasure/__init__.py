"""Permanent redaction: selected fields, or what a profile matches, are erased from every table that stores or repeats them."""
