"""Files that are put into a collection, at once or by a worker, as the API returns them."""

from typing import Any, cast

from django.conf import settings
from django.urls import reverse

from timemachine.core.pure.clock import written
from timemachine.core.pure.schemas import Schema
from timemachine.knowledge.commands import NewFrame, PutResult
from timemachine.knowledge.schemas.collections import SourceOut
from timemachine.knowledge.sources import MOST_NAMED, FrameEdited, FrameEnded
from timemachine.recording.answering.schemas import FramePut
from timemachine.recording.importing.pure.report import LineSkipped
from timemachine.recording.importing.schemas import FileFailure, FileStatus
from timemachine.recording.intake.commands import FilePut
from timemachine.recording.intake.models import Intake
from timemachine.recording.intake.queries import edited_beside_it, ended_by


class PutReport(Schema):
    """What became of a file's passages. At most 20 frames are named in `ended_frames`, and in `edited_frames`."""

    new: int
    already_there: int
    ended: int
    ended_frames: list[FrameEnded]
    edited: int
    edited_frames: list[FrameEdited]
    skipped: list[LineSkipped]

    @classmethod
    def of(
        cls,
        *,
        new: int,
        already_there: int,
        ended: int,
        ended_frames: list[FrameEnded],
        edited: list[FrameEdited],
        skipped: list[LineSkipped],
    ) -> "PutReport":
        """The report; `edited` are all frames that were edited."""
        return cls.model_construct(
            new=new,
            already_there=already_there,
            ended=ended,
            ended_frames=ended_frames,
            edited=len(edited),
            edited_frames=edited[:MOST_NAMED],
            skipped=skipped,
        )


class FilePassage(FramePut):
    """A passage that was put; `start` and `end` count characters of the file's text. They are null if the file has no such text (JSONL)."""

    start: int | None
    end: int | None
    page: Any  # as the frame's metadata has it: a number in a PDF, otherwise null

    @classmethod
    def of(cls, frame: NewFrame, put: PutResult) -> "FilePassage":
        """The passage and the frame that it became."""
        origin = frame.origin
        return cls.model_construct(
            frame=put.frame.number,
            version=put.frame.version,
            sha256=put.frame.sha256,
            title=put.frame.title,
            already_there=put.already_there,
            start=None if origin is None else origin.start,
            end=None if origin is None else origin.end,
            page=None if origin is None else frame.metadata.get("page"),
        )


class FilePutOut(Schema):
    """A file that was put at once: its passages, and the sequences of the steps if a session recorded them."""

    frames: list[FilePassage]
    sequences: list[int]
    source: SourceOut | None
    report: PutReport

    @classmethod
    def of(cls, done: FilePut) -> "FilePutOut":
        """The result."""
        return cls.model_construct(
            frames=[FilePassage.of(frame, put) for frame, put in zip(done.frames, done.puts, strict=True)],
            sequences=done.sequences,
            source=None if done.source is None else SourceOut.of(done.source),
            report=PutReport.of(
                new=done.new,
                already_there=len(done.puts) - done.new,
                ended=done.ended,
                ended_frames=done.ended_frames,
                edited=done.edited,
                skipped=[],
            ),
        )


class IntakeAccepted(Schema):
    """The id of an intake, by which a worker puts the file."""

    intake_id: str


class IntakeOut(Schema):
    """A file that a worker puts into a collection: `done` of `total` passages are put; `total` is null until the file was read."""

    id: str
    collection: str
    session: str | None
    name: str
    title: str
    uri: str
    replace: bool
    status: FileStatus
    done: int
    total: int | None
    report: PutReport
    error: FileFailure | None
    source: str | None
    put_by: str
    created_at: str
    finished_at: str | None
    url: str

    @classmethod
    def of(cls, intake: Intake) -> "IntakeOut":
        """The intake; up to five queries once the file is in."""
        failed = intake.error_code is not None
        return cls.model_construct(
            id=str(intake.id),
            collection=intake.collection.name,
            session=str(intake.session_id) if intake.session_id else None,
            name=intake.name,
            title=intake.title,
            uri=intake.uri,
            replace=intake.replace,
            status=cast("FileStatus", intake.status),
            done=intake.done,
            total=intake.total,
            report=PutReport.of(
                new=intake.new,
                already_there=intake.already_there,
                ended=intake.ended,
                ended_frames=ended_by(intake),
                edited=edited_beside_it(intake),
                skipped=[LineSkipped.model_construct(**each) for each in intake.skipped],
            ),
            error=FileFailure.of(intake.error_code, intake.error_message) if failed else None,
            source=str(intake.source_id) if intake.source_id else None,
            put_by=intake.put_by,
            created_at=written(intake.created_at),
            finished_at=written(intake.finished_at),
            url=f"{settings.PUBLIC_URL}{reverse('intake', args=[intake.id])}",
        )
