"""The profile that every project has without making one. Pure."""

from typing import Final

from timemachine.redaction.rules import Rules

NAME: Final = "Secrets and personal data"
VERSION: Final = 1
"""Raised when the rules below become others."""
RULES: Final = Rules(detect=("secret", "email", "phone", "card"))
