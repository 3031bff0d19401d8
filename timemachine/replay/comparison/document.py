"""A comparison as JSON documents: how far it is, what its columns and their pairs come to, its cells, and the whole as CSV."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import batched
from typing import Any, Final

from timemachine.core.payloads.queries import value
from timemachine.core.pure.clock import written
from timemachine.core.pure.errors import InvalidInput
from timemachine.replay.comparison.models import CellMark, CellOpinion, Comparison
from timemachine.replay.comparison.progress import Progress, Waits, over_limit, progress_of
from timemachine.replay.comparison.pure.cells import NOISE, Ask, Cell
from timemachine.replay.comparison.pure.metrics import MEASURES, ArmPair, ArmTotals
from timemachine.replay.comparison.pure.statistics.intervals import RESAMPLES, SEED, Interval
from timemachine.replay.comparison.pure.statistics.paired import PairedResult
from timemachine.replay.comparison.pure.statistics.wording import METHODS, sentence, verdict_words
from timemachine.replay.comparison.pure.variants import RECORDING, names
from timemachine.replay.comparison.queries import (
    answers_of,
    arms_of,
    ask_count,
    asks_of,
    marks_of,
    models_of,
    opinions_of,
    replays_of,
    sessions_of,
    told,
)
from timemachine.replay.comparison.results import Results, whole

UNITS: Final = {each.name: each.unit for each in MEASURES}
COLUMNS: Final = (
    "session",
    "session_name",
    "session_key",
    "sequence",
    "question",
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
_BEGIN_FORMULAS: Final = frozenset("=+-@\t\r\n")
_READ_AT_ONCE: Final = 100
FORMS: Final = {"json": "application/json", "csv": "text/csv"}


def comparison_json(comparison: Comparison, progress: Progress) -> dict[str, Any]:
    """What was compared and how far it is."""
    arms, over = arms_of(comparison), over_limit(comparison, progress)
    return {
        "id": str(comparison.id),
        "status": progress.status,
        "reason": comparison.reason,
        "requested_by": comparison.requested_by,
        "created_at": written(comparison.created_at),
        "arms": [
            {"arm": number, "name": name, **arm.as_json()}
            for number, (arm, name) in enumerate(zip(arms, names(arms), strict=True), 1)
        ],
        "repeats": comparison.repeats,
        "noise_floor": comparison.noise_floor,
        "spend_limit_usd": comparison.spend_limit_usd,
        "over_limit_usd": None if over is None else float(over),
        "answers": {
            "total": progress.total,
            "finished": progress.finished,
            "answered": progress.answered,
            **progress.steps,
        },
        "replays": dict(progress.replays),
        "cost_usd": float(progress.cost_usd),
        "unknown_cost_calls": progress.unknown_cost_calls,
        "uncertain_calls": progress.uncertain_calls,
        "waiting": _waits_json(progress.waits),
        "judges": {
            "cells": progress.judges.cells,
            "waiting": progress.judges.waiting,
            "asking": progress.judges.asking,
            "busy": _waits_json(progress.judges.busy),
            "cost_usd": float(progress.judges.cost_usd),
            "unknown_cost_calls": progress.judges.unknown_cost_calls,
        },
    }


def _waits_json(waits: Waits) -> dict[str, Any]:
    return {"calls": waits.calls, "until": written(waits.until)}


def whole_json(comparison: Comparison, progress: Progress, found: Results) -> dict[str, Any]:
    """The comparison with its replays, its columns, and what each two of them show: null where nothing was computed.

    `results` says of how many answers that is, when it was computed, and whether answers came since (`state`).
    """
    shown = found.findings
    return {
        **comparison_json(comparison, progress),
        "replay_ids": [
            {
                "replay_id": str(each.id),
                "session": str(each.session_id),
                "arm": each.run.arm,
                "run": each.run.repeat,
                "status": each.status,
            }
            for each in replays_of(comparison)
        ],
        "asks": ask_count(comparison) if shown is None else len(shown.asks),
        "results": {
            "state": found.state,
            "answers": found.answers,
            "computed_at": written(found.computed_at),
        },
        "columns": None if shown is None else [_totals_json(each) for each in shown.columns],
        "pairs": None if shown is None else [_pair_json(each) for each in shown.pairs],
        "noise": None if shown is None else [_pair_json(each) for each in shown.noise],
        "method": METHOD,
    }


def all_json(comparison: Comparison) -> dict[str, Any]:
    """The comparison with its statistics and its cells, computed now where nobody has."""
    progress = progress_of([comparison])[comparison.id]
    results = whole(comparison, progress)
    asks = told(results.findings.asks) if results.findings else []
    return {**whole_json(comparison, progress, results), "cells": cells_json(asks)}


def cells_json(asks: Sequence[Ask]) -> list[dict[str, Any]]:
    """The asks, each with its recorded answer's figures and those of every run of every arm, with marks and opinions."""
    steps = _steps(asks)
    marks, opinions = marks_of(steps), opinions_of(steps)
    return [
        {
            "session": str(ask.session),
            "sequence": ask.sequence,
            "question": ask.question,
            "cells": [
                _cell_json(cell)
                | {
                    "marks": [mark_json(each) for each in marks.get(cell.step or 0, [])],
                    "opinions": [opinion_json(each) for each in opinions.get(cell.step or 0, [])],
                }
                for cell in _in_order(ask)
            ],
        }
        for ask in asks
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """All of a comparison, to take along."""

    name: str
    media_type: str
    data: bytes


def file_of(comparison: Comparison, form: str) -> File:
    """The comparison as `json` (with its statistics) or `csv` (a line for each cell), in UTF-8. Raises `InvalidInput` for another form."""
    if form not in FORMS:
        raise InvalidInput("`format` is `json` or `csv`.", code="invalid_field", field="format")
    if form == "csv":
        text = "".join(_csv(comparison))
    else:
        text = json.dumps(all_json(comparison), ensure_ascii=False, indent=2)
    return File(
        name=f"comparison-{comparison.id}.{form}",
        media_type=f"{FORMS[form]}; charset=utf-8",
        data=text.encode("utf-8", "backslashreplace"),
    )


def mark_json(mark: CellMark) -> dict[str, Any]:
    """What a person said of a cell."""
    return {
        "verdict": mark.verdict,
        "note": mark.note,
        "by": mark.marked_by,
        "created_at": written(mark.created_at),
    }


def opinion_json(opinion: CellOpinion, *, prompt: bool = False) -> dict[str, Any]:
    """What a judge model said of a cell; `asked` has both orders, with `prompt` the messages and raw answers as well."""
    sent = {"prompt": value(opinion.prompt), "raw_answers": value(opinion.raw)} if prompt else {}
    return sent | {
        "id": str(opinion.id),
        "model": opinion.model,
        "state": opinion.state,
        "relation": opinion.relation,
        "preference": opinion.preference,
        "asked": opinion.asked,
        "prompt_template": opinion.prompt_template,
        "usage": opinion.usage,
        "cost_usd": None if opinion.cost_usd is None else float(opinion.cost_usd),
        "unknown_cost_calls": opinion.unknown_cost_calls,
        "calls_made": opinion.calls_made,
        "error": {"type": opinion.error_type, "message": opinion.error_message}
        if opinion.error_type
        else None,
        "requested_by": opinion.requested_by,
        "created_at": written(opinion.created_at),
        "finished_at": written(opinion.finished_at),
    }


METHOD: Final = {
    "unit": "one ask; an ask that is answered several times counts once, by the mean over its runs",
    "difference": "B − A, ask by ask",
    "interval": "95 %, none below 6 pairs; paired t below 100 independent units, percentile bootstrap from 100; where there are "
    "several sessions, sessions are the independent units, and the error is never smaller than that of as many independent asks",
    "bootstrap": {"resamples": RESAMPLES, "seed": SEED},
    "test": "McNemar's exact test for shares, Wilcoxon's signed ranks with Pratt's zeros for graded figures; two-sided; asks are taken as "
    "independent",
    "p_holm": "adjusted over the metrics of one pair of columns",
    "latency": "measured side by side, while the other arms were asked as well; where the noise floor shows that an arm differs from itself, "
    "latencies of the comparison cannot be told apart",
    "verdict": "better needs p_holm below 0.05 and an interval that leaves out no difference",
    "needed": "asks for 80 % power at 5 %, for a difference of 0.1 in shares and scores and of 10 % of A's mean elsewhere; by the same "
    "error as the interval, so for asks that are spread over sessions as these are",
}


def _csv(comparison: Comparison) -> Iterator[str]:
    """A line for each cell, under a head. A text that a spreadsheet would take for a formula gets an apostrophe before it."""
    asks = asks_of(comparison)
    arms, steps = arms_of(comparison), _steps(asks)
    marks, opinions = marks_of(steps), opinions_of(steps)
    recorded = models_of(asks)
    sessions = {each.id: each for each in sessions_of(comparison)}
    yield _line(COLUMNS)
    for ask, answers in _answered(asks):
        for cell in _in_order(ask):
            facts = _cell_json(cell) | {
                "session": str(ask.session),
                "session_name": ask.session_name,
                "session_key": sessions[ask.session].key,
                "sequence": ask.sequence,
                "question": ask.question,
                "arm": cell.arm or RECORDING_NAME,
                "model": recorded.get(ask.action) if cell.arm == RECORDING else arms[cell.arm - 1].model,
                "run": "noise floor" if cell.repeat == NOISE else cell.repeat,
                "marks": "; ".join(
                    f"{each.verdict} ({each.marked_by})" for each in marks.get(cell.step or 0, [])
                ),
                "opinions": "; ".join(_opinion_words(each) for each in opinions.get(cell.step or 0, [])),
                "answer": answers.get(cell.step),
            }
            yield _line([facts[name] for name in COLUMNS])


def _answered(asks: Sequence[Ask]) -> Iterator[tuple[Ask, Mapping[int | None, str]]]:
    """Each ask with its answers: the new ones by their steps, the recorded one under None. So many are read at once as fit in memory."""
    for some in batched(asks, _READ_AT_ONCE, strict=False):
        recorded, new = answers_of(some)
        for ask in some:
            told = {cell.step: new[cell.step] for cell in ask.runs.values() if cell.step in new}
            yield ask, told | ({None: recorded[ask.action]} if ask.action in recorded else {})


def _totals_json(totals: ArmTotals) -> dict[str, Any]:
    return asdict(totals) | {
        "grounding_interval": _interval_json(totals.grounding_interval),
        "agreement_interval": _interval_json(totals.agreement_interval),
    }


def _pair_json(pair: ArmPair) -> dict[str, Any]:
    return {
        "a": pair.a,
        "b": pair.b,
        "ratio_of_medians": dict(pair.ratios),
        "metrics": [_result_json(each) for each in pair.results],
    }


def _result_json(result: PairedResult) -> dict[str, Any]:
    unit = UNITS[result.metric]
    return asdict(result) | {
        "interval": _interval_json(result.interval),
        "verdict": verdict_words(result, unit),
        "sentence": sentence(result, unit),
    }


def _interval_json(found: Interval | None) -> dict[str, Any] | None:
    return None if found is None else {"low": found.low, "high": found.high, "method": METHODS[found.method]}


def _cell_json(cell: Cell) -> dict[str, Any]:
    return {
        "arm": cell.arm,
        "run": cell.repeat,
        "replay": None if cell.replay is None else str(cell.replay),
        "status": cell.status,
        "verdict": cell.verdict,
        "missing": cell.missing,
        "refused": cell.refused,
        "cut_off": cell.cut_off,
        "grounding": cell.grounding,
        "grounding_label": cell.label,
        "cost_usd": cell.cost_usd,
        "latency_ms": cell.latency_ms,
        "tokens": cell.tokens,
        "cached": cell.cached,
        "error": cell.error,
    }


def _in_order(ask: Ask) -> list[Cell]:
    return [ask.recorded, *(cell for _, cell in sorted(ask.runs.items()))]


def _steps(asks: Sequence[Ask]) -> list[int]:
    return [cell.step for ask in asks for cell in ask.runs.values() if cell.step is not None]


def _opinion_words(opinion: CellOpinion) -> str:
    if opinion.relation is None:
        return f"judge {opinion.state} ({opinion.model})"
    return f"{opinion.relation}, {opinion.preference or 'unknown'} ({opinion.model})"


def _line(values: Sequence[Any]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow([_harmless(value) for value in values])
    return out.getvalue()


def _harmless(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in _BEGIN_FORMULAS:
        return f"'{value}"
    return value
