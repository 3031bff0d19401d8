"""What is to be erased: selected fields of steps and the session, or what a profile finds. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.text.redaction.pure.paths import Path
from timemachine.text.redaction.pure.rules import Rules, read_rules

MOST_STEPS: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The rules, and the steps that they apply to (None: all). `whole`: these steps are deleted completely."""

    rules: Rules
    steps: frozenset[int] | None = None
    whole: bool = False

    @property
    def of_session(self) -> bool:
        """Return whether the session's own fields are scanned."""
        rules = self.rules
        return bool(rules.detect or rules.patterns) or any(each.of_session for each in rules.paths)

    @property
    def looks_everywhere(self) -> bool:
        """Return whether matches do not depend on the step: the rules are of a profile, not selected fields."""
        return bool(self.rules.detect or self.rules.patterns)

    def takes(self, sequence: int) -> bool:
        """Return whether the rules apply to that step."""
        return self.steps is None or sequence in self.steps

    def by_path(self) -> "Chosen":
        """Return the selected fields alone, without what a profile looks for in texts."""
        return replace(self, rules=Rules(fields=self.rules.fields, paths=self.rules.paths))

    def within(self, fields: Sequence[str]) -> Rules:
        """Return the rules with these fields added."""
        paths = tuple(Path(of_session=False, field=name) for name in fields)
        return replace(self.rules, paths=self.rules.paths + paths)


def chosen_of(
    profile: Mapping[str, Any] | None, fields: Sequence[str], steps: Sequence[int], *, whole: bool = False
) -> Chosen:
    """Return the stored selection. Raises `InvalidInput` without one, or for both a profile and fields."""
    if (profile is None) == (not fields):
        raise InvalidInput(
            "Choose either fields, or a redaction profile that finds them.",
            code="nothing_chosen",
            field="fields",
        )
    if len(steps) > MOST_STEPS:
        raise InvalidInput(
            f"Choose at most {MOST_STEPS:,} steps, or none for every step.",
            code="invalid_field",
            field="steps",
        )
    rules = read_rules(profile["rules"] if profile is not None else {"fields": list(fields)})
    return Chosen(rules=rules, steps=frozenset(steps) or None, whole=whole)
