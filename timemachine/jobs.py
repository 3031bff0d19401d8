"""Every job of the queue: ids in, one command each, safe to run twice. The queue is a doorbell; the truth is rows."""

import logging
import os
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any, Final
from uuid import UUID

import psycopg
from celery import shared_task
from celery.signals import worker_ready
from django.db import transaction
from kombu.exceptions import OperationalError

from timemachine.evidence import commands as evidence
from timemachine.evidence.log import anchors
from timemachine.evidence.sealing import due, seals
from timemachine.governance.deletion.erasure import commands as erasures
from timemachine.governance.deletion.retention import commands as forgettings
from timemachine.governance.deletion.retention import retention
from timemachine.governance.sharing import log_heads
from timemachine.knowledge import embedding_backlog, hnsw
from timemachine.memory.patterns import alerts, clustering, reader
from timemachine.memory.search import indexing
from timemachine.recording.annotations.significance.compression import follow_rules
from timemachine.recording.answering.cache_maintenance import trim
from timemachine.recording.answering.lost_asks import record_lost
from timemachine.recording.importing import worker as imports
from timemachine.recording.intake import commands as intakes
from timemachine.recording.intake.receive import Taken
from timemachine.recording.intake.worker import work as put_file
from timemachine.replay.alignment import long_diffs
from timemachine.replay.comparison import judge_queue, results
from timemachine.replay.runs import commands as replays
from timemachine.replay.runs.worker import work
from timemachine.replay.suites import running as suites
from timemachine.replay.sweeps import commands as sweeps
from timemachine.replay.sweeps.worker import work as measure

log = logging.getLogger(__name__)

RING_EVERY: Final = 2.0
_indexing_rung: Final[dict[UUID, float]] = {}


@shared_task(name="timemachine.jobs.run_replay")
def run_replay(replay_id: str) -> None:
    """Work on a replay until no step is left; the last one closes a suite's run, and makes a comparison's results due."""
    work(UUID(replay_id), f"{socket.gethostname()}:{os.getpid()}")
    suites.settle_run_of(UUID(replay_id))
    for comparison_id in results.over_with(UUID(replay_id)):
        ring_results(comparison_id)


@shared_task(name="timemachine.jobs.ring_replays")
def ring_replays(replay_ids: list[str]) -> None:
    """Ring for each of the replays that were launched together."""
    for replay_id in replay_ids:
        run_replay.delay(replay_id)


@shared_task(name="timemachine.jobs.run_sweep")
def run_sweep(sweep_id: str) -> None:
    """Measure the settings of a sweep until none is left."""
    measure(UUID(sweep_id))


@shared_task(name="timemachine.jobs.run_intake")
def run_intake(intake_id: str) -> None:
    """Put the passages of a file that was handed in."""
    put_file(UUID(intake_id))
    for waiting_id in intakes.next_after(UUID(intake_id)):
        run_intake.delay(str(waiting_id))
    for collection_id in embedding_backlog.due_for_ringing():
        embed_backlog.delay(str(collection_id))


@shared_task(name="timemachine.jobs.run_import")
def run_import(import_id: str) -> None:
    """Import a file of another tool that was handed in."""
    imports.work(UUID(import_id))


@shared_task(name="timemachine.jobs.compute_results")
def compute_results(comparison_id: str) -> None:
    """Compute what the figures of a comparison show."""
    results.make(UUID(comparison_id))


@shared_task(name="timemachine.jobs.judge_cells")
def judge_cells(comparison_id: str) -> None:
    """Ask judges about the cells of a comparison until none waits."""
    judge_queue.work_off(UUID(comparison_id))


@shared_task(name="timemachine.jobs.embed_backlog")
def embed_backlog(collection_id: str) -> None:
    """Make vectors that a collection lacks for a while, then queue behind the others."""
    if embedding_backlog.work_off(UUID(collection_id)):
        embed_backlog.delay(collection_id)


@shared_task(name="timemachine.jobs.index_steps")
def index_steps(project_id: str) -> None:
    """Make the steps of a project findable for a while, then queue behind the others; then they are read for patterns."""
    if indexing.work_off(UUID(project_id)):
        index_steps.delay(project_id)
    else:
        read_patterns(project_id)


@shared_task(name="timemachine.jobs.read_patterns")
def read_patterns(project_id: str) -> None:
    """Read the steps of a project for patterns for a while, then queue behind the others."""
    if clustering.work_off(UUID(project_id)):
        read_patterns.delay(project_id)


@shared_task(name="timemachine.jobs.tell_pattern_alert")
def tell_pattern_alert(alert_id: str) -> None:
    """Tell the address of a rule that a pattern came again."""
    alerts.tell(UUID(alert_id))


@shared_task(name="timemachine.jobs.make_long_diff")
def make_long_diff(long_diff_id: str) -> None:
    """Make a diff that is too long for a page to wait for."""
    long_diffs.make(UUID(long_diff_id))


@shared_task(name="timemachine.jobs.seal_session")
def seal_session(session_id: str) -> None:
    """Seal what a session recorded since."""
    seals.seal_session(UUID(session_id))


@shared_task(name="timemachine.jobs.seal_replay")
def seal_replay(replay_id: str) -> None:
    """Seal a replay that is over."""
    seals.seal_replay(UUID(replay_id))


@shared_task(name="timemachine.jobs.seal_comparison")
def seal_comparison(comparison_id: str) -> None:
    """Seal a comparison that is over."""
    seals.seal_comparison(UUID(comparison_id))


@shared_task(name="timemachine.jobs.tell_anchor")
def tell_anchor(anchor_id: str) -> None:
    """Tell a witness or a timestamp authority how long a log is."""
    anchors.tell(int(anchor_id))


@shared_task(name="timemachine.jobs.commit_access")
def commit_access(project_id: str) -> None:
    """Have a project's log commit to its access logs."""
    log_heads.commit(UUID(project_id))


@shared_task(name="timemachine.jobs.check_seal")
def check_seal(check_id: str) -> None:
    """Compare what stands in the database with its seal."""
    evidence.check(UUID(check_id))


@shared_task(name="timemachine.jobs.work_on_erasure")
def work_on_erasure(erasure_id: str) -> None:
    """Look through a session for what shall be erased, or erase it."""
    erasures.work(UUID(erasure_id))


@shared_task(name="timemachine.jobs.forget")
def forget(forgetting_id: str) -> None:
    """Delete sessions that are deleted together."""
    forgettings.work(UUID(forgetting_id))


@shared_task(name="timemachine.jobs.run_retention")
def run_retention() -> None:
    """Begin what retention rules delete now."""
    for forgetting_id in retention.run_rules():
        forget.delay(str(forgetting_id))


@shared_task(name="timemachine.jobs.sweep")
def sweep() -> None:
    """Ring again for what has work to do and nobody at it; record the asks that were lost."""
    for job, rows_due in _SWEPT:
        for row_id in rows_due():
            job.delay(str(row_id))
    for collection_id, model in hnsw.due():
        index_collection.delay(str(collection_id), model)
    record_lost()
    run_suites()  # after what was begun


def run_suites() -> None:
    """Ring for the runs of suites that are over and for the suites that are due, one job for each."""
    for run_id in suites.over():
        settle_suite_run.delay(str(run_id))
    for suite_id in suites.due():
        run_due_suite.delay(str(suite_id))


@shared_task(name="timemachine.jobs.settle_suite_run")
def settle_suite_run(run_id: str) -> None:
    """Close a run of a suite whose replays are over."""
    suites.settle(UUID(run_id))


@shared_task(name="timemachine.jobs.run_due_suite")
def run_due_suite(suite_id: str) -> None:
    """Launch a suite that is due; one that fails holds up no other."""
    for replay_id in suites.run_if_due(UUID(suite_id)):
        run_replay.delay(str(replay_id))


@shared_task(name="timemachine.jobs.index_collection")
def index_collection(collection_id: str, model: str) -> None:
    """Build the index by which a large collection is searched by meaning."""
    hnsw.build(UUID(collection_id), model)


@shared_task(name="timemachine.jobs.trim_answer_cache")
def trim_answer_cache() -> None:
    """Take out of the answer caches what is too old or too much."""
    trim()


@shared_task(name="timemachine.jobs.compress_sessions")
def compress_sessions() -> None:
    """Compress the sessions that the rules of their projects find old enough."""
    follow_rules()


_SWEPT: Final[tuple[tuple[Any, Callable[[], list[UUID] | list[int]]], ...]] = (
    (run_replay, replays.due_for_ringing),
    (run_sweep, sweeps.due_for_ringing),
    (run_intake, intakes.due_for_ringing),
    (run_import, imports.due_for_ringing),
    (judge_cells, judge_queue.due_for_ringing),
    (compute_results, results.due_for_ringing),
    (embed_backlog, embedding_backlog.due_for_ringing),
    (make_long_diff, long_diffs.due_for_ringing),
    (index_steps, indexing.BELL.due),
    (read_patterns, reader.BELL.due),
    (tell_pattern_alert, alerts.due),
    (seal_session, due.sessions),
    (seal_replay, due.replays),
    (seal_comparison, due.comparisons),
    (check_seal, evidence.due_for_ringing),
    (work_on_erasure, erasures.due_for_ringing),
    (forget, forgettings.due_for_ringing),
    (commit_access, log_heads.due),
    (tell_anchor, anchors.due),
)


def ring_backlog(collection_id: UUID) -> None:
    """Ring for the vectors that a collection lacks, where it does, once this transaction is committed."""

    def ring_where_due() -> None:
        if embedding_backlog.is_due(collection_id):
            _ring_now(embed_backlog, collection_id)

    transaction.on_commit(ring_where_due)


def ring_indexing(project_id: UUID) -> None:
    """Ring for the steps of a project that no search finds yet, once this transaction is committed.

    At most once in `RING_EVERY` seconds from this process: recording does not wait for more, and the sweeper rings for what comes between.
    """

    def ring_where_due() -> None:
        moment = time.monotonic()
        if moment - _indexing_rung.get(project_id, -RING_EVERY) < RING_EVERY:
            return
        _indexing_rung[project_id] = moment
        if indexing.BELL.may_ring(project_id):
            _ring_now(index_steps, project_id)

    transaction.on_commit(ring_where_due)


def ring_long_diff(long_diff_id: UUID) -> None:
    """Ring for a long diff once this transaction is committed, unless somebody did just now."""

    def ring_where_due() -> None:
        if long_diffs.is_due(long_diff_id):
            _ring_now(make_long_diff, long_diff_id)

    transaction.on_commit(ring_where_due)


def ring_results(comparison_id: UUID) -> None:
    """Ring for the results of a comparison once this transaction is committed, unless somebody did just now."""

    def ring_where_due() -> None:
        if results.is_due(comparison_id):
            _ring_now(compute_results, comparison_id)

    transaction.on_commit(ring_where_due)


def ring(replay_id: UUID) -> None:
    """Ring for a replay once this transaction is committed; where the queue is out of reach, the sweeper rings later."""
    transaction.on_commit(lambda: _ring_now(run_replay, replay_id))


def ring_all(replay_ids: Iterable[UUID]) -> None:
    """Ring for replays that were launched together, once this transaction is committed, by one message: who launches waits for it."""
    ids = [str(each) for each in replay_ids]
    transaction.on_commit(lambda: _ring_now(ring_replays, ids))


def ring_sweep(sweep_id: UUID) -> None:
    """Ring for a sweep once this transaction is committed; where the queue is out of reach, the sweeper rings later."""
    transaction.on_commit(lambda: _ring_now(run_sweep, sweep_id))


def ring_intake(intake_id: UUID) -> None:
    """Ring for an intake once this transaction is committed; where the queue is out of reach, the sweeper rings later."""
    transaction.on_commit(lambda: _ring_now(run_intake, intake_id))


def ring_import(import_id: UUID) -> None:
    """Ring for an import once this transaction is committed; where the queue is out of reach, the sweeper rings later."""
    transaction.on_commit(lambda: _ring_now(run_import, import_id))


def ring_taken(taken: Taken) -> None:
    """Ring, once this transaction is committed, for the vectors of files that were put and for the worker of those that were kept."""
    if taken.done:
        ring_backlog(taken.collection.id)
    for intake in taken.intakes:
        ring_intake(intake.id)


def ring_seal(session_id: UUID) -> None:
    """Ring for the seal of a session that has ended, once this transaction is committed."""
    transaction.on_commit(lambda: _ring_now(seal_session, session_id))


def ring_check(check_id: UUID) -> None:
    """Ring for a comparison with a seal, once this transaction is committed."""
    transaction.on_commit(lambda: _ring_now(check_seal, check_id))


def ring_erasure(erasure_id: UUID) -> None:
    """Ring for an erasure once this transaction is committed."""
    transaction.on_commit(lambda: _ring_now(work_on_erasure, erasure_id))


def ring_forgetting(forgetting_id: UUID) -> None:
    """Ring for a deletion in bulk once this transaction is committed; where the queue is out of reach, the sweeper rings."""
    transaction.on_commit(lambda: _ring_now(forget, forgetting_id))


def ring_judges(comparison_id: UUID) -> None:
    """Ring for the judges of a comparison once this transaction is committed; where the queue is out of reach, the sweeper rings."""
    transaction.on_commit(lambda: _ring_now(judge_cells, comparison_id))


def _ring_now(job: Any, wanted: UUID | list[str]) -> None:
    try:
        job.delay(wanted if isinstance(wanted, list) else str(wanted))
    except (OperationalError, psycopg.Error, OSError) as why:
        log.warning("the queue is out of reach, %s of %s waits for the sweeper: %s", job.name, wanted, why)


@worker_ready.connect(weak=False)
def ring_at_start(**_: Any) -> None:
    """A worker that starts takes up what another left."""
    for job, left_by_another in (
        (run_replay, replays.due_for_ringing),
        (run_sweep, sweeps.due_for_ringing),
        (run_intake, intakes.due_for_ringing),
        (run_import, imports.due_for_ringing),
        (forget, forgettings.due_for_ringing),
        (embed_backlog, embedding_backlog.due_for_ringing),
        (index_steps, indexing.BELL.due),
        (read_patterns, reader.BELL.due),
    ):
        for row_id in left_by_another(at_once=True):
            job.delay(str(row_id))
