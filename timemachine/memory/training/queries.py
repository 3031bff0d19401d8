"""Read training pairs from the sessions of a project, with a report of what was left out and why."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from django.db.models import F, QuerySet, Sum
from django.db.models.functions import Coalesce

from timemachine.core.accounts.models import Project
from timemachine.memory.search.sessions import SessionQuery, sessions_matching
from timemachine.memory.training.pure.options import SESSIONS, ExportOptions
from timemachine.memory.training.pure.pairs import (
    CONFIRMED,
    Pair,
    Skipped,
    chats_of,
    preferences_of,
)
from timemachine.memory.transcripts.turn_rows import Row, rows
from timemachine.recording.annotations.significance.queries import SIGNIFICANCE
from timemachine.recording.sessions.models import Action, ErasedTurn, Session
from timemachine.recording.sessions.pure.turn_text import Turn
from timemachine.recording.sessions.queries import HAPPENED_HERE, OLDEST_FIRST
from timemachine.text.redaction.pure.profile import Profile
from timemachine.text.redaction.pure.projection import redact_action
from timemachine.text.redaction.pure.values import Tally
from timemachine.text.redaction.queries import profile_of

SHOWN: Final = 200
"""How many of the left out sessions and steps are listed; all are counted."""
MOST_SESSIONS: Final = 500
MOST_TURNS: Final = 5_000
MOST_BYTES: Final = 16 * 1024 * 1024
"""How much is read for a report: sessions, turns, and bytes of text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPair:
    """A pair, its session, and the part of the data that the session belongs to."""

    session: Session
    part: str
    pair: Pair

    def line(self, form: str) -> dict[str, Any]:
        """Return the line of the exported file."""
        return self.pair.as_chat() if form == "chat" else self.pair.as_preference()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotExported:
    """A session, or the step of a solution in it, that was left out, and why."""

    session: Session
    step: int | None
    reason: str


@dataclass(slots=True, kw_only=True)
class Report:
    """The result of an export: pairs by part and by rule, sessions by part, what was withheld, and what was left
    out and why.

    `unread` sessions with a solution were not read, because it would have taken too long.
    """

    options: ExportOptions
    profile: Profile
    found: QuerySet[Session]
    sessions: int = 0
    unread: int = 0
    pairs: Counter[str] = field(default_factory=Counter)
    of_sessions: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    first: list[NotExported] = field(default_factory=list)
    deleted_turns: int = 0
    tally: Tally = field(default_factory=Counter)


def empty_report(project: Project, options: ExportOptions) -> Report:
    """Return an empty report. Raises `NotFound` for an unknown profile, `InvalidInput` for a retired one or an
    invalid time.
    """
    filters = {name: getattr(options, name) for name in SESSIONS}
    found = sessions_matching(project, SessionQuery(**filters))
    return Report(options=options, profile=profile_of(project, options.redaction), found=found)


def confirmed_solutions(sessions: QuerySet[Session]) -> QuerySet[Action]:
    """Return the turns that are marked as solutions by the recorder or a person, according to the significance in
    force. Copied turns are solutions of the session in which they happened.
    """
    found = Action.objects.filter(HAPPENED_HERE, session__in=sessions).annotate(in_force=SIGNIFICANCE)
    return found.filter(in_force__in=CONFIRMED)


def pairs_of_sessions(project: Project, report: Report, *, whole: bool = True) -> Iterator[SessionPair]:
    """Yield the pairs of the project's sessions, oldest session first, and add the results to the report.

    Pairs of all parts are counted, those of the requested part are yielded. Sessions are read completely.
    Unless `whole`, reading stops at the limits for a report, and the remaining sessions are only counted.
    """
    options = report.options
    report.sessions = report.found.count()
    solved = set(confirmed_solutions(report.found.order_by()).values_list("session", flat=True).distinct())
    report.left_out["no_solution"] += report.sessions - len(solved)
    found = Session.objects.filter(project=project, id__in=solved).order_by(*OLDEST_FIRST)
    for session in found.iterator(chunk_size=100) if whole else _fitting(found, report):
        part = options.split.part_of(session.id)
        pairs = list(_of_session(session, report))
        report.pairs[part] += len(pairs)
        report.of_sessions[part] += bool(pairs)
        if options.part in ("", part):
            yield from (SessionPair(session=session, part=part, pair=pair) for pair in pairs)


def _fitting(sessions: QuerySet[Session], report: Report) -> Iterator[Session]:
    """Yield the sessions within the limits of a report, and count the others."""
    turns, size = MOST_TURNS, MOST_BYTES
    report.unread = max(0, sessions.count() - MOST_SESSIONS)
    for session in sessions[:MOST_SESSIONS]:
        bytes_of = _bytes_of(session) if session.last_sequence <= turns else 0
        if session.last_sequence > turns or bytes_of > size:
            report.unread += 1
            continue
        turns, size = turns - session.last_sequence, size - bytes_of
        yield session


def _bytes_of(session: Session) -> int:
    size = Coalesce(F("input__size"), 0) + Coalesce(F("output__size"), 0)
    found: int = session.actions.aggregate(bytes=Sum(size, default=0))["bytes"]
    return found


def _of_session(session: Session, report: Report) -> Iterator[Pair]:
    if session.status == Session.RECORDING:
        _leave_out(report, session, Skipped(solution=None, reason="recording"))
        return
    deleted = set(ErasedTurn.objects.filter(session=session).values_list("sequence", flat=True))
    report.deleted_turns += len(deleted)
    turns = [_redacted(row, report) for row in rows(session.id, 0, session.last_sequence)]
    read = chats_of if report.options.form == "chat" else preferences_of
    copied = set(session.actions.exclude(HAPPENED_HERE).values_list("sequence", flat=True))
    for found in read(turns, report.options.what, deleted):  # type: ignore[arg-type]  # one of `WHATS`
        if found.solution in copied:
            continue
        if isinstance(found, Skipped):
            _leave_out(report, session, found)
            continue
        if found.rule is not None:
            report.rules[found.rule] += 1
        yield found


def _leave_out(report: Report, session: Session, why: Skipped) -> None:
    report.left_out[why.reason] += 1
    if len(report.first) < SHOWN:
        report.first.append(NotExported(session=session, step=why.solution, reason=why.reason))


_OF_TURN: Final = (
    "kind",
    "role",
    "agent",
    "name",
    "tool",
    "model",
    "significance",
    "input",
    "output",
    "error",
)


def _redacted(row: Row, report: Report) -> Turn:
    """Return the turn redacted by the profile."""
    turn = row.turn
    kind, message = turn.error
    error = None if turn.error == (None, None) else {"type": kind, "message": message}
    before = {name: getattr(turn, name) for name in _OF_TURN} | {"error": error}
    found = redact_action(before, report.profile.rules)
    if not found.touched:
        return turn
    report.tally.update(found.tally)
    after = found.document
    texts = {name: after[name] for name in ("agent", "name", "tool", "model", "input", "output")}
    return turn._replace(**texts, error=_error(after["error"]))


def _error(recorded: Any) -> tuple[str | None, str | None]:
    if recorded is None:
        return None, None
    return (
        (recorded["type"], recorded["message"])
        if "message" in recorded
        else (None, str(recorded["withheld"]))
    )
