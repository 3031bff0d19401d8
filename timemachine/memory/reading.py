"""The turns of a session as rows, in plain SQL: to make these statements from models takes longer than they do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from typing import Any, Final
from uuid import UUID

from django.db import connection

from timemachine.base.clock import written
from timemachine.base.content import value_of
from timemachine.base.faithful import original
from timemachine.recording.told import Deleted, Turn
from timemachine.weight.effective import IMPORTANCE_SQL, JOINED, SIGNIFICANCE_SQL

PAGE: Final = 1_000
PAGE_BYTES: Final = 16 * 1024 * 1024
_WHOLE: Final = 2**31 - 1
_PARTS: Final = 3
"""What a turn was given, what it said, and its error."""

_PLAIN: Final = ("sequence", "kind", "role", "agent", "name", "tool", "model", "significance")
_OF: Final = "a.session_id = %(session)s AND a.sequence > %(after)s AND a.sequence <= %(through)s {chosen}"
_CHOSEN: Final = "AND a.sequence = ANY(%(chosen)s)"
_COUNTED: Final = """
SELECT count(*), count(*) FILTER (WHERE w.tokens IS NOT NULL OR e.sequence IS NOT NULL),
       coalesce(sum(w.tokens) FILTER (WHERE e.sequence IS NULL), 0)::bigint,
       coalesce(array_agg(a.sequence ORDER BY a.sequence) FILTER (WHERE e.sequence IS NOT NULL), '{}')
FROM tm_action a LEFT JOIN tm_searched_action w ON w.action_id = a.id
LEFT JOIN tm_erased_turn e ON e.session_id = a.session_id AND e.sequence = a.sequence
WHERE a.session_id = %(session)s AND a.sequence <= %(through)s
"""
_SIZES: Final = f"""
SELECT a.sequence, least(coalesce(i.size, 0), %(longest)s) + least(coalesce(o.size, 0), %(longest)s)
FROM tm_action a LEFT JOIN tm_payload i ON i.id = a.input_id LEFT JOIN tm_payload o ON o.id = a.output_id
WHERE {_OF} ORDER BY a.sequence LIMIT {PAGE}
"""  # noqa: S608
_READ: Final = f"""
SELECT a.sequence, a.kind, a.role, a.agent, a.name, a.tool, a.model, {SIGNIFICANCE_SQL},
       {IMPORTANCE_SQL}, a.tags, a.started_at, a.duration_ms,
       a.error_type, left(a.error_message, %(longest)s), length(a.error_message),
       i.media_type, substring(i.data FOR %(longest)s), i.size, o.media_type, substring(o.data FOR %(longest)s), o.size,
       e.erased_at, e.erased_by, e.reason
"""
_BESIDE: Final = f"""
LEFT JOIN tm_payload i ON i.id = a.input_id LEFT JOIN tm_payload o ON o.id = a.output_id
LEFT JOIN tm_erased_turn e ON e.session_id = a.session_id AND e.sequence = a.sequence
{JOINED}
"""
_ROWS: Final = f"{_READ} FROM tm_action a {_BESIDE} WHERE {_OF} ORDER BY a.sequence"
_ANYWHERE: Final = f"""
{_READ}, a.session_id FROM unnest(%(sessions)s::uuid[], %(sequences)s::bigint[]) AS place(session, sequence)
JOIN tm_action a ON a.session_id = place.session AND a.sequence = place.sequence {_BESIDE}
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A turn: what is told of it, and as a document, in which `deleted` stands where it was. `cut`: it has only the beginning of what was given, said, or went wrong."""

    turn: Turn
    document: dict[str, Any]
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How many turns there are, of how many the tokens are known, how many tokens those are, and which turns were deleted, which have none."""

    turns: int
    known: int
    tokens: int
    deleted: Sequence[int]


def counted(session: UUID, through: int) -> Counted:
    """What a session has up to that step."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNTED, {"session": session, "through": through})
        turns, known, tokens, deleted = cursor.fetchone()
        return Counted(turns=turns, known=known, tokens=tokens, deleted=deleted)


def rows(session: UUID, after: int, through: int, chosen: Sequence[int] | None = None) -> Iterator[Row]:
    """The turns behind the step `after` up to `through`, in order, of those that are `chosen`: so many at once as memory has room for."""
    if chosen is None:
        yield from _pages({"session": session, "through": through, "longest": _WHOLE}, after, "")
        return
    yield from heads(session, chosen, _WHOLE)


def heads(session: UUID, chosen: Sequence[int], longest: int) -> Iterator[Row]:
    """The turns that are chosen, in order, with at most so many bytes of what each was given and said, and characters of its error.

    What is cut is a text, though it was none.
    """
    for some in batched(chosen, PAGE):
        facts = {"session": session, "through": some[-1], "chosen": list(some), "longest": longest}
        yield from _pages(facts, some[0] - 1, _CHOSEN)


def heads_of(places: Sequence[tuple[UUID, int]], longest: int) -> dict[tuple[UUID, int], Row]:
    """The turns at these places (session and sequence), with no more of each than `heads` has: so many in one query as memory has room for."""
    found = {}
    for some in batched(places, max(1, PAGE_BYTES // (_PARTS * longest))):
        sessions, sequences = zip(*some, strict=True)
        facts = {"sessions": list(sessions), "sequences": list(sequences), "longest": longest}
        for *row, session in _fetched(_ANYWHERE, facts):
            read = _row(tuple(row), longest)
            found[session, read.turn.sequence] = read
    return found


def _pages(facts: dict[str, Any], after: int, condition: str) -> Iterator[Row]:
    while sizes := _fetched(_SIZES.format(chosen=condition), facts | {"after": after}):
        last = _last_that_fits(sizes)
        for row in _fetched(_ROWS.format(chosen=condition), facts | {"after": after, "through": last}):
            yield _row(row, facts["longest"])
        if last == facts["through"]:
            return
        after = last


def _fetched(sql: str, facts: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, facts)
        found: list[tuple[Any, ...]] = cursor.fetchall()
        return found


def _last_that_fits(sizes: Sequence[tuple[Any, ...]]) -> int:
    """The last of those whose payloads fit into `PAGE_BYTES` together, and always the first."""
    last, total = int(sizes[0][0]), 0
    for sequence, size in sizes:
        total += size
        if total > PAGE_BYTES:
            break
        last = sequence
    return last


def _row(row: tuple[Any, ...], longest: int) -> Row:
    sequence, kind, role, *names, significance, weighed, tags, started_at, took, error, message = row[:14]
    sizes = (row[14], row[17], row[20])
    agent, name, tool, model, *failed = map(_text, (*names, error, message))
    turn = Turn(
        sequence=sequence,
        kind=kind,
        role=role,
        agent=agent,
        name=name,
        tool=tool,
        model=model,
        significance=significance,
        input=_value(longest, *row[15:18]),
        output=_value(longest, *row[18:21]),
        error=(failed[0], failed[1]),
        deleted=_deleted(*row[21:]),
    )
    times = {"started_at": written(started_at), "duration_ms": took}
    weight = {"importance": weighed, "tags": [original(tag) for tag in tags]}
    cut = any(size is not None and size > longest for size in sizes)
    return Row(turn, _document(turn, weight | times), cut)


def _document(turn: Turn, more: dict[str, Any]) -> dict[str, Any]:
    said = {"input": turn.input, "output": turn.output}
    kind, message = turn.error
    failed = None if turn.error == (None, None) else {"type": kind, "message": message}
    gone = {} if turn.deleted is None else {"deleted": turn.deleted.as_json()}
    return {name: getattr(turn, name) for name in _PLAIN} | more | said | {"error": failed} | gone


def _deleted(at: datetime | None, by: str, reason: str) -> Deleted | None:
    return None if at is None else Deleted(at=at, by=by, reason=original(reason))


def _text(stored: str | None) -> str | None:
    return None if stored is None else original(stored)


def _value(longest: int, media_type: str | None, data: Any, size: int) -> Any:
    if media_type is None:
        return None
    return value_of(media_type, bytes(data)) if size <= longest else bytes(data).decode("utf-8", "ignore")
