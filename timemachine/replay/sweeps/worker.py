"""Working on a sweep: setting after setting is claimed, measured and written, each under its lease."""

import contextlib
from uuid import UUID

from timemachine.core.leases import Lease, LeaseLost
from timemachine.core.pure.errors import TimeMachineError
from timemachine.replay.sweeps import commands
from timemachine.replay.sweeps.measuring import measured
from timemachine.replay.sweeps.models import Sweep, SweepRow


def work(sweep_id: UUID) -> int:
    """Measure the settings of a sweep until none is left to claim; how many this worker wrote. Safe to run twice, and to be killed."""
    written = 0
    if not Sweep.objects.filter(id=sweep_id, finished_at=None).exists():
        return 0
    while (lease := commands.claim(sweep_id)) is not None:
        with contextlib.suppress(LeaseLost):
            _measure(lease)
            written += 1
    with contextlib.suppress(Sweep.DoesNotExist):  # erased meanwhile
        commands.finish_if_over(sweep_id)
    return written


def _measure(lease: Lease[SweepRow]) -> None:
    """The lease is prolonged before each step, which is a few finds at most, and lost where the sweep was cancelled."""
    row = SweepRow.objects.select_related("sweep").filter(id=lease.pk).first()
    if row is None:
        raise LeaseLost
    try:
        result = measured(row, go_on=lease.write)
    except TimeMachineError as failed:
        commands.write(lease, status="failed", error_message=failed.message)
    else:
        commands.write(lease, status="done", result=result)
