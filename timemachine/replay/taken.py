"""Steps that were taken: read together with what was recorded for them, and done one by one."""

import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from django.db import Error, connection

from timemachine.base.clock import now
from timemachine.base.errors import TimeMachineError
from timemachine.providers.listening import Waiting
from timemachine.replay import commands, frozen, leases, spending, steps
from timemachine.replay.cancelling import cancellable
from timemachine.replay.leases import Lease
from timemachine.replay.models import Replay, ReplayStep
from timemachine.replay.outcome import Outcome

log = logging.getLogger(__name__)

MOST_HELD: Final = 4_000_000
"""How many characters of passages, found or frozen, are held for several steps."""
_WRITTEN_LATER: Final = ("frames", "retrieval", "evidence", "parameters", "prices", "grounding")


def read(replay: Replay, taken: Sequence[Lease]) -> dict[int, ReplayStep]:
    """The steps of these leases by their ids, without those that were erased meanwhile."""
    found = ReplayStep.objects.select_related("action__input", "action__output").defer(*_WRITTEN_LATER)
    steps_taken = list(found.filter(id__in=[lease.step_id for lease in taken]))
    for step in steps_taken:
        step.replay, step.action.session = replay, replay.session
    actions = [step.action for step in steps_taken]
    if len(actions) > 1 and frozen.size_of_hits(actions) <= MOST_HELD:
        frozen.read_hits(actions)
    return {step.id: step for step in steps_taken}


def outcome_of(step: ReplayStep, lease: Lease) -> Outcome:
    """What the step comes to; a failure is one outcome. Raises `LeaseLost`."""
    try:
        with cancellable(lease.replay_id, lambda waiting: _note(lease, waiting)) as listening:
            return steps.do(
                step,
                before_call=lambda cost: spending.intend_call(lease, step.replay, cost),
                listening=listening,
            )
    except TimeMachineError as failed:
        return Outcome(status="failed", verdict="error", error_type=failed.code, error_message=failed.message)


def _note(lease: Lease, waiting: Waiting) -> None:
    """Write down that the model is busy, for those who watch."""
    again = now() + timedelta(seconds=waiting.seconds)
    try:
        leases.held(lease).update(asked_again_at=again, waits_because=waiting.why)
        commands.bump(lease.replay_id)
    except Error as why:  # nobody sees it wait then; the call goes on all the same
        log.warning("step %s could not say that it waits: %s", lease.step_id, why)
        connection.close()


def renew_connection() -> None:
    """Have another connection where this thread's is broken: the database was restarted, and what was paid for has to be written."""
    if not connection.in_atomic_block and not connection.is_usable():
        connection.close()
