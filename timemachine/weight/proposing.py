"""What is proposed for the steps of a session, and the yes or no that somebody says to it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection

from timemachine.base.content import value_of
from timemachine.base.errors import NotFound
from timemachine.base.faithful import original
from timemachine.recording.models import Session
from timemachine.recording.queries import action_of
from timemachine.recording.told import said_in
from timemachine.weight.commands import change
from timemachine.weight.effective import JOINED, SIGNIFICANCE_SQL
from timemachine.weight.models import Declined, Weight
from timemachine.weight.rules import LONGEST_READ, Line, Proposal, proposals

MOST_READ: Final = 20_000
"""So many steps of a session are read, its first ones."""
MOST_BYTES: Final = 16 * 1024
AT_ONCE: Final = 2_000

_FAILED_RESULT: Final = re.compile(r"\s*(?:error\b|traceback \(most recent call last\))", re.IGNORECASE)
_OF_AGENT: Final = frozenset({"ask", "llm_call", "tool_call", "put", "find", "memory_op"})
_WORDS: Final = frozenset({"message", "ask", "llm_call", "tool_result"})
_ROWS: Final = f"""
SELECT a.sequence, a.kind, a.role, coalesce(a.tool, a.name), a.error_type, a.error_message,
       coalesce({SIGNIFICANCE_SQL}, 'normal') = 'normal', now.action_id IS NOT NULL,
       p.media_type, p.size, substring(p.data, 1, {MOST_BYTES})
FROM tm_action a {JOINED}
LEFT JOIN tm_payload p ON p.id = coalesce(a.output_id, CASE WHEN a.kind = 'message' THEN a.input_id END)
     AND a.kind = ANY(%(words)s)
WHERE a.session_id = %(session)s AND a.sequence > %(after)s ORDER BY a.sequence LIMIT %(limit)s
"""  # noqa: S608


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """What is proposed for a session, and how many of its steps were read for that, from the first on."""

    proposals: list[Proposal]
    read: int


def proposed(session: Session) -> Proposed:
    """What the rules propose for steps whose significance nobody said, without what somebody declined. Reads `MOST_READ` steps at most."""
    lines, open_steps = list[Line](), set[int]()
    for line, is_open in _lines(session):
        lines.append(line)
        if is_open:
            open_steps.add(line.sequence)
    no = set(Declined.objects.filter(session=session).values_list("action__sequence", "rule"))
    found = [
        each
        for each in proposals(lines)
        if each.sequence in open_steps and (each.sequence, each.rule) not in no
    ]
    return Proposed(proposals=found, read=len(lines))


def accept(session: Session, sequence: int, rule: str, *, by: str) -> Weight | None:
    """Say of a step what is proposed for it. Raises `NotFound` where that is not proposed (any more)."""
    found = _proposal(session, sequence, rule)
    return change(session, sequence, significance=found.significance, by=by, rule=rule)


def decline(session: Session, sequence: int, rule: str, *, by: str) -> None:
    """Say no to a proposal, which is not made again. Raises `NotFound` where it is not made (any more)."""
    _proposal(session, sequence, rule)
    Declined.objects.get_or_create(
        action=action_of(session, sequence), rule=rule, defaults={"session": session, "by": by[:254]}
    )


def _proposal(session: Session, sequence: int, rule: str) -> Proposal:
    for each in proposed(session).proposals:
        if (each.sequence, each.rule) == (sequence, rule):
            return each
    raise NotFound(
        f"Nothing is proposed for step {sequence} by the rule {rule[:40]!r}; the list of proposals shows what is.",
        code="proposal_not_found",
    )


def _lines(session: Session) -> Iterator[tuple[Line, bool]]:
    """Each step as the rules read it, and whether something may be proposed for it."""
    after = read = 0
    while read < MOST_READ:
        with connection.cursor() as cursor:
            facts: dict[str, Any] = {
                "session": session.id,
                "after": after,
                "words": list(_WORDS),
                "limit": AT_ONCE,
            }
            cursor.execute(_ROWS, facts)
            rows = cursor.fetchall()
        for row in rows:
            yield _line(row), row[6] and not row[7]
        read += len(rows)
        if len(rows) < AT_ONCE:
            return
        after = rows[-1][0]


def _line(row: tuple[Any, ...]) -> Line:
    sequence, kind, role, call, error_type, error_message = row[:6]
    text = _text(*row[8:])
    error = ": ".join(original(each) for each in (error_type, error_message) if each is not None) or None
    if kind == "tool_result" and error is None and _FAILED_RESULT.match(text):
        error = text[:LONGEST_READ]
    return Line(
        sequence=sequence,
        kind=kind,
        of_agent=role == "agent" or (role is None and kind in _OF_AGENT),
        text=text,
        call=original(call) if call is not None and kind in {"tool_call", "tool_result"} else None,
        error=error,
    )


def _text(media_type: str | None, size: int | None, data: Any) -> str:
    if media_type is None:
        return ""
    if size is not None and size <= MOST_BYTES:
        return said_in(value_of(media_type, bytes(data)))[:LONGEST_READ]
    return bytes(data).decode("utf-8", "replace")[:LONGEST_READ]
