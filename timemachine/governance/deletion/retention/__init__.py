"""Bulk deletion of sessions by people and by retention rules, and legal holds, which prevent it."""
