"""Applying an erasure: rewriting every table with something of a session, in the caller's transaction."""

from dataclasses import dataclass, field
from typing import Final

from timemachine.core.payloads.commands import still_used
from timemachine.core.pure.errors import Conflict
from timemachine.core.pure.json_types import JsonObject
from timemachine.governance.deletion.erasure.before_after import Scan
from timemachine.governance.deletion.erasure.derived import rename_in_suites, rewrite_derived
from timemachine.governance.deletion.erasure.replayed import rewrite_launches, rewrite_replays
from timemachine.governance.deletion.erasure.rewriting import (
    Rewritten,
    rewrite_actions,
    rewrite_deliveries,
    rewrite_session,
)
from timemachine.knowledge.models import Frame
from timemachine.recording.answering.models import AskUnderWay
from timemachine.recording.answering.summaries import remaining_summaries
from timemachine.recording.importing.models import RUNNING, WAITING
from timemachine.recording.intake.models import Intake
from timemachine.recording.sessions.deletions import SummaryFrame
from timemachine.recording.sessions.models import Session
from timemachine.replay.comparison.models import CellOpinion
from timemachine.replay.judging.models import ASKING, Judgement
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.statuses import OPEN_REPLAY_STATUSES
from timemachine.replay.sweeps.models import Sweep
from timemachine.text.redaction.pure.values import Tally
from timemachine.text.redaction.schemas import counts_of

SHOWN_STEPS: Final = 100


@dataclass(slots=True, kw_only=True)
class Applied:
    """What an erasure changed.

    `elsewhere` counts rows outside the session that repeated it, by place. `released` are payloads that lost
    a reference, `shared` how many payloads of the steps others still use, and `summaries` frames that may
    quote what was erased.
    """

    recorded: Rewritten
    of_session: tuple[str, ...] = ()
    replayed: int = 0
    elsewhere: dict[str, int] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    collections: list[str] = field(default_factory=list)
    summaries: list[SummaryFrame] = field(default_factory=list)
    released: set[int] = field(default_factory=set)
    shared: int = 0

    def as_json(self) -> JsonObject:
        """Return what is stored and shown by the API: numbers and names, nothing that was erased."""
        steps = sorted(self.recorded.sequences)
        return {
            "steps": len(steps),
            "first_steps": steps[:SHOWN_STEPS],
            "of_steps": [
                {"field": name, "count": count} for name, count in sorted(self.recorded.fields.items())
            ],
            "of_session": list(self.of_session),
            "counts": [each.model_dump() for each in counts_of(self.tally)],
            "replay_steps": self.replayed,
            "elsewhere": [{"place": name, "count": count} for name, count in sorted(self.elsewhere.items())],
            "collections": self.collections,
            "summaries": self.summaries,
            "kept_by_others": self.shared,
        }


def apply(session: Session, scan: Scan, steps: list[int]) -> Applied:
    """Rewrite the steps, the session's own fields and everything that repeats them. Raises `Conflict` while
    something of the session is running.
    """
    _require_idle(session)
    session_fields = scan.session(session) if scan.chosen.of_session or scan.repeats else None
    recorded = rewrite_actions(session, scan, steps)
    found = Applied(recorded=recorded, tally=recorded.tally.copy())
    if session_fields is not None and session_fields.fields:
        before = session.key
        rewrite_session(session, session_fields)
        rename_in_suites(session, before)
        found.of_session = session_fields.fields
        found.tally += session_fields.tally
    replayed, rows = rewrite_replays(session, scan, recorded)
    found.tally += replayed.tally
    found.replayed = len(rows)
    derived = rewrite_derived(session, scan, recorded, rows)
    found.elsewhere = derived.rows
    if launches := rewrite_launches(session, scan):
        found.elsewhere["replays"] = launches
    rewrite_deliveries(session, scan, recorded.sequences)
    frames = recorded.frames | replayed.frames
    names = Frame.objects.filter(pk__in=frames).values_list("collection__name", flat=True)
    found.summaries = remaining_summaries(session, since=min(recorded.sequences, default=0))
    found.collections = sorted({*names, *(each["collection"] for each in found.summaries)})
    found.shared = still_used(recorded.released | replayed.released)
    found.released = recorded.released | replayed.released | derived.released
    return found


def _require_idle(session: Session) -> None:
    """Raise `Conflict` if something is running: it has read what is to be erased and would write it back."""
    runs = (
        ("A replay", Replay.objects.filter(session=session, status__in=OPEN_REPLAY_STATUSES)),
        ("An ask", AskUnderWay.objects.filter(session=session)),
        ("A judge model", Judgement.objects.filter(session=session, state=ASKING)),
        (
            "A judge model",
            CellOpinion.objects.filter(step__replay__session=session, state__in=("waiting", "asking")),
        ),
        ("A file upload", Intake.objects.filter(session=session, status__in=(WAITING, RUNNING))),
        ("A sweep", Sweep.objects.filter(session=session, status__in=("queued", "running"))),
    )
    for what, rows in runs:
        if rows.exists():
            raise Conflict(
                f"{what} of this session is running and would write back what is erased. Wait for it or cancel it, then confirm again.",
                code="session_busy",
            )
