"""Steps that were taken: read together with what was recorded for them, and done one by one."""

import logging
from collections.abc import Callable, Collection
from datetime import timedelta
from typing import Final

from django.db import Error, connection

from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import TimeMachineError
from timemachine.llm.pure.cancellation import Listening, RetryWait, ignore
from timemachine.llm.queries import ModelLookup
from timemachine.replay.runs import commands, frozen, spend_limit, steps
from timemachine.replay.runs.cancellation import cancellable
from timemachine.replay.runs.leases import StepLease
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.outcome import Outcome

log = logging.getLogger(__name__)

MOST_HELD: Final = 4_000_000
"""How many characters of passages, found or frozen, are held for several steps."""
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
_OF_PAYLOAD: Final = ("data", "media_type")
_NEEDED: Final = (
    "replay",
    "sequence",
    "provider",
    *(f"action__{name}" for name in _OF_ACTION),
    *(f"action__{side}__{name}" for side in ("input", "output") for name in _OF_PAYLOAD),
)
"""What doing a step looks at; to read all other columns too takes twice as long."""


def read(replay: Replay, steps_taken: Collection[int]) -> dict[int, ReplayStep]:
    """These steps by their ids, without those that were erased meanwhile."""
    found = ReplayStep.objects.select_related("action__input", "action__output").only(*_NEEDED)
    rows = list(found.filter(id__in=steps_taken))
    for step in rows:
        step.replay, step.action.session = replay, replay.session
    actions = [step.action for step in rows]
    if len(actions) > 1 and frozen.size_of_hits(actions) <= MOST_HELD:
        frozen.read_hits(actions)
    return {step.id: step for step in rows}


def next_to_call(replay: Replay, most: int) -> list[int]:
    """The steps that are likely to be taken next of those that call a model."""
    waiting = ReplayStep.objects.filter(replay=replay, status="waiting", provider__isnull=False)
    return list(waiting.order_by("sequence").values_list("id", flat=True)[:most])


def outcome_of(
    step: ReplayStep, lease: StepLease, reach: ModelLookup, after_call: Callable[[], None] = ignore
) -> Outcome:
    """What the step comes to; a failure is one outcome. Raises `LeaseLost`.

    `after_call` hears that the model was called, before anything is made of its answer. A fault of our own is a failure like another:
    the step would come to the same again, and each time its call be paid for.
    """
    called = 0

    def over() -> None:
        nonlocal called
        called = int(step.provider is not None)
        after_call()

    listening = Listening(on_wait=lambda waiting: _note(lease, waiting), on_finished=over)
    try:
        with cancellable(lease.replay_id, listening):
            return steps.do(
                step,
                reach,
                before_call=lambda cost: spend_limit.intend_call(lease, step.replay, cost),
                listening=listening,
            )
    except TimeMachineError as failed:
        return Outcome(status="failed", verdict="error", error_type=failed.code, error_message=failed.message)
    except FAULTS as fault:
        log.exception("step %s could not be worked on", lease.pk)
        return _faulty(fault, called)


def _faulty(fault: Exception, called: int) -> Outcome:
    answer = " What the model answered is lost, and may have been billed." if called else ""
    return Outcome(
        status="failed",
        verdict="error",
        error_type="internal_error",
        error_message=f"A fault of this product ({type(fault).__name__}); the worker's log has the rest.{answer} Please report it.",
        calls_made=called,
    )


def _note(lease: StepLease, waiting: RetryWait) -> None:
    """Write down that the model is busy, for those who watch."""
    again = now() + timedelta(seconds=waiting.seconds)
    try:
        lease.held().update(asked_again_at=again, waits_because=waiting.why)
        commands.bump(lease.replay_id)
    except Error as why:  # the wait is not shown then; the call continues
        log.warning("step %s could not say that it waits: %s", lease.pk, why)
        connection.close()


def renew_connection() -> None:
    """Have another connection where this thread's is broken: the database was restarted, and what was paid for has to be written."""
    if not connection.in_atomic_block and not connection.is_usable():
        connection.close()
