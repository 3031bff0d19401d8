"""Writing the results of steps, each once and under its lease. Calls are accounted for in any case."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Final, cast

from django.db import connection
from django.db.models import Field

from timemachine.core.leases import briefly
from timemachine.core.payloads.commands import store
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import Content, content_of
from timemachine.knowledge.find import FrameHit
from timemachine.recording.answering.model_asks import Answered
from timemachine.recording.sessions.locks import lock_against_erasure
from timemachine.replay.runs import commands
from timemachine.replay.runs.leases import StepLease
from timemachine.replay.runs.models import ReplayHit, ReplayStep
from timemachine.replay.runs.outcomes import Outcome
from timemachine.replay.runs.trials import NamedPassage

USAGE: Final = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
_ACCOUNT: Final = """
UPDATE tm_replay_attempt SET finished_at = %s, calls_made = %s, cost_usd = %s,
    outcome = coalesce(%s, outcome), error_message = coalesce(%s, error_message)
WHERE id = %s
"""
_FIELD: Final[Callable[[str], Field[Any, Any]]] = cast("Any", ReplayStep._meta.get_field)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The outcome of a step, and the lease to write it with."""

    lease: StepLease
    step: ReplayStep
    outcome: Outcome


def write(results: Sequence[Result]) -> int:
    """Write the results of one replay whose leases are still valid, and return how many. Calls are accounted for in any case."""
    if not results:
        return 0
    with briefly():
        # An erasure either sees the payloads that are stored here, or has deleted the steps.
        lock_against_erasure([results[0].step.replay.session_id])
        written = _still_leased(results)
        payload_ids = _store_payloads(written)
        _write_steps(written, payload_ids)
        for result in written:
            _write_hits(result, payload_ids)
        _account(results, {result.lease.attempt_id for result in written})
        commands.bump(results[0].lease.replay_id)
    return len(written)


def _still_leased(results: Sequence[Result]) -> list[Result]:
    """Return the results whose lease is still valid, and lock their steps until the transaction ends. Late results change nothing."""
    ids = [result.lease.pk for result in results]
    locked = ReplayStep.objects.filter(id__in=ids, status="running").select_for_update().order_by("id")
    holders = dict(locked.values_list("id", "lease_token"))
    return [result for result in results if holders.get(result.lease.pk) == result.lease.token]


def _write_steps(results: Sequence[Result], payload_ids: Mapping[Content, int]) -> None:
    """Write all steps with the same columns in one statement. The ORM would build the statement again for every step."""
    alike: dict[tuple[str, ...], list[list[Any]]] = defaultdict(list)
    for result in results:
        columns = _columns(result.outcome, payload_ids)
        values = [_FIELD(name).get_db_prep_save(value, connection) for name, value in columns.items()]
        alike[tuple(columns)].append([*values, result.lease.pk])
    with connection.cursor() as cursor:
        for names, rows in alike.items():
            assigned = ", ".join(f"{_FIELD(name).column} = %s" for name in names)
            cursor.executemany(f"UPDATE tm_replay_step SET {assigned} WHERE id = %s", rows)  # noqa: S608  # column names from the model


def _account(results: Sequence[Result], written: AbstractSet[int]) -> None:
    """Update the attempts: calls and cost are stored even if the lease has expired and the result is not written."""
    rows = []
    for result in results:
        outcome, attempt = result.outcome, result.lease.attempt_id
        cost = outcome.answered.cost_usd if outcome.answered else outcome.failed_cost_usd
        status = message = None
        if attempt in written:
            status = outcome.status if outcome.status in ("failed", "cancelled") else "done"
            message = outcome.error_message
        rows.append((now(), outcome.calls_made, cost, status, message, attempt))
    with connection.cursor() as cursor:
        cursor.executemany(_ACCOUNT, rows)


def _columns(outcome: Outcome, payload_ids: Mapping[Content, int]) -> dict[str, object]:
    answered = outcome.answered
    columns: dict[str, object] = {
        "status": outcome.status,
        "context": outcome.context,
        "frames": None if outcome.frames is None else [each.model_dump() for each in outcome.frames],
        "retrieval": outcome.retrieval and outcome.retrieval.model_dump(),
        "verdict": outcome.verdict,
        "evidence": outcome.evidence,
        "error_type": outcome.error_type,
        "error_message": outcome.error_message,
        "output": payload_ids[content_of(answered.output)] if answered else None,
        "lease_token": None,
        "lease_until": None,
        "finished_at": now(),
        "asked_again_at": None,
        "waits_because": None,
    }
    return columns if answered is None else columns | _answered(answered)


def _answered(answered: Answered) -> dict[str, object]:
    usage = answered.usage
    return {
        "model": answered.model,
        "parameters": answered.parameters,
        "duration_ms": answered.duration_ms,
        "cost_usd": answered.cost_usd,
        "prices": answered.prices,
        "grounding": answered.grounding,
        **{name: getattr(usage, name) if usage else None for name in USAGE},
    }


def _store_payloads(results: Sequence[Result]) -> dict[Content, int]:
    """Store the texts of all answers and found passages."""
    contents = [content_of(result.outcome.answered.output) for result in results if result.outcome.answered]
    contents += [content_of(hit.text) for result in results for hit in result.outcome.found]
    return store(results[0].step.replay.project_id, contents) if contents else {}


def _write_hits(result: Result, payload_ids: Mapping[Content, int]) -> None:
    if result.lease.number > 1:
        result.step.hits.all().delete()
    ReplayHit.objects.bulk_create(
        _hit(result.step, hit, payload_ids[content_of(hit.text)]) for hit in result.outcome.found
    )


def _hit(step: ReplayStep, hit: FrameHit | NamedPassage, payload_id: int) -> ReplayHit:
    return ReplayHit(
        step=step,
        rank=hit.rank,
        score=hit.score,
        scores=hit.scores,
        matched=hit.matched.as_json(),
        frame=hit.frame,
        version=hit.version,
        title=hit.title,
        uri=hit.uri,
        metadata=hit.metadata,
        sha256=hit.sha256,
        payload_id=payload_id,
        stored_frame_id=hit.stored_frame,
    )
