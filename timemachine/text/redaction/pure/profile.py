"""A redaction profile as a value: a name, a version, and rules that never change."""

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from timemachine.text.redaction.pure.rules import Rules

NAME: Final = "Secrets and personal data"
VERSION: Final = 4
"""Increased when the rules below change. Whatever was made with an earlier version keeps its rules."""
RULES: Final = Rules(detect=("secret", "email", "phone", "card", "iban", "ssn", "password", "image"))
FINDS: Final = "keys, tokens and passwords (including those in command arguments and configuration), e-mail addresses, phone numbers in international format, card numbers, IBANs, US social security numbers, and images as base64"
LEAVES: Final = "names of people, users and hosts, postal addresses, dates of birth, other account or identity numbers, and text in images that are files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One version of a profile. `id` is that of its row, None for the built-in profile."""

    name: str
    version: int
    rules: Rules
    id: UUID | None = None

    @property
    def handle(self) -> str:
        """Its name in URLs and requests: its id, or `built-in`."""
        return BUILT_IN_HANDLE if self.id is None else str(self.id)

    def as_json(self) -> dict[str, object]:
        """Return what is stored with everything made with it."""
        return {"name": self.name, "version": self.version, "rules": self.rules.as_json()}


BUILT_IN_HANDLE: Final = "built-in"
BUILT_IN: Final = Profile(name=NAME, version=VERSION, rules=RULES)
