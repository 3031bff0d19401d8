"""What a link withholds: its profile's rules, extended for visitors, and agents that name people. Pure."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from timemachine.text.redaction.pure.paths import Path
from timemachine.text.redaction.pure.rules import Rules, read_rules

_AGENTS = tuple(Path(of_session=of_session, field="agent") for of_session in (False, True))


def rules_of(redaction: Mapping[str, Any]) -> Rules:
    """Return the rules of a profile as it is stored with a link."""
    return for_visitors(read_rules(redaction["rules"]))


def for_visitors(rules: Rules) -> Rules:
    """Return the rules for visitors: if they withhold the agent of steps or of the session, they withhold
    both, since these are mostly the same.
    """
    if not any(path.field == "agent" for path in rules.paths):
        return rules
    return replace(rules, paths=(*rules.paths, *(each for each in _AGENTS if each not in rules.paths)))


_OF_THE_SERVER: Final = frozenset({"put", "find", "ask", "checkpoint"})
_MAKER: Final = re.compile(
    r"key .+|[^\s@]+@(?:localhost|\[[^\s@]+\]|[^\s@]+\.(?:[^\W\d_]{2,}|xn--[a-z\d-]+))", re.DOTALL
)


def is_maker(kind: str, agent: object) -> bool:
    """Return whether the agent of a step reads as a key (`key NAME`) or a person's e-mail address.

    Earlier versions stored who recorded a step as the agent of what the server does itself.
    """
    return kind in _OF_THE_SERVER and isinstance(agent, str) and _MAKER.fullmatch(agent) is not None
