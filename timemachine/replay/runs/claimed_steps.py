"""Running claimed steps: they are read together with what was recorded, and run one by one."""

import logging
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Final

from django.db import Error, connection

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import TimeMachineError
from timemachine.llm.pure.cancellation import Listening, RetryWait, ignore
from timemachine.llm.queries import ModelLookup
from timemachine.replay.runs import commands, frozen, model_calls, spend_limit, steps
from timemachine.replay.runs.cancellation import cancellable
from timemachine.replay.runs.leases import StepLease
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.outcomes import Outcome

log = logging.getLogger(__name__)

MAX_CHARACTERS_HELD: Final = 4_000_000
"""The maximum number of characters of found or frozen passages that are held in memory for several steps."""
FAULTS: Final = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)
_OF_ACTION: Final = (
    "session",
    "sequence",
    "kind",
    "client_id",
    "copied_from",
    "agent",
    "model",
    "input",
    "output",
    "parameters",
    "retrieval",
    "error_type",
    "error_message",
    "recorded_at",
    "input_tokens",
    "output_tokens",
    "cached",
    "cached_from",
)
_OF_PAYLOAD: Final = ("stored", "size", "packed", "media_type")
_NEEDED: Final = (
    "replay",
    "sequence",
    "provider",
    *(f"action__{name}" for name in _OF_ACTION),
    *(f"action__{side}__{name}" for side in ("input", "output") for name in _OF_PAYLOAD),
)
"""The columns that running a step reads. Reading all columns takes twice as long."""


def load(replay: Replay, steps_taken: Collection[int]) -> dict[int, ReplayStep]:
    """Return these steps by id, without those that were erased in the meantime."""
    found = ReplayStep.objects.select_related("action__input", "action__output").only(*_NEEDED)
    rows = list(found.filter(id__in=steps_taken))
    for step in rows:
        step.replay, step.action.session = replay, replay.session
    actions = [step.action for step in rows]
    if len(actions) > 1 and frozen.size_of_hits(actions) <= MAX_CHARACTERS_HELD:
        frozen.read_hits(actions)
    model_calls.read_requests(rows)
    return {step.id: step for step in rows}


def next_to_call(replay: Replay, most: int) -> list[int]:
    """Return the ids of the steps that will probably be claimed next, of those that call a model."""
    waiting = ReplayStep.objects.filter(replay=replay, status="waiting", provider__isnull=False)
    return list(waiting.order_by("sequence").values_list("id", flat=True)[:most])


def outcome_of(
    step: ReplayStep,
    lease: StepLease,
    reach: ModelLookup,
    after_call: Callable[[], None] = ignore,
    run: Callable[..., Outcome] | None = None,
) -> Outcome:
    """Run a step, with `run` if it is given, and return its outcome; a failure is an outcome too.

    `after_call` runs after the model was called and before its answer is processed. An internal error is a
    failure like any other: running the step again would fail again, and each time the call would be billed.

    Raises: `LeaseLost`.
    """
    called = 0

    def call_ended() -> None:
        nonlocal called
        called = int(step.provider is not None)
        after_call()

    listening = Listening(on_wait=lambda waiting: _note_waiting(lease, waiting), on_finished=call_ended)
    try:
        with cancellable(lease.replay_id, listening):
            return (run or steps.run_step)(
                step,
                reach,
                before_call=lambda cost: spend_limit.intend_call(lease, step.replay, cost),
                listening=listening,
            )
    except TimeMachineError as failed:
        return Outcome(status="failed", verdict="error", error_type=failed.code, error_message=failed.message)
    except FAULTS as fault:
        log.exception("step %s failed with an internal error", lease.pk)
        return _internal_error(fault, called)


def _internal_error(fault: Exception, called: int) -> Outcome:
    answer = " The model's answer is lost, and the call may have been billed." if called else ""
    return Outcome(
        status="failed",
        verdict="error",
        error_type="internal_error",
        error_message=f"Internal error ({type(fault).__name__}). Details are in the worker's log.{answer} Please report it.",
        calls_made=called,
    )


def _note_waiting(lease: StepLease, waiting: RetryWait) -> None:
    """Store that the model is busy, so that pages can show it."""
    retry_at = now() + timedelta(seconds=waiting.seconds)
    try:
        lease.held().update(asked_again_at=retry_at, waits_because=waiting.why)
        commands.bump(lease.replay_id)
    except Error as why:  # the wait is not shown then; the call continues
        log.warning("cannot store that step %s waits: %s", lease.pk, why)
        connection.close()


def renew_connection() -> None:
    """Replace a broken database connection of this thread, for example after a restart: results that were paid for must be written."""
    if not connection.in_atomic_block and not connection.is_usable():
        connection.close()
