"""The jobs of replays, sweeps, suites and comparisons."""

import os
import socket
from uuid import UUID

from timemachine.core.jobs import Next, job
from timemachine.core.pure.queue_names import REPLAYS
from timemachine.replay.alignment import long_diffs
from timemachine.replay.alignment.models import LongDiff
from timemachine.replay.comparison import judge_queue, results
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.continuation import worker as continuations
from timemachine.replay.runs import commands as replays
from timemachine.replay.runs import worker as replay_worker
from timemachine.replay.runs.models import Replay
from timemachine.replay.suites import running as suites
from timemachine.replay.suites.models import Suite, SuiteRun
from timemachine.replay.sweeps import commands as sweeps
from timemachine.replay.sweeps import worker as sweep_worker
from timemachine.replay.sweeps.models import Sweep


@job(of=Replay, queue=REPLAYS, overdue=replays.overdue, at_start=True)
def run_replay(replay_id: UUID) -> Next:
    """Work on a replay until no step is left. The last one closes its suite run and enqueues its comparison's results."""
    worker = f"{socket.gethostname()}:{os.getpid()}"
    work = continuations.work if continuations.is_continuation(replay_id) else replay_worker.work
    work(replay_id, worker)
    suites.settle_run_of(replay_id)
    return [(compute_results, each) for each in results.finished_with(replay_id)]


@job(of=Sweep, queue=REPLAYS, overdue=sweeps.overdue, at_start=True)
def run_sweep(sweep_id: UUID) -> None:
    """Measure the settings of a sweep until none is left."""
    sweep_worker.work(sweep_id)


@job(of=Comparison, overdue=results.overdue, only_if=results.is_due)
def compute_results(comparison_id: UUID) -> None:
    """Compute the results of a comparison."""
    results.compute_if_due(comparison_id)


@job(of=Comparison, queue=REPLAYS, overdue=judge_queue.overdue)
def judge_cells(comparison_id: UUID) -> None:
    """Ask the judge models about the waiting cells of a comparison."""
    judge_queue.judge_waiting(comparison_id)


@job(of=LongDiff, overdue=long_diffs.overdue, only_if=long_diffs.is_due)
def make_long_diff(long_diff_id: UUID) -> None:
    """Compute a diff that takes too long for a page."""
    long_diffs.make(long_diff_id)


@job(of=SuiteRun, overdue=suites.unsettled)
def settle_suite_run(run_id: UUID) -> None:
    """Close a run of a suite whose replays have finished."""
    suites.settle(run_id)


@job(of=Suite, overdue=suites.due)
def run_due_suite(suite_id: UUID) -> Next:
    """Launch a suite that is due. If one fails, the others are still launched."""
    return [(run_replay, each) for each in suites.run_if_due(suite_id)]
