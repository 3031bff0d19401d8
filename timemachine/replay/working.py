"""Working on a replay: its steps are taken, done and written, each under its lease."""

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from threading import BoundedSemaphore
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, connections, transaction

from timemachine.base.clock import now
from timemachine.base.content import Content, content_of
from timemachine.base.errors import TimeMachineError
from timemachine.payloads.commands import keep
from timemachine.providers.places import let_go
from timemachine.replay import commands, frozen, leases, steps
from timemachine.replay.choosing import Chosen
from timemachine.replay.leases import Keeper, Lease, LeaseLost
from timemachine.replay.models import Replay, ReplayAttempt, ReplayHit, ReplayStep
from timemachine.replay.outcome import Outcome
from timemachine.retrieval.finding import Found

USAGE = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)

MOST_HELD = 4_000_000
"""How many characters of passages, found or frozen, are held for several steps."""
PAUSE, PATIENCE = 0.1, 5.0
"""How long it is waited at first before a place at a provider is looked for again, and how long in all; then the sweeper rings again. In seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a step came to, and the right to write it."""

    lease: Lease
    step: ReplayStep
    outcome: Outcome

    @property
    def weight(self) -> int:
        """How many characters of found passages it holds."""
        return sum(len(hit.text) for hit in self.outcome.found)


def work(replay_id: UUID, worker: str) -> int:
    """Do the steps of a replay until none is left to take; returns how many this worker wrote.

    Steps that call a model run side by side, each in a thread of its own. Safe to run twice, at the same time, and to be
    killed at any point: a step is written once, under its lease.
    """
    if not commands.begin(replay_id):
        return 0
    replay = Replay.objects.select_related("session__collection").get(id=replay_id)
    with leases.keeper() as keeper:
        hand = Hand(replay=replay, worker=worker, keeper=keeper)
        written = hand.do_all(calls=False)
        if calls := leases.open_steps(replay_id, calls=True):
            with _helpers(calls - 1) as helpers, ThreadPoolExecutor(helpers + 1) as threads:
                apart = [threads.submit(hand.do_all_apart) for _ in range(helpers)]
                written += hand.do_all(calls=True)
                written += sum(each.result() for each in apart)
    commands.finish_if_over(replay_id)
    return written


@contextmanager
def _helpers(wanted: int) -> Iterator[int]:
    """How many further threads may make calls for a replay: no more in this process than calls of one provider may be under way."""
    places = _places()
    taken = sum(places.acquire(blocking=False) for _ in range(min(wanted, settings.MODEL_CALLS_AT_ONCE - 1)))
    try:
        yield taken
    finally:
        for _ in range(taken):
            places.release()


@cache
def _places() -> BoundedSemaphore:
    return BoundedSemaphore(max(1, settings.MODEL_CALLS_AT_ONCE - 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Hand:
    """One worker at one replay."""

    replay: Replay
    worker: str
    keeper: Keeper

    def do_all(self, *, calls: bool) -> int:
        """Take and do steps until none is left, or others keep all the places at a provider; how many were written."""
        written, pause, until = 0, PAUSE, time.monotonic() + PATIENCE
        while time.monotonic() < until:
            taken = leases.claim(self.replay.id, self.worker, calls=calls)
            if taken:
                with self.keeper.keeping(taken[0].token):
                    written += _do(self.replay, taken)
                pause, until = PAUSE, time.monotonic() + PATIENCE
            elif leases.open_steps(self.replay.id, calls=calls):
                let_go()
                time.sleep(pause)
                pause *= 1.5
            else:
                break
        return written

    def do_all_apart(self) -> int:
        """The same in a thread of its own, for steps that call."""
        try:
            return self.do_all(calls=True)
        finally:
            connections.close_all()


def _do(replay: Replay, taken: Sequence[Lease]) -> int:
    done: list[Result] = []
    written = 0
    steps = _steps(replay, taken)
    try:
        for at, lease in enumerate(taken):
            if at and commands.is_cancelled(lease.replay_id):
                leases.give_back(taken[at:])
                break
            if lease.step_id in steps:
                step = steps.pop(lease.step_id)
                with contextlib.suppress(LeaseLost):
                    done.append(Result(lease=lease, step=step, outcome=_outcome(step, lease)))
            if sum(result.weight for result in done) > MOST_HELD:
                written += write(done)
                done.clear()
    finally:  # what is done is done, whatever becomes of the next step
        written += write(done)
    return written


def _steps(replay: Replay, taken: Sequence[Lease]) -> dict[int, ReplayStep]:
    ids = [lease.step_id for lease in taken]
    found = ReplayStep.objects.select_related("action__input", "action__output")
    steps_taken = list(found.filter(id__in=ids))
    for step in steps_taken:
        step.replay, step.action.session = replay, replay.session
    actions = [step.action for step in steps_taken]
    if frozen.size_of_hits(actions) <= MOST_HELD:
        frozen.read_hits(actions)
    return {step.id: step for step in steps_taken}


def _outcome(step: ReplayStep, lease: Lease) -> Outcome:
    try:
        outcome = steps.do(step, before_call=lambda: leases.intend_call(lease))
    except TimeMachineError as failed:
        outcome = Outcome(
            status="failed", verdict="error", error_type=failed.code, error_message=failed.message
        )
    if step.provider and not connection.in_atomic_block and not connection.is_usable():
        connection.close()  # the database was restarted meanwhile, and what was paid for has to be written
    return outcome


def write(results: Sequence[Result]) -> int:
    """Write what steps of one replay came to where their leases still hold, and how many did; what was called is accounted for either way."""
    if not results:
        return 0
    with transaction.atomic():
        ids = [result.lease.step_id for result in results]
        list(ReplayStep.objects.filter(id__in=ids).select_for_update().order_by("id").values_list("id"))
        kept = _kept(results)
        written = [result for result in results if _write_step(result, kept)]
        for result in written:
            _write_hits(result, kept)
        _account(results, {result.lease.attempt_id for result in written})
        commands.bump(results[0].lease.replay_id)
    return len(written)


def _write_step(result: Result, kept: Mapping[Content, int]) -> bool:
    outcome = result.outcome
    answered = outcome.answered
    columns = _columns(outcome) | {
        "output_id": kept[content_of(answered.text)] if answered else None,
        "lease_token": None,
        "lease_until": None,
        "finished_at": now(),
    }
    return bool(leases.held(result.lease).update(**columns))


def _account(results: Sequence[Result], written: AbstractSet[int]) -> None:
    """The attempts' own rows: calls and cost stand even where a slept-over lease keeps the result out."""
    alike: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for result in results:
        outcome, attempt = result.outcome, result.lease.attempt_id
        cost = outcome.answered.cost_usd if outcome.answered else outcome.failed_cost_usd
        said = None
        if attempt in written:
            said = "failed" if outcome.status == "failed" else "done"
        alike[outcome.calls_made, cost, said, outcome.error_message].append(attempt)
    for (calls, cost, said, message), attempts in alike.items():
        facts = {"finished_at": now(), "calls_made": calls, "cost_usd": cost}
        if said:
            facts |= {"outcome": said, "error_message": message}
        ReplayAttempt.objects.filter(id__in=attempts).update(**facts)


def _columns(outcome: Outcome) -> dict[str, Any]:
    answered = outcome.answered
    columns: dict[str, Any] = {
        "status": outcome.status,
        "context": outcome.context,
        "frames": outcome.frames,
        "retrieval": outcome.retrieval,
        "verdict": outcome.verdict,
        "evidence": outcome.evidence,
        "error_type": outcome.error_type,
        "error_message": outcome.error_message,
    }
    if answered is None:
        return columns
    usage = answered.usage
    return columns | {
        "model": answered.model,
        "parameters": answered.parameters,
        "duration_ms": answered.duration_ms,
        "cost_usd": answered.cost_usd,
        "prices": answered.prices,
        "grounding": answered.grounding,
        **{name: getattr(usage, name) if usage else None for name in USAGE},
    }


def _kept(results: Sequence[Result]) -> dict[Content, int]:
    """The payloads of all that was answered and found."""
    contents = [content_of(result.outcome.answered.text) for result in results if result.outcome.answered]
    contents += [content_of(hit.text) for result in results for hit in result.outcome.found]
    return keep(results[0].step.replay.project_id, contents) if contents else {}


def _write_hits(result: Result, kept: Mapping[Content, int]) -> None:
    if result.lease.number > 1:
        result.step.hits.all().delete()
    ReplayHit.objects.bulk_create(
        _hit(result.step, hit, kept[content_of(hit.text)]) for hit in result.outcome.found
    )


def _hit(step: ReplayStep, hit: Found | Chosen, payload_id: int) -> ReplayHit:
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
