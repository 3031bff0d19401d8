"""Read the turns of a session with prepared SQL. Building these statements with the ORM takes longer than running
them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import batched
from typing import Any, Final, NamedTuple
from uuid import UUID

from timemachine.core import prepared_statements
from timemachine.core.database import SqlParameters
from timemachine.core.payloads.stored import columns_sql, received
from timemachine.core.pure.clock import written
from timemachine.core.pure.content import value_of
from timemachine.core.pure.packing import packed_length
from timemachine.core.pure.postgres_text import original
from timemachine.recording.annotations.significance.queries import IMPORTANCE_SQL, JOINED, SIGNIFICANCE_SQL
from timemachine.recording.sessions.pure.turn_text import Deleted, Turn

PAGE: Final = 1_000
PAGE_BYTES: Final = 16 * 1024 * 1024
_WHOLE: Final = 2**31 - 1
_PARTS: Final = 3
"""The parts of a turn: input, output and error."""

_OF: Final = "a.session_id = %(session)s AND a.sequence > %(after)s AND a.sequence <= %(through)s"
_CHOSEN: Final = f"{_OF} AND a.sequence = ANY(%(chosen)s::bigint[])"
_COUNTED: Final = """
WITH deleted AS (
    SELECT sequence FROM tm_erased_turn WHERE session_id = %(session)s AND sequence <= %(through)s
), counted AS (
    SELECT count(*) AS turns, coalesce(sum(w.tokens), 0)::bigint AS tokens FROM tm_searched_action w
    WHERE w.session_id = %(session)s AND w.sequence <= %(through)s AND w.tokens IS NOT NULL
    AND NOT EXISTS (SELECT FROM deleted WHERE deleted.sequence = w.sequence)
)
SELECT (SELECT count(*) FROM tm_action WHERE session_id = %(session)s AND sequence <= %(through)s),
       counted.turns + (SELECT count(*) FROM deleted), counted.tokens, ARRAY(SELECT sequence FROM deleted ORDER BY sequence)
FROM counted
"""
_OWN: Final = """
       a.id, a.session_id, a.sequence, a.kind, a.role, a.agent, a.name, a.tool, a.model, a.significance, a.importance, a.tags, a.started_at,
       a.duration_ms, a.error_type, a.error_message, a.copied_from IS NOT NULL AS copied,
       i.media_type AS given_as, i.data AS given, i.size AS given_size, i.packed AS given_packed,
       o.media_type AS said_as, o.data AS said, o.size AS said_size, o.packed AS said_packed
"""
_PAYLOADS: Final = "LEFT JOIN tm_payload i ON i.id = a.input_id LEFT JOIN tm_payload o ON o.id = a.output_id"
_NEEDED: Final = ("%(longest)s::int", "%(packed)s::int")
_GIVEN: Final = columns_sql("a.given_packed", "a.given_size", "a.given", *_NEEDED)
_SAID: Final = columns_sql("a.said_packed", "a.said_size", "a.said", *_NEEDED)
_SIZE: Final = "least(coalesce(i.size, 0), %(longest)s::int) + least(coalesce(o.size, 0), %(longest)s::int)"
_COLUMNS_AND_JOINS: Final = f"""
SELECT a.sequence, a.kind, a.role, a.agent, a.name, a.tool, a.model, {SIGNIFICANCE_SQL},
       {IMPORTANCE_SQL}, a.tags, a.started_at, a.duration_ms,
       a.error_type, left(a.error_message, %(longest)s::int), length(a.error_message),
       a.given_as, {_GIVEN}, a.given_size, a.said_as, {_SAID}, a.said_size,
       a.copied, e.erased_at, e.erased_by, e.reason, a.session_id
FROM a LEFT JOIN tm_erased_turn e ON e.session_id = a.session_id AND e.sequence = a.sequence {JOINED}
"""  # noqa: S608
_PAGE_OF: Final = f"""
WITH page AS (
    SELECT {_OWN}, {_SIZE} AS own, sum({_SIZE}) OVER (ORDER BY a.sequence ROWS UNBOUNDED PRECEDING) AS so_far
    FROM tm_action a {_PAYLOADS} WHERE {{condition}} ORDER BY a.sequence LIMIT {PAGE}
), a AS (SELECT * FROM page WHERE so_far <= {PAGE_BYTES} OR so_far = own)
{_COLUMNS_AND_JOINS} ORDER BY a.sequence
"""  # noqa: S608
_PAGE: Final = _PAGE_OF.format(condition=_OF)
_CHOSEN_PAGE: Final = _PAGE_OF.format(condition=_CHOSEN)
_ANYWHERE: Final = f"""
WITH a AS (
    SELECT {_OWN} FROM unnest(%(sessions)s::uuid[], %(sequences)s::bigint[]) AS place(session, sequence)
    JOIN tm_action a ON a.session_id = place.session AND a.sequence = place.sequence {_PAYLOADS}
)
{_COLUMNS_AND_JOINS}
"""  # noqa: S608


class Row(NamedTuple):
    """A turn with its importance, tags and times. `cut`: only the beginnings of its input, output and error were
    read.
    """

    turn: Turn
    importance: float | None
    tags: list[str]
    started_at: datetime | None
    duration_ms: int | None
    cut: bool

    @property
    def document(self) -> dict[str, Any]:
        """Return the JSON object of the turn; `deleted` marks a deleted one."""
        turn = self.turn
        kind, message = turn.error
        fields = {
            "sequence": turn.sequence,
            "kind": turn.kind,
            "role": turn.role,
            "agent": turn.agent,
            "name": turn.name,
            "tool": turn.tool,
            "model": turn.model,
            "significance": turn.significance,
            "importance": self.importance,
            "copied": turn.copied,
            "tags": self.tags,
            "started_at": written(self.started_at),
            "duration_ms": self.duration_ms,
            "input": turn.input,
            "output": turn.output,
            "error": None if turn.error == (None, None) else {"type": kind, "message": message},
        }
        return fields if turn.deleted is None else fields | {"deleted": turn.deleted.as_json()}


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCounts:
    """The number of turns, how many have token counts and their sum, and the sequences of deleted turns, which
    have none.
    """

    turns: int
    known: int
    tokens: int
    deleted: Sequence[int]


def turn_counts(session: UUID, through: int) -> TurnCounts:
    """Return the counts of a session up to that step, from one snapshot."""
    turns, known, tokens, deleted = prepared_statements.fetch_rows(
        _COUNTED, {"session": session, "through": through}
    )[0]
    return TurnCounts(turns=turns, known=known, tokens=tokens, deleted=deleted)


def rows(session: UUID, after: int, through: int, chosen: Sequence[int] | None = None) -> Iterator[Row]:
    """Yield the turns after `after` up to `through`, in order, optionally only the `chosen` ones; reads as many as fit into memory in
    one query.
    """
    if chosen is None:
        yield from _pages(_PAGE, {"session": session, "through": through, "longest": _WHOLE}, after)
        return
    yield from heads(session, chosen, _WHOLE)


def heads(session: UUID, chosen: Sequence[int], longest: int) -> Iterator[Row]:
    """Yield the chosen turns, in order, with at most `longest` bytes of input and output, and characters of error.

    A value that is cut becomes text.
    """
    for some in batched(chosen, PAGE):
        facts = {"session": session, "through": some[-1], "chosen": list(some), "longest": longest}
        yield from _pages(_CHOSEN_PAGE, facts, some[0] - 1)


def heads_of(places: Sequence[tuple[UUID, int]], longest: int) -> dict[tuple[UUID, int], Row]:
    """Return the turns at these places (session and sequence), cut like those of `heads`; reads as many per query
    as fit into memory.
    """
    found = {}
    for some in batched(places, max(1, PAGE_BYTES // (_PARTS * longest))):
        sessions, sequences = zip(*some, strict=True)
        facts = {"sessions": list(sessions), "sequences": list(sequences), "longest": longest}
        for row in _fetched(_ANYWHERE, facts):
            read = _row(row, longest)
            found[row[-1], read.turn.sequence] = read
    return found


def _pages(sql: str, facts: SqlParameters, after: int) -> Iterator[Row]:
    """Yield the rows page by page, each with as many turns as fit into `PAGE_BYTES`, the first with at least one."""
    last, longest = after, facts["longest"]
    while last < facts["through"] and (page := _fetched(sql, facts | {"after": last})):
        for row in page:
            yield _row(row, longest)
        last = page[-1][0]


def _fetched(sql: str, facts: SqlParameters) -> list[tuple[Any, ...]]:
    packed = packed_length(facts["longest"])
    return prepared_statements.send(sql, facts | {"packed": packed}, binary=True).rows()


def _row(row: tuple[Any, ...], longest: int) -> Row:
    (
        sequence,
        kind,
        role,
        agent,
        name,
        tool,
        model,
        significance,
        importance,
        tags,
        started_at,
        took,
        *rest,
    ) = row
    (
        error,
        message,
        long,
        given_as,
        given,
        given_size,
        said_as,
        output,
        said_size,
        copied,
        at,
        by,
        reason,
        _,
    ) = rest
    turn = Turn(
        sequence=sequence,
        kind=kind,
        role=role,
        agent=agent and original(agent),
        name=name and original(name),
        tool=tool and original(tool),
        model=model and original(model),
        significance=significance,
        input=None if given_as is None else _value(longest, given_as, given, given_size),
        output=None if said_as is None else _value(longest, said_as, output, said_size),
        error=(error and original(error), message and original(message)),
        copied=copied,
        deleted=None if at is None else Deleted(at=at, by=by, reason=original(reason)),
    )
    cut = max(long or 0, given_size or 0, said_size or 0) > longest
    return Row(turn, importance, [original(tag) for tag in tags], started_at, took, cut)


def _value(longest: int, media_type: str, data: bytes, size: int) -> Any:
    head = received(data, longest)
    return value_of(media_type, head) if size <= longest else head.decode("utf-8", "ignore")
