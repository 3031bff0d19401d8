"""A comparison as a file: JSON with its results and cells, or CSV with a line for each cell."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Final

from timemachine.core.audit.commands import record
from timemachine.core.pure.csv_lines import csv_line
from timemachine.core.pure.errors import InvalidInput
from timemachine.replay.comparison.models import CellOpinion, Comparison
from timemachine.replay.comparison.progress import progress_of
from timemachine.replay.comparison.pure.cells import NOISE, Ask
from timemachine.replay.comparison.pure.variants import RECORDING
from timemachine.replay.comparison.queries import (
    answers_of,
    asks_of,
    marks_of,
    models_of,
    opinions_of,
    sessions_of,
    variants_of,
    with_texts,
)
from timemachine.replay.comparison.results import current_results
from timemachine.replay.comparison.schemas import AskCells, CellOut, ComparisonFile

COLUMNS: Final = (
    "session",
    "session_name",
    "session_key",
    "sequence",
    "kind",
    "label",
    "arm",
    "model",
    "run",
    "replay",
    "status",
    "verdict",
    "missing",
    "refused",
    "cut_off",
    "grounding",
    "grounding_label",
    "cost_usd",
    "latency_ms",
    "tokens",
    "cached",
    "marks",
    "opinions",
    "error",
    "answer",
)
RECORDING_NAME: Final = "recording"
_READ_AT_ONCE: Final = 100
FORMS: Final = {"json": "application/json", "csv": "text/csv"}


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A comparison as a download."""

    name: str
    media_type: str
    data: bytes


def file_of(comparison: Comparison, form: str) -> File:
    """Return the comparison as `json` (with statistics) or `csv` (a line for each cell), in UTF-8.

    Raises: `InvalidInput` for another form.
    """
    if form not in FORMS:
        raise InvalidInput("`format` must be `json` or `csv`.", code="invalid_field", field="format")
    if form == "csv":
        text = "".join(_csv(comparison))
    else:
        text = json.dumps(_whole(comparison).model_dump(), ensure_ascii=False, indent=2)
    record(comparison.project_id, "comparison.exported", "comparison", comparison.pk, format=form)
    return File(
        name=f"comparison-{comparison.id}.{form}",
        media_type=f"{FORMS[form]}; charset=utf-8",
        data=text.encode("utf-8", "backslashreplace"),
    )


def _whole(comparison: Comparison) -> ComparisonFile:
    """Return the comparison with its statistics and cells; they are computed now if necessary."""
    progress = progress_of([comparison])[comparison.id]
    results = current_results(comparison, progress)
    asks = with_texts(results.findings.asks) if results.findings else []
    return ComparisonFile.of_results(comparison, progress, results, cells=AskCells.of_all(asks))


def _csv(comparison: Comparison) -> Iterator[str]:
    """Yield a header and a line for each cell. Text that a spreadsheet would read as a formula gets a leading apostrophe."""
    asks = asks_of(comparison)
    arms = variants_of(comparison)
    steps = [cell.step for ask in asks for cell in ask.runs.values() if cell.step is not None]
    marks, opinions = marks_of(steps), opinions_of(steps)
    recorded = models_of(asks)
    sessions = {each.id: each for each in sessions_of(comparison)}
    yield csv_line(COLUMNS)
    for ask, answers in _answered(asks):
        for cell in ask.answers:
            facts = dict(CellOut.of(cell, [], [])) | {
                "session": str(ask.session),
                "session_name": ask.session_name,
                "session_key": sessions[ask.session].key,
                "sequence": ask.sequence,
                "kind": ask.kind,
                "label": ask.label,
                "arm": cell.arm or RECORDING_NAME,
                "model": recorded.get(ask.action) if cell.arm == RECORDING else arms[cell.arm - 1].model,
                "run": "noise floor" if cell.repeat == NOISE else cell.repeat,
                "marks": "; ".join(
                    f"{each.verdict} ({each.marked_by})" for each in marks.get(cell.step or 0, [])
                ),
                "opinions": "; ".join(_opinion_words(each) for each in opinions.get(cell.step or 0, [])),
                "answer": answers.get(cell.step),
            }
            yield csv_line([facts[name] for name in COLUMNS])


def _answered(asks: Sequence[Ask]) -> Iterator[tuple[Ask, Mapping[int | None, str]]]:
    """Yield each ask with its answers: the new ones by step, the recorded one under None. They are read in batches that fit in memory."""
    for some in batched(asks, _READ_AT_ONCE, strict=False):
        recorded, new = answers_of(some)
        for ask in some:
            with_texts = {cell.step: new[cell.step] for cell in ask.runs.values() if cell.step in new}
            yield ask, with_texts | ({None: recorded[ask.action]} if ask.action in recorded else {})


def _opinion_words(opinion: CellOpinion) -> str:
    if opinion.relation is None:
        return f"judge {opinion.state} ({opinion.model})"
    return f"{opinion.relation}, {opinion.preference or 'unknown'} ({opinion.model})"
