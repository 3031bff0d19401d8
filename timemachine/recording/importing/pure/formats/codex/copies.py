"""Which lines of a Codex rollout are copies of an earlier session, and which session that is.

A fork, and a sub-agent that is started with the conversation so far, is a new rollout. Its first line is its own
`session_meta`. Then Codex writes the history of the parent, beginning with the parent's `session_meta`, in one go
and with the time of writing on each line. Nothing marks the last of these lines, so it is found by what is known
of the lines before and after it:

- `subagent_history_start_ordinal` of the first line is the `ordinal` of the first own line (0.14x and later);
- with `history_base` (0.154 and later) the history is in the parent's file only, and no line is copied;
- a `session_meta` with another id, and whatever is dated before the session, is copied;
- a turn is own if it began after the session did. Its id is a UUID of version 7, which contains the time;
  `task_started` has it as `started_at`, in seconds;
- between the last line known to be copied and the first known to be own, the copies end at the first pause.

Sources: `InitialHistory::Forked` in codex-rs, and the measurements of 333 forked rollouts in pingdotgg/t3code#5887.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.values import count_at, moment, number, record_at, short_text_at

PAUSE: Final = timedelta(milliseconds=200)
"""Codex needs at most some 40 ms from one copied line to the next, and a model longer than this for its first words."""
_SECOND: Final = timedelta(seconds=1)
_EARLIEST: Final = datetime(2025, 4, 1, tzinfo=UTC)
"""Codex was first released in this month; an id with an earlier time was not made from a clock."""
_TURN_EVENTS: Final = frozenset({"task_started", "turn_started"})
_Known = Literal["copied", "own"]


def parent_of(lines: Sequence[Line]) -> str | None:
    """Return the session that a rollout was forked from, or that started it as a sub-agent; None if it is neither.

    The first `session_meta` names it; before it did so, the second one was the parent's.
    """
    metas = [line.record["payload"] for line in lines if line.record["type"] == "session_meta"]
    meta = metas[0] if metas else {}
    spawn = record_at(record_at(meta, "source"), "subagent", "thread_spawn")
    other = next(
        (name for each in metas if (name := short_text_at(each, "id")) != short_text_at(meta, "id")), None
    )
    return (
        short_text_at(meta, "forked_from_id", "parent_thread_id")
        or short_text_at(spawn, "parent_thread_id")
        or other
    )


def copied_lines(lines: Sequence[Line]) -> tuple[int, int]:
    """Return where the copied lines begin and end: indexes of the lines, the last one exclusive. Equal if there are none."""
    own = next((at for at, line in enumerate(lines) if line.record["type"] == "session_meta"), None)
    if own is None:
        return 0, 0
    begin, meta = own + 1, lines[own].record["payload"]
    first_ordinal = _first_ordinal(meta)
    if first_ordinal is not None and any("ordinal" in line.record for line in lines[begin:]):
        return begin, begin + _before(first_ordinal, lines[begin:])
    if record_at(meta, "history_base"):
        return begin, begin
    has_other_meta = any(_is_of_another(line.record, meta) for line in lines[begin:])
    if not has_other_meta and short_text_at(meta, "forked_from_id") is None:
        return begin, begin
    return begin, _end(lines, begin, _known(lines, own))


def _first_ordinal(meta: JsonObject) -> int | None:
    """Return the ordinal of the first own line; some versions write it as a text."""
    written = meta.get("subagent_history_start_ordinal")
    if isinstance(written, str) and written.isdecimal():
        return int(written[:9])
    return count_at(meta, "subagent_history_start_ordinal")


def _is_of_another(record: JsonObject, meta: JsonObject) -> bool:
    return bool(record["type"] == "session_meta" and record["payload"].get("id") != meta.get("id"))


def _before(first_ordinal: int, lines: Sequence[Line]) -> int:
    """Return how many lines precede the line with that ordinal."""
    numbers = (count_at(line.record, "ordinal") for line in lines)
    return next(
        (at for at, ordinal in enumerate(numbers) if ordinal is not None and ordinal >= first_ordinal),
        len(lines),
    )


def _known(lines: Sequence[Line], own: int) -> dict[int, _Known]:
    """Return, by index, the lines after the session's own first line of which it is certain whose they are."""
    meta = lines[own].record["payload"]
    began = moment(meta.get("timestamp")) or moment(lines[own].record.get("timestamp"))
    found: dict[int, _Known] = {}
    for at, line in enumerate(lines[own + 1 :], own + 1):
        if (known := _whose(line.record, meta, began)) is not None:
            found[at] = known
    return found


def _whose(record: JsonObject, meta: JsonObject, began: datetime | None) -> _Known | None:
    payload = record["payload"]
    if record["type"] == "session_meta":
        return "copied" if _is_of_another(record, meta) else "own"
    written = moment(record.get("timestamp"))
    if began is None or written is None:
        return None
    if written < began:
        return "copied"
    is_turn = record["type"] == "turn_context" or payload.get("type") in _TURN_EVENTS
    return _turn(payload, began, written) if is_turn else None


def _turn(payload: JsonObject, began: datetime, written: datetime) -> _Known | None:
    """Return whose turn begins, by the time in its id or else its `started_at`."""
    at = _time_in(short_text_at(payload, "turn_id"))
    if at is not None and _EARLIEST <= at <= written + _SECOND:
        return "copied" if at < began else "own"
    seconds = number(payload.get("started_at"))
    second = began.replace(microsecond=0).timestamp()
    if seconds is None or seconds == second or seconds > written.timestamp() + 1:
        return None
    return "copied" if seconds < second else "own"


def _time_in(turn_id: str | None) -> datetime | None:
    """Return the time in a UUID of version 7 (RFC 9562, section 5.7): its first 48 bits are milliseconds since 1970."""
    made = uuid_of(turn_id or "")
    if made is None or made.version != 7:  # noqa: PLR2004
        return None
    try:
        return datetime.fromtimestamp((made.int >> 80) / 1000, UTC)
    except ValueError:  # later than the year 9999
        return None


def _end(lines: Sequence[Line], begin: int, known: dict[int, _Known]) -> int:
    """Return the index of the first own line: after the last line known to be copied, and at the first pause."""
    own = min((at for at, whose in known.items() if whose == "own"), default=len(lines))
    last_copied = max(
        (at for at, whose in known.items() if whose == "copied" and at < own), default=begin - 1
    )
    before = moment(lines[last_copied].record.get("timestamp"))
    for at in range(last_copied + 1, own):
        written = moment(lines[at].record.get("timestamp"))
        if before is not None and written is not None and written - before > PAUSE:
            return at
        before = written or before
    return own
