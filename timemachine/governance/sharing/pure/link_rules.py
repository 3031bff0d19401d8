"""By which rules a link withholds: those of its profile, and what they would not withhold without. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from timemachine.text.redaction.pure.paths import Path
from timemachine.text.redaction.pure.rules import Rules, read_rules

_AGENTS = tuple(Path(of_session=of_session, field="agent") for of_session in (False, True))


def rules_of(redaction: Mapping[str, Any]) -> Rules:
    """The rules of a profile as it is kept with a link."""
    return for_visitors(read_rules(redaction["rules"]))


def for_visitors(rules: Rules) -> Rules:
    """The rules for whoever reads a session with its head: where they withhold the agent of steps or of the session, both, for they are mostly one."""
    if not any(path.field == "agent" for path in rules.paths):
        return rules
    return replace(rules, paths=(*rules.paths, *(each for each in _AGENTS if each not in rules.paths)))
