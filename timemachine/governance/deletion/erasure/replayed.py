"""What replays store of a session's steps: repeated answers and passages, verdicts that quote them."""

from collections.abc import Mapping
from typing import Any, Final

from timemachine.core.payloads import queries as payloads
from timemachine.core.pure.json_types import JsonObject
from timemachine.governance.deletion.erasure.before_after import Scan
from timemachine.governance.deletion.erasure.rewriting import (
    Rewritten,
    as_object,
    rewrite_hits,
    stored_payload,
)
from timemachine.recording.sessions.models import Session
from timemachine.recording.timeline.schemas.actions import HitOut
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayStep
from timemachine.text.redaction.pure.marks import FIELD, erased
from timemachine.text.redaction.pure.rules import Rules, read_rules

BATCH: Final = 100
_TEXTS: Final = ("provider", "waits_because", "error_type", "error_message")
_VALUES: Final = ("frames", "retrieval")
_OF_EVIDENCE: Final = ("not_asked", "cut_off")


def rewrite_replays(session: Session, scan: Scan, recorded: Rewritten) -> tuple[Rewritten, set[int]]:
    """Rewrite the steps of every replay of the session; return what changed, and the ids of the changed rows."""
    made, rows = Rewritten(), set[int]()
    steps = ReplayStep.objects.filter(replay__session=session).select_related("output").order_by("id")
    for step in steps.prefetch_related("hits__payload").iterator(chunk_size=BATCH):
        if _rewrite_step(session, scan, step, recorded, made):
            rows.add(step.id)
            made.sequences.add(step.sequence)
    for attempt in ReplayAttempt.objects.filter(
        step__replay__session=session, error_message__isnull=False
    ).iterator(BATCH):
        if (redacted := scan.value(attempt.error_message, made.tally)) != attempt.error_message:
            ReplayAttempt.objects.filter(pk=attempt.pk).update(error_message=redacted)
            rows.add(attempt.step_id)
    return made, rows


def rewrite_launches(session: Session, scan: Scan) -> int:
    """Rewrite the options, reasons and models that replays were launched with; return how many changed."""
    changed = 0
    for replay in Replay.objects.filter(session=session):
        columns = {name: scan.value(getattr(replay, name)) for name in ("options", "reason", "model")}
        changed_columns = {name: value for name, value in columns.items() if value != getattr(replay, name)}
        if changed_columns:
            Replay.objects.filter(pk=replay.pk).update(**changed_columns)
            changed += 1
    return changed


def _rewrite_step(
    session: Session, scan: Scan, step: ReplayStep, recorded: Rewritten, made: Rewritten
) -> bool:
    hits = list(step.hits.all())
    before = _document(step, hits)
    rules = _same_fields(scan, step)
    seen = scan.document(before, rules)
    made.tally.update(seen.tally)
    columns: dict[str, object] = {}
    if "output" in seen.fields and step.output is not None:
        made.released.add(step.output.id)
        scan.hashes.add(step.output.sha256)
        columns["output_id"] = stored_payload(session, seen.after["output"])
    columns |= {name: as_object(seen.after[name]) for name in ("grounding", "parameters", "prices")}
    columns["model"] = seen.after["model"]
    if "retrieval" in seen.fields:
        after = seen.after["retrieval"]
        found = after.get("hits") if isinstance(after, Mapping) else None
        rewrite_hits(session, scan, hits, before["retrieval"]["hits"], found, made)
    columns |= {name: scan.value(getattr(step, name), made.tally) for name in (*_TEXTS, *_VALUES)}
    columns["evidence"] = _evidence(scan, step, bool(seen.fields) or step.sequence in recorded.sequences)
    changed = {name: value for name, value in columns.items() if value != getattr(step, name)}
    if changed:
        ReplayStep.objects.filter(pk=step.pk).update(**changed)
    return bool(changed) or bool(seen.fields)


def _same_fields(scan: Scan, step: ReplayStep) -> Rules:
    """Return the rules for a replayed step. An answer with the bytes of an erased one is erased, too."""
    repeated = ["output"] if step.output_id is not None and step.output_id in scan.payloads else []
    if scan.chosen.looks_everywhere and scan.chosen.takes(step.sequence):
        return scan.chosen.within(repeated)
    return read_rules({"fields": repeated}) if repeated else Rules()


def _document(step: ReplayStep, hits: list[Any]) -> JsonObject:
    """Return the step's result in the form of a recorded one, so that the same rules apply."""
    return {
        "output": payloads.value(step.output),
        "model": step.model,
        "parameters": step.parameters,
        "grounding": step.grounding,
        "prices": step.prices,
        "retrieval": {"hits": [HitOut.of(hit).model_dump() for hit in hits]},
    }


def _evidence(scan: Scan, step: ReplayStep, touched: bool) -> Any:
    """Return what the verdict is based on, without its quotes if something of either answer was erased."""
    if step.evidence is None or not touched:
        return scan.value(step.evidence)
    remaining = {
        name: scan.value(value)
        for name, value in step.evidence.items()
        if name in _OF_EVIDENCE or isinstance(value, bool | int | float)
    }
    return remaining if len(remaining) == len(step.evidence) else remaining | {"withheld": erased(FIELD)}
