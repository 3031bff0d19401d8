"""The records of a finished comparison: itself at 0, its cells, its results, and remarks about cells.

A cell links the recorded step that it repeats by that record's leaf hash. Its fields: `facts` (arm, run,
session, status, verdict, figures, times, model, money), `words` (parameters, errors), `evidence` (what the
verdict is based on, what happened to the frames), `attempts`, `grounding`, `output`, and `hit.N` and `hit.N.text`
for each passage that was found again. A mark or an opinion names its cell by the cell's record.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from timemachine.core.pure.clock import written
from timemachine.core.pure.content import canonical_json
from timemachine.evidence.models import Seal, SealedRecord, SealedResults
from timemachine.evidence.pure.record import (
    Field,
    Record,
    error_of,
    hit_fields,
    inline_field,
    json_field,
    payload_columns,
    payload_field,
    text_of,
    value_field,
)
from timemachine.evidence.sealing import replay_records
from timemachine.evidence.sealing.replay_records import RECORD_LINK
from timemachine.replay.comparison.models import CellMark, CellOpinion, Comparison
from timemachine.replay.comparison.progress import progress_of
from timemachine.replay.comparison.pure import findings
from timemachine.replay.comparison.pure.findings import Findings
from timemachine.replay.comparison.results import current_results, stored_findings
from timemachine.replay.runs.costs import NO_SPENDING, Spending, spending_by
from timemachine.replay.runs.models import ReplayAttempt, ReplayStep

CELL, RESULTS, MARK, OPINION = "cell", "results", "mark", "opinion"
_OF_RUN: Final = ("replay_id", "replay__run__arm", "replay__run__repeat")
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
_OF_OPINION: Final = (
    "id",
    "step_id",
    "cost_usd",
    "created_at",
    "asked_at",
    "finished_at",
    "asked",
    "error_type",
    "error_message",
    "requested_by",
    *payload_columns("prompt"),
    *payload_columns("raw"),
)
Fields = Iterator[tuple[str, Field | None]]
Places = Mapping[str, int]
"""The record index of each row of a comparison, by the row's name."""


def name_of(kind: str, row: int | UUID | str) -> str:
    """Return the name of a comparison's row: `cell`, `mark` or `opinion` and its id, `results` and a form."""
    return f"{kind} {row}"


def header(comparison: Comparison) -> Record:
    """Return the record of the comparison itself: its size and arms, who requested it and why."""
    facts = {
        "arms": len(comparison.arms),
        "repeats": comparison.repeats,
        "noise_floor": comparison.noise_floor,
        "spend_limit_usd": comparison.spend_limit_usd,
    }
    about = {"reason": comparison.reason, "requested_by": comparison.requested_by}
    fields = [
        ("facts", json_field(facts)),
        ("arms", value_field(comparison.arms)),
        ("about", json_field(about)),
    ]
    return Record.of(0, "comparison", comparison.created_at, fields)


def records(comparison: Comparison, names: Sequence[str], places: Places) -> Iterator[Record]:
    """Yield the records of these rows in order, without rows that no longer exist. At most nine queries."""
    found: dict[str, Record] = {}
    for kind, read in _READERS.items():
        ids = [name.partition(" ")[2] for name in names if name.startswith(f"{kind} ")]
        if ids:
            found |= {name_of(kind, row): made for row, made in read(comparison, ids, places)}
    yield from (found[name] for name in names if name in found)


def _cells(comparison: Comparison, cell_ids: Sequence[str], places: Places) -> Iterator[tuple[int, Record]]:
    steps = ReplayStep.objects.filter(id__in=cell_ids, replay__run__comparison=comparison)
    rows = list(steps.values(*replay_records.COLUMNS, *_OF_RUN))
    ids = [row["id"] for row in rows]
    hits = replay_records.hits_of(ids)
    spent = spending_by("step_id", ReplayAttempt.objects.filter(step__in=ids))
    attempts = replay_records.attempts_of(ids)
    leaves = _leaves(rows)
    for row in rows:
        own = replay_records.repeats_its_own(row)
        link = leaves.get((row["replay__session_id"], row["sequence"])) if own else ""
        fields = _cell(row, hits[row["id"]], spent.get(row["id"], NO_SPENDING), attempts[row["id"]])
        index = places[name_of(CELL, row["id"])]
        yield (
            row["id"],
            Record.of(index, CELL, row["finished_at"], fields, {} if link is None else {RECORD_LINK: link}),
        )


def _cell(
    row: Mapping[str, Any],
    hits: Sequence[Mapping[str, Any]],
    spent: Spending,
    attempts: Sequence[Mapping[str, Any]],
) -> Fields:
    facts = replay_records.facts(row) | {
        "kind": row["kind"],
        "arm": row["replay__run__arm"],
        "run": row["replay__run__repeat"],
        "replay": str(row["replay_id"]),
        "session": str(row["replay__session_id"]),
        "spent_usd": str(spent.cost_usd),
        "unknown_cost_calls": spent.unknown_calls + spent.uncertain_calls,
    }
    words = {"parameters": row["parameters"], "error": error_of(row["error_type"], row["error_message"])}
    yield "facts", json_field(facts)
    yield "words", json_field(words)
    yield "evidence", json_field({name: row[name] for name in ("evidence", "frames", "retrieval")})
    yield replay_records.ATTEMPTS, value_field(attempts)
    yield "grounding", value_field(row["grounding"])
    yield "output", payload_field(row, "output")
    yield from hit_fields(hits)


def _leaves(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[UUID, int], str]:
    """Return the leaf hashes in hex of the cells' recorded steps, by session and sequence."""
    sealed = SealedRecord.objects.filter(
        seal__session__in={row["replay__session_id"] for row in rows},
        index__in={row["sequence"] for row in rows},
    )
    found = sealed.values_list("seal__session_id", "index", "leaf")
    return {(session, index): bytes(leaf).hex() for session, index, leaf in found}


def _results(comparison: Comparison, ids: Sequence[str], places: Places) -> Iterator[tuple[str, Record]]:
    for form, figures in results_now(comparison, ids):
        index = places[name_of(RESULTS, form)]
        fields = [("facts", inline_field(figures))]
        yield form, Record.of(index, RESULTS, comparison.created_at, fields)


def _marks(comparison: Comparison, ids: Sequence[str], places: Places) -> Iterator[tuple[int, Record]]:
    for mark in CellMark.objects.filter(comparison=comparison, id__in=ids):
        facts = {"record": places.get(name_of(CELL, mark.step_id)), "verdict": mark.verdict}
        words = {"note": mark.note or None, "marked_by": mark.marked_by}
        fields = [("facts", json_field(facts)), ("words", json_field(words))]
        yield mark.id, Record.of(places[name_of(MARK, mark.id)], MARK, mark.created_at, fields)


def _opinions(comparison: Comparison, ids: Sequence[str], places: Places) -> Iterator[tuple[UUID, Record]]:
    rows = CellOpinion.objects.filter(comparison=comparison, id__in=ids)
    for row in rows.values(*_OPINION, *_OF_OPINION):
        index = places[name_of(OPINION, row["id"])]
        yield row["id"], Record.of(index, OPINION, row["finished_at"], _opinion(row, places))


def _opinion(row: Mapping[str, Any], places: Places) -> Fields:
    facts = {name: row[name] for name in _OPINION} | {
        "record": places.get(name_of(CELL, row["step_id"])),
        "cost_usd": text_of(row["cost_usd"]),
        "created_at": written(row["created_at"]),
        "asked_at": written(row["asked_at"]),
    }
    yield "facts", json_field(facts)
    yield (
        "words",
        json_field({"asked": row["asked"], "error": error_of(row["error_type"], row["error_message"])}),
    )
    yield "about", json_field({"requested_by": row["requested_by"]})
    yield from ((name, payload_field(row, name)) for name in ("prompt", "raw"))


_READERS: Final[Mapping[str, Any]] = {CELL: _cells, RESULTS: _results, MARK: _marks, OPINION: _opinions}


FORM: Final = findings.FORM
"""The form of the results. A later version may compute them in another one; those are sealed as well, after the earlier ones."""


def figures(found: Findings) -> bytes:
    """Return columns, pairs of columns and noise floors as the bytes that are committed to."""
    return canonical_json(
        {
            "columns": [each.model_dump() for each in found.columns],
            "pairs": [each.as_json() for each in found.pairs],
            "noise": [each.as_json() for each in found.noise],
        }
    )


def computed(comparison: Comparison) -> str:
    """Return the results of a finished comparison, computing them if necessary."""
    found = current_results(comparison, progress_of([comparison])[comparison.id]).findings
    if found is None:
        raise LookupError(f"nothing was computed of the comparison {comparison.pk}")
    return figures(found).decode("ascii")


def results_now(comparison: Comparison, forms: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the results in these forms: as the page shows them now, or else as stored with the seal."""
    newest = Seal.objects.filter(comparison=comparison).order_by("-generation").first()
    found = stored_findings(comparison, progress_of([comparison])[comparison.id])
    shown = None if found is None else figures(found)
    for each in SealedResults.objects.filter(seal=newest, form__in=forms):
        live = shown if each.form == FORM else None
        yield str(each.form), live or canonical_json(json.loads(each.content))
