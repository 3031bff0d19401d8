"""The records of a finished comparison: the comparison itself at 0, its cells, its results, and remarks about
cells.

A cell links the recorded step that it repeats by that record's leaf hash. Its fields: `facts` (arm, run,
session, status, verdict, figures, times, model, money), `words` (parameters, errors), `evidence` (what the
verdict is based on, what happened to the frames), `grounding`, `output`, and `hit.N` and `hit.N.text` for
each passage that was found again. A mark or an opinion names its cell by the cell's record.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from timemachine.core.pure.clock import written
from timemachine.core.pure.content import canonical_json
from timemachine.evidence.models import SealedRecord
from timemachine.evidence.pure.record import (
    Field,
    Record,
    hit_fields,
    inline_field,
    json_field,
    payload_field,
    recorded_fields,
)
from timemachine.evidence.sealing import replay_records
from timemachine.evidence.sealing.comparison_results import results_now
from timemachine.evidence.sealing.replay_records import RECORD_LINK
from timemachine.replay.comparison.models import CellMark, CellOpinion, Comparison
from timemachine.replay.runs.costs import NO_SPENDING, Spending, spending_by
from timemachine.replay.runs.models import ReplayAttempt, ReplayStep

CELL, RESULTS, MARK, OPINION = "cell", "results", "mark", "opinion"
_OF_RUN: Final = ("replay_id", "replay__session_id", "replay__run__arm", "replay__run__repeat")
_OPINION: Final = (
    "model",
    "state",
    "relation",
    "preference",
    "prompt_template",
    "usage",
    "calls_made",
    "unknown_cost_calls",
)
_PAYLOADS: Final = ("prompt", "raw")
Places = Mapping[str, int]
"""The record index of each row of a comparison, by the row's name."""


def name_of(kind: str, row: int | UUID | str) -> str:
    """Return the name of a comparison's row: `cell 7`, `mark 3`, `opinion` and its id, `results` and their
    form.
    """
    return f"{kind} {row}"


def header(comparison: Comparison) -> Record:
    """Return the record of the comparison itself: its size and arms, who requested it and why."""
    facts = {
        "arms": len(comparison.arms),
        "repeats": comparison.repeats,
        "noise_floor": comparison.noise_floor,
        "spend_limit_usd": comparison.spend_limit_usd,
    }
    fields = {
        "facts": json_field(facts),
        "arms": inline_field(canonical_json(comparison.arms)),
        "about": json_field({"reason": comparison.reason, "requested_by": comparison.requested_by}),
    }
    at = written(comparison.created_at) or ""
    return Record(index=0, kind="comparison", at=at, fields=recorded_fields(fields.items()))


def records(comparison: Comparison, names: Sequence[str], places: Places) -> Iterator[Record]:
    """Yield the records of these rows in order, without rows that no longer exist. At most eight queries."""
    found: dict[str, Record] = {}
    for kind, read in _READERS.items():
        wanted = [name.partition(" ")[2] for name in names if name.startswith(f"{kind} ")]
        if wanted:
            found |= {name_of(kind, row): made for row, made in read(comparison, wanted, places)}
    yield from (found[name] for name in names if name in found)


def _cells(comparison: Comparison, wanted: Sequence[str], places: Places) -> Iterator[tuple[int, Record]]:
    steps = ReplayStep.objects.filter(id__in=wanted, replay__run__comparison=comparison)
    rows = list(steps.values(*replay_records.COLUMNS, *_OF_RUN))
    ids = [row["id"] for row in rows]
    hits = replay_records.hits_of(ids)
    spent = spending_by("step_id", ReplayAttempt.objects.filter(step__in=ids))
    leaves = _leaves(rows)
    for row in rows:
        link = leaves.get((row["replay__session_id"], row["sequence"]))
        yield (
            row["id"],
            Record(
                index=places[name_of(CELL, row["id"])],
                kind=CELL,
                at=written(row["finished_at"]) or "",
                fields=_cell(row, hits.get(row["id"], ()), spent.get(row["id"], NO_SPENDING)),
                links={RECORD_LINK: link} if link else {},
            ),
        )


def _cell(row: Mapping[str, Any], hits: Sequence[Mapping[str, Any]], spent: Spending) -> dict[str, Field]:
    facts = replay_records.facts(row) | {
        "kind": row["kind"],
        "arm": row["replay__run__arm"],
        "run": row["replay__run__repeat"],
        "replay": str(row["replay_id"]),
        "session": str(row["replay__session_id"]),
        "spent_usd": str(spent.cost_usd),
        "unknown_cost_calls": spent.unknown_calls + spent.uncertain_calls,
    }
    error = _error(row["error_type"], row["error_message"])
    rests_on = {name: row[name] for name in ("evidence", "frames", "retrieval")}
    return recorded_fields(
        [
            ("facts", json_field(facts)),
            ("words", json_field({"parameters": row["parameters"], "error": error})),
            ("evidence", json_field(rests_on)),
            (
                "grounding",
                None if row["grounding"] is None else inline_field(canonical_json(row["grounding"])),
            ),
            ("output", replay_records.output(row)),
            *(pair for hit in hits for pair in hit_fields(hit)),
        ]
    )


def _leaves(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[UUID, int], str]:
    """Return the leaf hashes in hex of the cells' recorded steps, by session and sequence."""
    sealed = SealedRecord.objects.filter(
        seal__session__in={row["replay__session_id"] for row in rows},
        index__in={row["sequence"] for row in rows},
    )
    found = sealed.values_list("seal__session_id", "index", "leaf")
    return {(session, index): bytes(leaf).hex() for session, index, leaf in found}


def _results(comparison: Comparison, wanted: Sequence[str], places: Places) -> Iterator[tuple[str, Record]]:
    for form, figures in results_now(comparison, wanted):
        fields = recorded_fields([("facts", inline_field(figures))])
        at = written(comparison.created_at) or ""
        yield form, Record(index=places[name_of(RESULTS, form)], kind=RESULTS, at=at, fields=fields)


def _marks(comparison: Comparison, wanted: Sequence[str], places: Places) -> Iterator[tuple[int, Record]]:
    for mark in CellMark.objects.filter(comparison=comparison, id__in=wanted):
        facts = {"record": places.get(name_of(CELL, mark.step_id)), "verdict": mark.verdict}
        words = {"note": mark.note or None, "marked_by": mark.marked_by}
        fields = recorded_fields([("facts", json_field(facts)), ("words", json_field(words))])
        at = written(mark.created_at) or ""
        yield mark.id, Record(index=places[name_of(MARK, mark.id)], kind=MARK, at=at, fields=fields)


def _opinions(comparison: Comparison, wanted: Sequence[str], places: Places) -> Iterator[tuple[UUID, Record]]:
    rows = CellOpinion.objects.filter(comparison=comparison, id__in=wanted)
    for row in rows.select_related("prompt", "raw").defer("prompt__data", "raw__data"):
        yield (
            row.id,
            Record(
                index=places[name_of(OPINION, row.id)],
                kind=OPINION,
                at=written(row.finished_at) or "",
                fields=_opinion(row, places),
            ),
        )


def _opinion(row: CellOpinion, places: Places) -> dict[str, Field]:
    facts = {name: getattr(row, name) for name in _OPINION} | {
        "record": places.get(name_of(CELL, row.step_id)),
        "cost_usd": None if row.cost_usd is None else str(row.cost_usd),
        "created_at": written(row.created_at),
        "asked_at": written(row.asked_at),
    }
    payloads = {name: getattr(row, name) for name in _PAYLOADS}
    return recorded_fields(
        [
            ("facts", json_field(facts)),
            (
                "words",
                json_field({"asked": row.asked, "error": _error(row.error_type, row.error_message)}),
            ),
            ("about", json_field({"requested_by": row.requested_by})),
            *(
                (name, payload_field(each.id, each.sha256, each.size))
                for name, each in payloads.items()
                if each is not None
            ),
        ]
    )


def _error(kind: str | None, message: str | None) -> dict[str, str | None] | None:
    return None if kind is None and message is None else {"type": kind, "message": message}


_READERS: Final[Mapping[str, Any]] = {CELL: _cells, RESULTS: _results, MARK: _marks, OPINION: _opinions}
