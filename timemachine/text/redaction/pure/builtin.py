"""The profile that every project has without making one. Pure."""

from typing import Final

from timemachine.text.redaction.pure.rules import Rules

NAME: Final = "Secrets and personal data"
VERSION: Final = 2
"""Raised when the rules below become others. What was made with an earlier version keeps its rules."""
RULES: Final = Rules(detect=("secret", "email", "phone", "card", "iban", "ssn"))
FINDS: Final = "keys, tokens and passwords, e-mail addresses, phone numbers written internationally, card numbers, IBANs and US social security numbers"
LEAVES: Final = "names, postal addresses, dates of birth, and every other number of an account or an identity"
