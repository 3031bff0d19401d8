"""A redaction profile as whoever applies it knows it: a name, a version, and rules that never change. Pure."""

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from timemachine.text.redaction.pure import builtin
from timemachine.text.redaction.pure.rules import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One version of a profile. `id` is that of its row, None for the one that every project has."""

    name: str
    version: int
    rules: Rules
    id: UUID | None = None

    @property
    def handle(self) -> str:
        """What addresses and requests call it: its id, or `built-in`."""
        return BUILT_IN_HANDLE if self.id is None else str(self.id)

    def as_json(self) -> dict[str, Any]:
        """What is kept with whatever was made with it."""
        return {"name": self.name, "version": self.version, "rules": self.rules.as_json()}


BUILT_IN_HANDLE: Final = "built-in"
BUILT_IN: Final = Profile(name=builtin.NAME, version=builtin.VERSION, rules=builtin.RULES)
