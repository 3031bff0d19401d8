"""Suggestions for the significance of a session's steps, and accepting or dismissing them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection

from timemachine.core.database import SqlParameters
from timemachine.core.payloads.stored import received, sent_sql
from timemachine.core.pure.content import value_of
from timemachine.core.pure.errors import InvalidInput, NotFound
from timemachine.core.pure.packing import packed_length
from timemachine.core.pure.postgres_text import original
from timemachine.memory.patterns.pure.step_texts import Step, failure_of
from timemachine.memory.transcripts.pure.proposal_rules import LONGEST_READ, RULES, Line, Proposal, proposals
from timemachine.recording.annotations.significance.commands import change, decline_proposal
from timemachine.recording.annotations.significance.models import (
    Declined,
    SignificanceChange,
    SignificanceOverride,
)
from timemachine.recording.annotations.significance.queries import JOINED, SIGNIFICANCE_SQL
from timemachine.recording.sessions.models import ErasedTurn, Session
from timemachine.recording.sessions.pure.turn_text import message_text
from timemachine.recording.sessions.queries import HAPPENED_HERE_SQL

MOST_READ: Final = 20_000
"""How many steps of a session are read, from the first on."""
MOST_BYTES: Final = 16 * 1024
AT_ONCE: Final = 2_000
NEAR: Final = 1_000
"""How many calls before a result are remembered, for its arguments."""

_OF_AGENT: Final = frozenset({"ask", "llm_call", "tool_call", "put", "find", "memory_op"})
_CALLS: Final = frozenset({"tool_call", "tool_result"})
_NEEDED: Final = (str(MOST_BYTES), str(packed_length(MOST_BYTES)))
_ROWS: Final = f"""
SELECT a.sequence, a.kind, a.layer, a.role, coalesce(a.tool, a.name), a.call_id, a.error_type, a.error_message,
       coalesce({SIGNIFICANCE_SQL}, 'normal') = 'normal' AND now.action_id IS NULL AND {HAPPENED_HERE_SQL},
       i.media_type, i.size, {sent_sql("i", *_NEEDED)}, o.media_type, o.size, {sent_sql("o", *_NEEDED)}
FROM tm_action a {JOINED}
LEFT JOIN tm_payload i ON i.id = a.input_id AND a.kind = ANY(%(asking)s)
LEFT JOIN tm_payload o ON o.id = a.output_id AND a.kind = ANY(%(saying)s)
WHERE a.session_id = %(session)s AND a.sequence > %(after)s ORDER BY a.sequence LIMIT %(limit)s
"""  # noqa: S608
_ASKING: Final = ["message", "tool_call", "tool_result"]
_SAYING: Final = ["message", "ask", "llm_call", "tool_call", "tool_result"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals:
    """The suggestions for a session, and how many of its steps were read, from the first on."""

    proposals: list[Proposal]
    read: int


def proposals_for(session: Session) -> Proposals:
    """Return suggestions for steps without a significance, except dismissed ones and copies. Reads at most `MOST_READ` steps."""
    lines, open_steps = list[Line](), set[int]()
    for line, is_open in _lines(session):
        lines.append(line)
        if is_open:
            open_steps.add(line.sequence)
    no = set(Declined.objects.filter(session=session).values_list("action__sequence", "rule"))
    open_steps -= set(ErasedTurn.objects.filter(session=session).values_list("sequence", flat=True))
    found = [each for each in proposals(lines, no) if each.sequence in open_steps]
    return Proposals(proposals=found, read=len(lines))


def accept(session: Session, sequence: int, rule: str, *, by: str) -> SignificanceOverride | None:
    """Give a step the suggested significance. Raises `NotFound` if it is not suggested (any more)."""
    found = _proposal(session, sequence, rule)
    return change(session, sequence, significance=found.significance, by=by, rule=rule)


def decline(session: Session, sequence: int, rule: str, *, by: str) -> None:
    """Dismiss a suggestion permanently. Raises `NotFound` if it is not suggested (any more)."""
    _proposal(session, sequence, rule)
    decline_proposal(session, sequence, rule, by=by)


def _proposal(session: Session, sequence: int, rule: str) -> Proposal:
    for each in proposals_for(session).proposals:
        if (each.sequence, each.rule) == (sequence, rule):
            return each
    raise NotFound(
        _earlier_answer(session, sequence, rule)
        or f"There is no suggestion for step {sequence} by the rule {rule[:40]!r}. See the list of suggestions.",
        code="proposal_not_found",
    )


def _earlier_answer(session: Session, sequence: int, rule: str) -> str:
    """Return the earlier answer to the suggestion as a sentence, or an empty text."""
    if rule not in RULES:
        return ""
    same_rule = {"session": session, "rule": rule}
    no = Declined.objects.filter(**same_rule, action__sequence=sequence).first()
    yes = SignificanceChange.objects.filter(**same_rule, sequence=sequence).order_by("-id").first()
    if no is None and yes is None:
        return ""
    answer, by = ("dismissed", no.by) if no else ("accepted", yes.by if yes else "")
    return f"This suggestion for step {sequence:,} has already been {answer} by {by}."


def _lines(session: Session) -> Iterator[tuple[Line, bool]]:
    """Return each step as the rules read it, and whether it may get a suggestion."""
    after = read = 0
    calls: dict[str, tuple[str | None, Any]] = {}
    while read < MOST_READ:
        facts: SqlParameters = {"session": session.id, "after": after, "limit": AT_ONCE}
        with connection.cursor() as cursor:
            cursor.execute(_ROWS, facts | {"asking": _ASKING, "saying": _SAYING})
            rows = cursor.fetchall()
        for row in rows:
            yield _line(row, calls), row[8]
        read += len(rows)
        if len(rows) < AT_ONCE:
            return
        after = rows[-1][0]


def _line(row: tuple[Any, ...], calls: dict[str, tuple[str | None, Any]]) -> Line:
    sequence, kind, layer, role, tool, call_id, *error = row[:8]
    given, output = _value(*row[9:12]), _value(*row[12:15])
    error_type, error_message = (None if each is None else original(each) for each in error)
    text = output if output is not None or kind != "message" else given
    step = Step(
        kind=kind,
        layer=layer,
        role=role,
        error_type=error_type,
        error_message=error_message,
        input=given,
        output=text,
    )
    outcome, given = _call(kind, original(tool) if tool else None, call_id, given, calls)
    return Line(
        sequence=sequence,
        kind=kind,
        of_agent=role == "agent" or (role is None and kind in _OF_AGENT),
        text=message_text(text)[:LONGEST_READ] if kind != "tool_result" else "",
        call=outcome,
        given=given,
        error=failure_of(step),
    )


def _call(
    kind: str, tool: str | None, call_id: str | None, given: Any, calls: dict[str, tuple[str | None, Any]]
) -> tuple[str | None, Any]:
    """Return the tool and the arguments of an outcome; a separate result has those of its call."""
    if kind not in _CALLS:
        return None, None
    if kind == "tool_call" and call_id is not None:
        if len(calls) >= NEAR:
            del calls[next(iter(calls))]
        calls[call_id] = (tool, given)
    if kind == "tool_result" and given is None and call_id in calls:
        named, given = calls[call_id]
        return named or tool, given
    return tool, given


def _value(media_type: str | None, size: int | None, data: Any) -> Any:
    """Return a payload's value, or the beginning of its text if it is long or not what its media type says."""
    if media_type is None:
        return None
    head = received(data, MOST_BYTES)
    if size is not None and size <= MOST_BYTES:
        try:
            return value_of(media_type, head)
        except (ValueError, InvalidInput):
            pass
    return head.decode("utf-8", "replace")
