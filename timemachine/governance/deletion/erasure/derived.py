"""Other tables that repeat a session: notes, judgements, opinions, cached answers, diffs, reports of suites,
counts, and what people and programs wrote in reasons and variants of comparisons, labels of share links and
names of files.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from django.db.models import QuerySet

from timemachine.core.payloads import queries as payloads
from timemachine.governance.deletion.erasure.before_after import Scan
from timemachine.governance.deletion.erasure.rewriting import Rewritten, stored_payload
from timemachine.recording.annotations.notes.models import LONGEST_STORED, Note
from timemachine.recording.answering.models import CachedAnswer
from timemachine.recording.importing.queries import imports_of
from timemachine.recording.intake.models import Intake
from timemachine.recording.sessions.models import Session
from timemachine.replay.alignment.models import LongDiff
from timemachine.replay.comparison.models import (
    CellMark,
    CellOpinion,
    Comparison,
    ComparisonFindings,
    ComparisonReplay,
)
from timemachine.replay.judging.models import Judgement
from timemachine.replay.suites.models import SuiteReplay, SuiteRun, SuiteSession
from timemachine.replay.sweeps.models import Sweep, SweepRow
from timemachine.text.redaction.pure.marks import FIELD, erased

BATCH: Final = 100
REASONS: Final = "reasons and arms of comparisons"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Rows of one table that may repeat a session: text and JSON columns, and payloads read as text."""

    name: str
    rows: QuerySet[Any]
    values: tuple[str, ...]
    payloads: tuple[str, ...] = ()


@dataclass(slots=True, kw_only=True)
class Derived:
    """How many rows changed, by place, and the payloads that they no longer refer to."""

    rows: dict[str, int] = field(default_factory=dict)
    released: set[int] = field(default_factory=set)


def _places(session: Session) -> Iterator[Place]:
    of_replay = {"step__replay__session": session}
    yield Place(name="notes", rows=Note.objects.filter(session=session), values=("text",))
    yield Place(
        name="judgements",
        rows=Judgement.objects.filter(session=session).select_related("prompt", "raw"),
        values=(
            "model",
            "system_prompt",
            "sentences",
            "parameters",
            "usage",
            "prices",
            "error_type",
            "error_message",
        ),
        payloads=("prompt", "raw"),
    )
    yield Place(name="marks", rows=CellMark.objects.filter(**of_replay), values=("note",))
    yield Place(
        name="opinions",
        rows=CellOpinion.objects.filter(**of_replay).select_related("prompt", "raw"),
        values=("asked", "usage", "error_type", "error_message", "waits_because"),
        payloads=("prompt", "raw"),
    )
    compared = Comparison.objects.filter(
        pk__in=ComparisonReplay.objects.filter(replay__session=session).values("comparison")
    )
    yield Place(name=REASONS, rows=compared, values=("reason", "arms"))
    yield Place(name="share links", rows=session.share_links.all(), values=("label",))
    for each in compared:
        yield Place(name="share links", rows=each.share_links.all(), values=("label",))
    yield Place(
        name="files",
        rows=Intake.objects.filter(session=session),
        values=("name", "title", "uri", "skipped", "error_message"),
    )
    yield Place(
        name="files",
        rows=imports_of(session),
        values=("name", "report", "error_message"),
    )
    yield Place(
        name="sweeps",
        rows=SweepRow.objects.filter(sweep__session=session),
        values=("setting", "result", "error_message"),
    )
    yield Place(name="sweeps", rows=Sweep.objects.filter(session=session), values=("grid",))
    runs = SuiteReplay.objects.filter(session=session)
    yield Place(name="suites", rows=runs, values=("problem",))
    yield Place(
        name="suites", rows=SuiteRun.objects.filter(pk__in=runs.values("run")), values=("findings", "held")
    )


def rewrite_derived(session: Session, scan: Scan, recorded: Rewritten, replayed: set[int]) -> Derived:
    """Rewrite what repeats the session, and delete what can be computed again."""
    made = Derived()
    for place in _places(session):
        for row in place.rows.order_by("pk").iterator(chunk_size=BATCH):
            if _rewrite(session, scan, place, row, recorded, replayed, made):
                made.rows[place.name] = made.rows.get(place.name, 0) + 1
    for name, rows in _recomputable(session, recorded, replayed, renamed=REASONS in made.rows):
        if number := rows.count():
            made.rows[name] = number
            rows.delete()
    return made


def rename_in_suites(session: Session, before: str) -> None:
    """Copy the key of a session to where suites name it."""
    if session.key != before:
        SuiteSession.objects.filter(session=session).update(key=session.key)
        SuiteReplay.objects.filter(session=session).update(key=session.key)


def _recomputable(
    session: Session, recorded: Rewritten, replayed: set[int], *, renamed: bool
) -> Iterator[tuple[str, QuerySet[Any]]]:
    if recorded.sequences:
        yield "answers of the cache", CachedAnswer.objects.filter(session=session)
    if recorded.sequences or replayed:
        yield (
            "diffs",
            LongDiff.objects.filter(left_session=session) | LongDiff.objects.filter(right_session=session),
        )
    if recorded.sequences or replayed or renamed:
        compared = ComparisonReplay.objects.filter(replay__session=session).values("comparison")
        yield "figures of comparisons", ComparisonFindings.objects.filter(comparison__in=compared)


def _rewrite(
    session: Session,
    scan: Scan,
    place: Place,
    row: Any,
    recorded: Rewritten,
    replayed: set[int],
    made: Derived,
) -> bool:
    columns = {name: scan.value(getattr(row, name)) for name in place.values}
    if place.name in ("judgements", "opinions"):
        erased_answer = _is_about_erased(row, recorded, replayed)
        for name in place.payloads:
            columns |= _payload(session, scan, row, name, erased_answer=erased_answer)
        if erased_answer and place.name == "judgements":
            columns |= {"sentences": [], "prompt_sha256": "", "answer_sha256": ""}
        elif erased_answer:
            columns |= {"asked": None}
    if place.name == "notes":
        columns["text"] = columns["text"][: LONGEST_STORED // 6]
    changed = {name: value for name, value in columns.items() if value != getattr(row, name)}
    if changed:
        made.released |= {getattr(row, f"{name}_id") for name in place.payloads if f"{name}_id" in changed}
        type(row).objects.filter(pk=row.pk).update(**changed)
    return bool(changed)


def _is_about_erased(row: Any, recorded: Rewritten, replayed: set[int]) -> bool:
    """Return whether something was erased of the answer that a row is about, so that all its words go."""
    if isinstance(row, Judgement):
        return row.sequence in recorded.sequences
    return row.step_id in replayed


def _payload(
    session: Session, scan: Scan, row: Any, name: str, *, erased_answer: bool
) -> dict[str, int | None]:
    payload = getattr(row, name)
    if payload is None:
        return {}
    before = payloads.value(payload)
    after = erased(FIELD) if erased_answer else scan.value(before)
    return {} if after == before else {f"{name}_id": stored_payload(session, after)}
