"""Training pairs read from the sessions of a project, with a report of what was left out and why."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from django.db.models import F, QuerySet, Sum
from django.db.models.functions import Coalesce

from timemachine.core.accounts.models import Project
from timemachine.memory.search.sessions import Wanted as SessionsWanted
from timemachine.memory.search.sessions import sessions_matching
from timemachine.memory.training.pure.options import SESSIONS, Wanted
from timemachine.memory.training.pure.pairs import (
    CONFIRMED,
    LeftOut,
    Pair,
    chats_of,
    preferences_of,
)
from timemachine.memory.transcripts.turn_rows import Row, rows
from timemachine.recording.annotations.significance.effective import SIGNIFICANCE
from timemachine.recording.sessions.models import Action, ErasedTurn, Session
from timemachine.recording.sessions.pure.turn_text import Turn
from timemachine.text.redaction.pure.profile import Profile
from timemachine.text.redaction.pure.projection import redact_action
from timemachine.text.redaction.pure.values import Tally
from timemachine.text.redaction.queries import profile_of

SHOWN: Final = 200
"""So many of what was left out are told one by one; all are counted."""
MOST_SESSIONS: Final = 500
MOST_TURNS: Final = 5_000
MOST_BYTES: Final = 16 * 1024 * 1024
"""So much is read while somebody waits for a report: sessions, turns of them, and bytes that these say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """A pair of a session, and the part of the data that its session belongs to."""

    session: Session
    part: str
    pair: Pair

    def line(self, form: str) -> dict[str, Any]:
        """As a line of the file."""
        return self.pair.as_chat() if form == "chat" else self.pair.as_preference()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotExported:
    """A session, or the step of a solution in it, that was left out, and why."""

    session: Session
    step: int | None
    reason: str


@dataclass(slots=True, kw_only=True)
class Report:
    """What an export came to: pairs by part and by rule, sessions by part, what was withheld, and what was left out and why.

    `unread` sessions with a solution were not read for it, as it would have taken too long.
    """

    wanted: Wanted
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


def begin(project: Project, wanted: Wanted) -> Report:
    """A report with nothing in it yet. Raises `NotFound` for a profile that there is not, `InvalidInput` for one that is retired, or a time that is none."""
    asked = {name: getattr(wanted, name) for name in SESSIONS}
    found = sessions_matching(project, SessionsWanted(**asked))
    return Report(wanted=wanted, profile=profile_of(project, wanted.redaction), found=found)


def confirmed_in(sessions: QuerySet[Session]) -> QuerySet[Action]:
    """The turns that the recorder or a person said to be what solved it: what is in force of their significance says so."""
    found = Action.objects.filter(session__in=sessions).annotate(in_force=SIGNIFICANCE)
    return found.filter(in_force__in=CONFIRMED)


def learned(project: Project, report: Report, *, whole: bool = True) -> Iterator[Learned]:
    """The pairs of the project's sessions, those of a session after the other, oldest first; what becomes of each is added to the report.

    Pairs of all parts are counted; those of the part that is wanted come. A session is read whole; those that do not fit into what is read
    while somebody waits are only counted where not the `whole` is asked for.
    """
    wanted = report.wanted
    report.sessions = report.found.count()
    solved = set(confirmed_in(report.found.order_by()).values_list("session", flat=True).distinct())
    report.left_out["no_solution"] += report.sessions - len(solved)
    found = Session.objects.filter(project=project, id__in=solved).order_by("started_at", "id")
    for session in found.iterator(chunk_size=100) if whole else _fitting(found, report):
        part = wanted.split.part_of(session.id)
        pairs = list(_of_session(session, report))
        report.pairs[part] += len(pairs)
        report.of_sessions[part] += bool(pairs)
        if wanted.part in ("", part):
            yield from (Learned(session=session, part=part, pair=pair) for pair in pairs)


def _fitting(sessions: QuerySet[Session], report: Report) -> Iterator[Session]:
    """The first of them that are read while somebody waits; the others are counted."""
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
    said = Coalesce(F("input__size"), 0) + Coalesce(F("output__size"), 0)
    found: int = session.actions.aggregate(bytes=Sum(said, default=0))["bytes"]
    return found


def _of_session(session: Session, report: Report) -> Iterator[Pair]:
    if session.status == Session.RECORDING:
        _leave_out(report, session, LeftOut(solution=None, reason="recording"))
        return
    deleted = set(ErasedTurn.objects.filter(session=session).values_list("sequence", flat=True))
    report.deleted_turns += len(deleted)
    turns = [_redacted(row, report) for row in rows(session.id, 0, session.last_sequence)]
    read = chats_of if report.wanted.form == "chat" else preferences_of
    for found in read(turns, report.wanted.what, deleted):  # type: ignore[arg-type]  # one of `WHATS`
        if isinstance(found, LeftOut):
            _leave_out(report, session, found)
            continue
        if found.rule is not None:
            report.rules[found.rule] += 1
        yield found


def _leave_out(report: Report, session: Session, why: LeftOut) -> None:
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
    """The turn as the profile leaves it."""
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


def _error(told: Any) -> tuple[str | None, str | None]:
    if told is None:
        return None, None
    return (told["type"], told["message"]) if "message" in told else (None, str(told["withheld"]))
