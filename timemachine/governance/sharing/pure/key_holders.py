"""Which agents of recorded steps are who had the server record them, by key or by e-mail. Pure.

Earlier versions wrote that down as the agent of what the server does and records itself. A link names nobody in this way.
"""

import re
from typing import Final

_OF_THE_SERVER: Final = frozenset({"put", "find", "ask", "checkpoint"})
_MAKER: Final = re.compile(
    r"key .+|[^\s@]+@(?:localhost|\[[^\s@]+\]|[^\s@]+\.(?:[^\W\d_]{2,}|xn--[a-z\d-]+))", re.DOTALL
)


def is_maker(kind: str, agent: object) -> bool:
    """Whether the agent of a step of that kind reads as a key (`key NAME`) or a person's e-mail address."""
    return kind in _OF_THE_SERVER and isinstance(agent, str) and _MAKER.fullmatch(agent) is not None
