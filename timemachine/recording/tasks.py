"""Jobs for uploaded files, imports, lost asks, the answer cache and compression."""

from datetime import timedelta
from uuid import UUID

from timemachine.core.jobs import Next, job
from timemachine.core.pure.queue_names import INDEXING
from timemachine.knowledge.tasks import embed_backlog
from timemachine.recording.annotations.significance import compression
from timemachine.recording.answering import cache, running_asks
from timemachine.recording.importing import worker as import_worker
from timemachine.recording.importing.models import FileImport
from timemachine.recording.intake import commands as intakes
from timemachine.recording.intake import worker as intake_worker
from timemachine.recording.intake.models import Intake


@job(of=Intake, queue=INDEXING, overdue=intakes.overdue, at_start=True)
def run_intake(intake_id: UUID) -> Next:
    """Put the passages of a file into its collection; then embed them and put the next file with the same URI."""
    intake_worker.work(intake_id)
    following = [(run_intake, each) for each in intakes.next_after(intake_id)]
    return [*following, *((embed_backlog, each) for each in intakes.collection_of(intake_id))]


@job(of=FileImport, queue=INDEXING, overdue=import_worker.overdue, at_start=True)
def run_import(import_id: UUID) -> None:
    """Import a file that another tool wrote."""
    import_worker.work(import_id)


@job(every=timedelta(seconds=10))
def record_lost_asks() -> None:
    """Record the asks whose process died."""
    running_asks.record_lost()


@job(every=timedelta(minutes=5))
def trim_answer_cache() -> None:
    """Delete answers that are too old or too many from the answer caches."""
    cache.trim()


@job(every=timedelta(minutes=5))
def compress_sessions() -> None:
    """Compress the sessions that are old enough by the rules of their projects."""
    compression.follow_rules()
