"""The steps of a run for comparison: a few queries for any number of them, and only the beginning of each payload.

The exception is a long answer recorded in an object: it can be read only from the complete payload.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from django.db.models import BooleanField, ExpressionWrapper, F, Q, QuerySet
from django.db.models.expressions import Combinable

from timemachine.core.payloads.models import Payload
from timemachine.core.payloads.queries import text_of
from timemachine.core.payloads.stored import bytes_of
from timemachine.core.pure.content import sha256_hex, text_sha256
from timemachine.core.pure.errors import TooLarge
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.queries import HAPPENED_HERE, UNKNOWN_COST
from timemachine.replay.alignment.runs import Run, RunStep, frame_key
from timemachine.replay.runs.frozen import answer_in
from timemachine.replay.runs.models import Replay, ReplayHit, ReplayStep
from timemachine.replay.runs.pure.engine import REPLAYED_KINDS, uses_own_passages
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.text.pure.difference.json import comparable
from timemachine.text.pure.difference.steps import StepFacts

# The maximum number of steps of a run that are compared. 20,000 by 20,000 take some seconds.
MOST_STEPS: Final = 20_000
# Bytes of a payload that are read, to find similar steps and to compare JSON by its values.
HEAD_BYTES: Final = 1_500
PARTS: Final = ("sha256", "media_type", "size", "head")
_READ_AT_ONCE: Final = 50
_SPENT: Final = ("duration_ms", "input_tokens", "output_tokens", "cost_usd")
_DONE: Final = ("kind", "tool", "role", "name", "label")
_CAME: Final = ("model", "error_type", "error_message")
_RELATED: Final = ("client_id", "parent_sequence", "parent_id_given")
_UNKNOWN: Final = ExpressionWrapper(UNKNOWN_COST, output_field=BooleanField())
_COPIED: Final = ExpressionWrapper(~HAPPENED_HERE, output_field=BooleanField())
_UNKNOWN_NOW: Final = ExpressionWrapper(Q(model__isnull=False, cost_usd=None), output_field=BooleanField())

type Row = dict[str, Any]
"""The columns of a step, by the names under which they were read."""
type Frames = Mapping[int, tuple[str, ...]]
_HAS_PASSAGES: Final = ExpressionWrapper(Q(retrieval__isnull=False), output_field=BooleanField())


def steps_of(run: Run, *, only_replayed: bool) -> list[RunStep]:
    """Return the steps of a run in order; with `only_replayed`, only those of a session that a replay repeats as own steps.

    A replay has the steps that it finished, including those skipped because of its spend limit. Raises
    `TooLarge`.
    """
    if run.replay is not None:
        return _replayed_steps(run.replay)
    rows = _recorded_rows(run.session, only_replayed=only_replayed)
    frames = _recorded_frames(run.session, rows)
    inside = _within_asks(rows) if only_replayed else set()
    return [_step(row, frames.get(row["id"], ())) for row in rows if row["id"] not in inside]


def _within_asks(rows: Sequence[Row]) -> set[int]:
    """Return the finds inside an ask, which are replayed with it."""
    asks = {row["sequence"] for row in rows if row["kind"] == "ask"}
    names = {row["client_id"] for row in rows if row["kind"] == "ask"} - {None}
    return {row["id"] for row in rows if row["parent_sequence"] in asks or row["parent_id_given"] in names}


def _recorded_rows(session: Session, *, only_replayed: bool) -> list[Row]:
    actions = Action.objects.filter(session=session).order_by("sequence")
    if only_replayed:
        actions = actions.filter(kind__in=REPLAYED_KINDS)
    heads = _columns_of("input", "input") | _columns_of("output", "output")
    fields = ("id", "sequence", "output_id", *_DONE, *_CAME, *_SPENT, *_RELATED)
    more = {"unknown_cost": _UNKNOWN, "copied": _COPIED, **heads}
    rows = _rows(actions.annotate(**more), [*fields, *more])
    _read_long_answers([row for row in rows if row["kind"] == "ask"])
    return rows


def _read_long_answers(asks: Sequence[Row]) -> None:
    """Add the identities of the answers inside JSON that is too long for `_identity`. Only a few payloads are read at a time."""
    in_json = [row for row in asks if row["output_media_type"] == "application/json"]
    rows = [row for row in in_json if row["output_size"] > HEAD_BYTES]
    if not rows:
        return
    payloads = Payload.objects.filter(id__in={row["output_id"] for row in rows}).values_list("id", bytes_of())
    found = {name: _answer_identity(data) for name, data in payloads.iterator(chunk_size=_READ_AT_ONCE)}
    for row in rows:
        row["output_answer"] = found[row["output_id"]]


def _replayed_steps(replay: Replay) -> list[RunStep]:
    done = ReplayStep.objects.filter(replay=replay, status__in=("done", "failed", "skipped")).order_by(
        "sequence"
    )
    heads = _columns_of("action__input", "input") | _columns_of("output", "output")
    fields = (
        "id",
        "action_id",
        "sequence",
        "kind",
        "status",
        *(f"action__{name}" for name in _DONE),
        *_CAME,
        *_SPENT,
    )
    more = {"unknown_cost": _UNKNOWN_NOW, "has_passages": _HAS_PASSAGES, **heads}
    rows = _rows(done.annotate(**more), [*fields, *more])
    found = _frames(ReplayHit.objects.filter(step__replay=replay), "step_id")
    recorded = _recorded_frames(replay.session, _recorded_rows(replay.session, only_replayed=True))
    options = ReplayOptions(**replay.options)
    return [
        _step(
            row | {name: row[f"action__{name}"] for name in _DONE},
            _frames_with(row, options, found, recorded),
            question=options.question,
            answered=row["model"] is not None or row["error_message"] is not None,
            not_asked="spend limit" if row["status"] == "skipped" else None,
        )
        for row in rows
    ]


def _frames_with(row: Row, options: ReplayOptions, found: Frames, recorded: Frames) -> tuple[str, ...] | None:
    """Return the passages of a replayed step, chosen as in `timemachine.replay.runs.queries.passages_of`."""
    if row["has_passages"]:
        return found.get(row["id"], ())
    if row["status"] == "failed" and uses_own_passages(row["kind"], options):
        return None
    return recorded.get(row["action_id"], ())


def _step(
    row: Row,
    frames: tuple[str, ...] | None,
    *,
    question: str | None = None,
    answered: bool = True,
    not_asked: str | None = None,
) -> RunStep:
    """Return the step of a row; `question` is the question that a trial used instead of the recorded one."""
    return RunStep(
        facts=StepFacts(
            sequence=row["sequence"],
            kind=row["kind"],
            tool=row["tool"],
            role=row["role"],
            name=row["name"],
            input=_identity(row, "input") if question is None else text_sha256(question),
            output=_identity(row, "output"),
            error=_error_of(row),
            model=row["model"],
            frames=frames,
            words=_beginning(row, "input", "output"),
            answered=answered,
        ),
        label=row["label"],
        unknown_cost=row["unknown_cost"],
        copied=row.get("copied", False),
        not_asked=not_asked,
        **{field: row[field] for field in _SPENT},
    )


def _rows(found: QuerySet[Any], fields: Sequence[str]) -> list[Row]:
    rows: list[Row] = list(found.values(*fields)[: MOST_STEPS + 1])
    if len(rows) > MOST_STEPS:
        raise TooLarge(
            f"One of the two has more than {MOST_STEPS:,} steps, which is too many to compare.",
            code="too_many_steps",
            limit=MOST_STEPS,
        )
    return rows


def _recorded_frames(session: Session, rows: Iterable[Row]) -> Frames:
    """Return the passages frozen with each action; an ask without its own has those of the finds inside it."""
    own = _frames(Hit.objects.filter(action__session=session), "action_id")
    inside: dict[object, tuple[str, ...]] = defaultdict(tuple)
    asks: list[Row] = []
    for row in rows:
        if row["kind"] == "ask" and row["id"] not in own:
            asks.append(row)
        elif row["kind"] == "find":
            above = row["parent_id_given"] if row["parent_id_given"] is not None else row["parent_sequence"]
            inside[above] += own.get(row["id"], ())
    return own | {row["id"]: _of_children(row, inside) for row in asks}


def _of_children(row: Row, inside: Mapping[object, tuple[str, ...]]) -> tuple[str, ...]:
    named = inside.get(row["client_id"], ()) if row["client_id"] is not None else ()
    return named or inside.get(row["sequence"], ())


def _frames(hits: QuerySet[Any], owner: str) -> dict[int, tuple[str, ...]]:
    found: dict[int, list[str]] = defaultdict(list)
    for of, frame, sha256 in hits.order_by(owner, "rank").values_list(owner, "frame", "sha256"):
        found[of].append(frame_key(frame, sha256))
    return {of: tuple(keys) for of, keys in found.items()}


def _columns_of(payload: str, prefix: str) -> dict[str, Combinable]:
    """Return the payload columns that `identity` and `beginning` need, with a prefix."""
    whole: dict[str, Combinable] = {part: F(f"{payload}__{part}") for part in PARTS[:3]}
    head = bytes_of(payload, HEAD_BYTES)
    return {f"{prefix}_{part}": column for part, column in {**whole, "head": head}.items()}


def _identity(row: Row, prefix: str) -> str | None:
    """Return what identifies a payload: its SHA-256, or that of its values for short JSON; None without a payload.

    An answer recorded in an object (`{"answer": …}`) equals one recorded as text. The identity of a long one
    is already in the row, as `output_answer`.
    """
    if row[f"{prefix}_sha256"] is None:
        return None
    if row.get(f"{prefix}_answer") is not None:
        return f"{row[f'{prefix}_answer']}"
    if row[f"{prefix}_media_type"] != "application/json" or row[f"{prefix}_size"] > HEAD_BYTES:
        return f"{row[f'{prefix}_sha256']}"
    head = row[f"{prefix}_head"]
    answer = _answer_identity(head) if prefix == "output" and row["kind"] == "ask" else None
    return answer or f"json {sha256_hex(comparable(json.loads(text_of(head))))}"


def _answer_identity(data: bytes | memoryview) -> str | None:
    """Return the identity of the answer in an object, as if it had been recorded as text; None for JSON without an answer."""
    found = json.loads(text_of(data))
    answer = answer_in(found) if isinstance(found, dict) else None
    return None if answer is None else text_sha256(answer)


def _beginning(row: Row, *prefixes: str) -> str:
    """Return the beginnings of the texts of some payloads."""
    heads = [row[f"{prefix}_head"] for prefix in prefixes]
    return " ".join(bytes(head).decode("utf-8", "replace") for head in heads if head is not None)


def _error_of(row: Row) -> str | None:
    """Return the recorded error as one text."""
    parts = [row["error_type"], row["error_message"]]
    return ": ".join(part for part in parts if part is not None) if any(parts) else None
