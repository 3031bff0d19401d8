"""Backups: a file with the database and the private keys, and the way back."""
