"""Cancelling a sweep while a worker claims or writes a setting never deadlocks."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import transaction

from tests.builders import recorded_session
from tests.threads import blocked_queries, in_a_thread
from tests.waiting import wait_until
from timemachine.core.accounts.models import Project
from timemachine.core.leases import LeaseLost
from timemachine.replay.sweeps.commands import cancel, claim, launch, write
from timemachine.replay.sweeps.models import Sweep, SweepRow
from timemachine.replay.sweeps.pure.grid import Grid


@pytest.mark.parametrize("step", ["claim", "write"])
def test_a_worker_waits_for_a_cancellation_before_it_locks_a_setting(
    transactional_db: None, project: Project, step: str
) -> None:
    sweep = launch(recorded_session(project), Grid(top_k=[1]), by="test")
    lease = claim(sweep.id)
    assert lease is not None
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Sweep.objects.select_for_update().get(id=sweep.id)  # as `cancel` starts
            working = in_a_thread(
                pool,
                (lambda: claim(sweep.id))
                if step == "claim"
                else (lambda: write(lease, status="done", result={})),
            )
            wait_until(blocked_queries, seconds=20)
            free = SweepRow.objects.select_for_update(skip_locked=True).filter(sweep=sweep)
            assert len(free) == sweep.rows.count()
            cancel(sweep)
        if step == "write":
            with pytest.raises(LeaseLost):
                working.result(20)
        else:
            assert working.result(20) is None
    sweep.refresh_from_db()
    assert sweep.status == "cancelled"
