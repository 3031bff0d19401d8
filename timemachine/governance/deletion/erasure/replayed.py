"""What replays keep of a session's steps: new answers that repeat the recorded one, passages found anew, verdicts that quote both."""

from collections.abc import Mapping
from typing import Any, Final

from timemachine.core.payloads import queries as payloads
from timemachine.governance.deletion.erasure.before_after import Look
from timemachine.governance.deletion.erasure.rewriting import Rewritten, kept, rewrite_hits, shaped
from timemachine.recording.sessions.models import Session
from timemachine.recording.timeline.schemas.actions import HitOut
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayStep
from timemachine.text.redaction.pure.marks import FIELD, erased
from timemachine.text.redaction.pure.rules import Rules, read_rules

AT_ONCE: Final = 100
_TEXTS: Final = ("provider", "waits_because", "error_type", "error_message")
_VALUES: Final = ("frames", "retrieval")
_OF_EVIDENCE: Final = ("not_asked", "cut_off")


def rewrite_replays(session: Session, look: Look, recorded: Rewritten) -> tuple[Rewritten, set[int]]:
    """Rewrite the steps of every replay of the session; what became of them, and the rows of those that changed."""
    made, rows = Rewritten(), set[int]()
    steps = ReplayStep.objects.filter(replay__session=session).select_related("output").order_by("id")
    for step in steps.prefetch_related("hits__payload").iterator(chunk_size=AT_ONCE):
        if _rewrite_step(session, look, step, recorded, made):
            rows.add(step.id)
            made.sequences.add(step.sequence)
    for attempt in ReplayAttempt.objects.filter(
        step__replay__session=session, error_message__isnull=False
    ).iterator(AT_ONCE):
        if (said := look.value(attempt.error_message, made.tally)) != attempt.error_message:
            ReplayAttempt.objects.filter(pk=attempt.pk).update(error_message=said)
            rows.add(attempt.step_id)
    return made, rows


def rewrite_launches(session: Session, look: Look) -> int:
    """What replays were launched with: their options, reasons and model; how many say something else now."""
    changed = 0
    for replay in Replay.objects.filter(session=session):
        columns = {name: look.value(getattr(replay, name)) for name in ("options", "reason", "model")}
        told = {name: value for name, value in columns.items() if value != getattr(replay, name)}
        if told:
            Replay.objects.filter(pk=replay.pk).update(**told)
            changed += 1
    return changed


def _rewrite_step(
    session: Session, look: Look, step: ReplayStep, recorded: Rewritten, made: Rewritten
) -> bool:
    hits = list(step.hits.all())
    before = _document(step, hits)
    rules = _same_fields(look, step)
    seen = look.document(before, rules)
    made.tally.update(seen.tally)
    columns: dict[str, Any] = {}
    if "output" in seen.fields and step.output is not None:
        made.left.add(step.output.id)
        look.hashes.add(step.output.sha256)
        columns["output_id"] = kept(session, seen.after["output"])
    columns |= {name: shaped(seen.after[name]) for name in ("grounding", "parameters", "prices")}
    columns["model"] = seen.after["model"]
    if "retrieval" in seen.fields:
        after = seen.after["retrieval"]
        found = after.get("hits") if isinstance(after, Mapping) else None
        rewrite_hits(session, look, hits, before["retrieval"]["hits"], found, made)
    columns |= {name: look.value(getattr(step, name), made.tally) for name in (*_TEXTS, *_VALUES)}
    columns["evidence"] = _evidence(look, step, bool(seen.fields) or step.sequence in recorded.sequences)
    changed = {name: value for name, value in columns.items() if value != getattr(step, name)}
    if changed:
        ReplayStep.objects.filter(pk=step.pk).update(**changed)
    return bool(changed) or bool(seen.fields)


def _same_fields(look: Look, step: ReplayStep) -> Rules:
    """The rules for a replayed step; an answer with the very bytes of one that was erased whole goes whole."""
    again = ["output"] if step.output_id is not None and step.output_id in look.payloads else []
    if look.chosen.looks_everywhere and look.chosen.takes(step.sequence):
        return look.chosen.within(again)
    return read_rules({"fields": again}) if again else Rules()


def _document(step: ReplayStep, hits: list[Any]) -> dict[str, Any]:
    """What came of the step in the form of a recorded one, so that the same rules hold for it."""
    return {
        "output": payloads.value(step.output),
        "model": step.model,
        "parameters": step.parameters,
        "grounding": step.grounding,
        "prices": step.prices,
        "retrieval": {"hits": [HitOut.of(hit).model_dump() for hit in hits]},
    }


def _evidence(look: Look, step: ReplayStep, touched: bool) -> Any:
    """What the verdict rests on, without what it quotes where something of either side is gone."""
    if step.evidence is None or not touched:
        return look.value(step.evidence)
    kept_of = {
        name: look.value(value)
        for name, value in step.evidence.items()
        if name in _OF_EVIDENCE or isinstance(value, bool | int | float)
    }
    return kept_of if len(kept_of) == len(step.evidence) else kept_of | {"withheld": erased(FIELD)}
