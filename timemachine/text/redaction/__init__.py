"""Redaction: profiles of rules, and withholding what they match from texts, JSON values and recorded steps."""
