"""What a link withholds of a replayed step: both sides of it, and all that was computed from them."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Final

from timemachine.core.payloads import queries as payloads
from timemachine.governance.sharing.redactor import Veil
from timemachine.recording.sessions.models import Action, Hit
from timemachine.recording.timeline.document import action_json, hit_json
from timemachine.replay.comparison.models import CellMark, CellOpinion
from timemachine.replay.runs import frozen
from timemachine.replay.runs.models import Replay, ReplayHit, ReplayStep
from timemachine.text.redaction.pure.marks import FIELD, HASH, REPEATS, mark

_OF_EVIDENCE: Final = ("not_asked", "cut_off")


def listed(veil: Veil, step: ReplayStep) -> ReplayStep:
    """A step of a replay as a list shows it: its name, and what it came to."""
    if veil.rules is None:
        return step
    shown = _outside(veil, step)
    shown.action = veil.named(step.action)
    shown.evidence = _without_words(step.evidence, veil)
    shown.frames = veil.measured([{**each, "sha256": None} for each in step.frames or []])
    return shown


def side_by_side(veil: Veil, step: ReplayStep, replay: Replay) -> ReplayStep:
    """A step of a replay with what was recorded and what came of it. `replay` is the replay as the link shows it."""
    if veil.rules is None:
        return step
    hits = frozen.hits_of(step.action)
    recorded = _recorded(step.action, hits)
    again = list(step.hits.all())
    new = _new(step, recorded, again if step.retrieval is not None else hits)
    left, right = veil.document(recorded), veil.document(new)
    shown = _outside(veil, step)
    shown.replay = replay
    shown.action = _action(veil, step.action, hits, recorded, left)
    shown.output = veil.payload(step.output, new["output"], right["output"])
    for name in ("grounding", "parameters", "model", "prices"):
        setattr(shown, name, right[name])
    found = veil.hits(again, right) if step.retrieval is not None else []
    _remember(shown, "hits", _with_payloads(veil, again, found, new, right))
    withheld = {
        each.sha256
        for each, hit in zip(hits, veil.hits(hits, left), strict=True)
        if each.sha256 != hit.sha256
    }
    withheld |= {
        each.sha256 for each, hit in zip(again, found or again, strict=True) if each.sha256 != hit.sha256
    }
    retrieval = right["retrieval"]
    kept = (
        {name: value for name, value in retrieval.items() if name != "hits"}
        if isinstance(retrieval, Mapping)
        else None
    )
    shown.retrieval = None if step.retrieval is None else _without(kept, withheld)
    shown.frames = veil.measured(_without(step.frames, withheld))
    touched = left["output"] != recorded["output"] or right["output"] != new["output"]
    shown.evidence = _without_words(step.evidence, veil) if touched else veil.value(step.evidence)
    return shown


def mark_of(veil: Veil, said: CellMark) -> CellMark:
    """What a person says of an answer."""
    shown = copy(said)
    shown.note, shown.marked_by = veil.text(said.note), veil.text(said.marked_by)
    return shown


def opinion_of(veil: Veil, said: CellOpinion) -> CellOpinion:
    """What a judge says of an answer."""
    shown = copy(said)
    for name in ("model", "error_type", "error_message", "waits_because", "requested_by"):
        setattr(shown, name, veil.text(getattr(said, name)))
    shown.asked = veil.value(said.asked)
    return shown


def _outside(veil: Veil, step: ReplayStep) -> ReplayStep:
    """The step with what surrounds its answer redacted."""
    shown = copy(step)
    for name in ("model", "provider", "waits_because", "error_type", "error_message"):
        setattr(shown, name, veil.text(getattr(step, name)))
    attempts = [copy(each) for each in step.attempts.all()]
    for each in attempts:
        each.error_message = veil.text(each.error_message)
    _remember(shown, "attempts", attempts)
    return shown


def _recorded(action: Action, hits: Sequence[Hit]) -> dict[str, Any]:
    """The recorded step as a document, with the passages of the finds inside it where it has none of its own."""
    found = action_json(action)
    retrieval = found["retrieval"]
    return (
        found
        if not hits
        else found | {"retrieval": {**(retrieval or {}), "hits": [hit_json(hit) for hit in hits]}}
    )


def _new(step: ReplayStep, recorded: Mapping[str, Any], hits: Sequence[Hit | ReplayHit]) -> dict[str, Any]:
    """What came of it in the same form, so that the same rules hold for it."""
    return {
        "input": recorded["input"],
        "output": payloads.value(step.output),
        "model": step.model,
        "parameters": step.parameters,
        "grounding": step.grounding,
        "prices": step.prices,
        "retrieval": {**(step.retrieval or {}), "hits": [hit_json(hit) for hit in hits]},
    }


def _action(
    veil: Veil, action: Action, hits: Sequence[Hit], before: Mapping[str, Any], after: Mapping[str, Any]
) -> Action:
    shown = veil.action(action, after)
    shown.input = veil.payload(action.input, before["input"], after["input"])
    shown.output = veil.payload(action.output, before["output"], after["output"])
    _remember(shown, "hits", _with_payloads(veil, hits, veil.hits(hits, after), before, after))
    return shown


def _with_payloads(
    veil: Veil, hits: Sequence[Any], shown: Sequence[Any], before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[Any]:
    texts = zip(_texts(before, len(shown)), _texts(after, len(shown)), strict=True)
    for hit, copied, (was, now) in zip(hits, shown, texts, strict=False):
        copied.payload = veil.payload(hit.payload, was, now)
    return list(shown)


def _texts(document: Mapping[str, Any], number: int) -> list[Any]:
    retrieval = document["retrieval"]
    hits = retrieval.get("hits") if isinstance(retrieval, Mapping) else None
    if not isinstance(hits, list):
        return [mark(FIELD)] * number
    return [each.get("text") if isinstance(each, Mapping) else mark(FIELD) for each in hits][:number]


def _without(value: Any, hashes: set[str | None]) -> Any:
    """A value of ours in which these hashes stand no more."""
    if isinstance(value, str):
        return mark(HASH) if value in hashes else value
    if isinstance(value, list):
        return [_without(each, hashes) for each in value]
    if isinstance(value, Mapping):
        return {name: _without(each, hashes) for name, each in value.items()}
    return value


def _without_words(evidence: Mapping[str, Any] | None, veil: Veil) -> dict[str, Any] | None:
    """What a verdict rests on, without what it quotes: a part of what is withheld may be among it."""
    if evidence is None:
        return None
    kept = {
        name: veil.value(value)
        for name, value in evidence.items()
        if name in _OF_EVIDENCE or isinstance(value, bool | int | float)
    }
    return kept if len(kept) == len(evidence) else kept | {"withheld": mark(REPEATS)}


def _remember(row: Any, name: str, rows: list[Any]) -> None:
    """Have a row's related rows be these, so that the database is not asked for them."""
    read = {**getattr(row, "_prefetched_objects_cache", {}), name: _Fetched(rows)}
    row._prefetched_objects_cache = read  # noqa: SLF001  # where Django keeps what was read before


class _Fetched(list[Any]):
    """Rows that were read already, as Django's managers hand them out."""

    def all(self) -> list[Any]:
        """The rows."""
        return self
