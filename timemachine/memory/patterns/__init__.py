"""Patterns: the same error or question in several sessions, how often and when it occurred, what solved it, and
alerts about it.
"""
