"""Imports of sessions from the files of other tools, as the API returns them."""

from typing import Annotated, Literal

from pydantic import Field

from timemachine.core.pure.clock import written
from timemachine.core.pure.schemas import Schema
from timemachine.recording.importing.commands import ImportDone
from timemachine.recording.importing.growing import LinesImported
from timemachine.recording.importing.models import FileImport, FileWork
from timemachine.recording.importing.pure.report import ImportReportOut
from timemachine.recording.importing.queries import ImportCounts, sessions_of
from timemachine.recording.sessions.models import ErasedSession, Session
from timemachine.recording.sessions.schemas import RemainingSummary, SessionOut

FileStatus = Literal["waiting", "running", "done", "failed"]


class FileFailure(Schema):
    """Why a worker could not read or record a file."""

    code: str
    message: str

    @classmethod
    def of(cls, failed: FileWork) -> "FileFailure":
        return cls.from_attributes(failed, code=failed.error_code, message=failed.error_message)


class DeletedBefore(Schema):
    """The deletion of an earlier session with the same key: when, by whom and why.

    `summaries` are those that stay in collections; null for deletions from before that was recorded.
    """

    at: str
    by: str | None
    reason: str | None
    summaries: list[RemainingSummary] | None

    @classmethod
    def of(cls, deletion: ErasedSession | None) -> "DeletedBefore | None":
        if deletion is None:
            return None
        summaries = deletion.summaries
        return cls.model_construct(
            at=written(deletion.erased_at),
            by=deletion.erased_by,
            reason=deletion.reason,
            summaries=None
            if summaries is None
            else [RemainingSummary.model_construct(**each) for each in summaries],
        )


class SessionImported(Schema):
    """A session of the file: how many actions the file has for it, and how many of them had been recorded before.

    `deleted_turns` is how many of its steps were deleted here; they stay deleted.
    """

    id: str
    key: str
    name: str
    url: str
    actions: int
    already_there: int
    deleted_before: DeletedBefore | None
    deleted_turns: int

    @classmethod
    def of(cls, session: Session, found: ImportCounts) -> "SessionImported":
        about = SessionOut.of(session)
        return cls.from_attributes(
            found,
            id=about.id,
            key=about.key,
            name=about.name,
            url=about.url,
            deleted_before=DeletedBefore.of(found.deleted_before),
        )


class ImportOut(Schema):
    """The sessions that a file became, and what happened to its lines."""

    sessions: list[SessionImported]
    report: ImportReportOut

    @classmethod
    def of(cls, done: ImportDone) -> "ImportOut":
        return cls.model_construct(
            sessions=[SessionImported.of(each.session, each) for each in done.sessions],
            report=done.report,
        )


class LinesIn(Schema):
    """Lines of a file that grows. The first `repeated` ones were recorded before, and are sent again because the response to the
    lines before named them in `needed`; `position` is that of this response. `idle` is the number of seconds since the file last grew.
    """

    format: str
    lines: list[str]
    repeated: int = 0
    position: Annotated[dict[str, int], Field(default_factory=dict)]
    idle: Annotated[float, Field(ge=0)] = 0.0


class LinesOut(Schema):
    """What lines became. The first `lines` of them are recorded; send the others again with what follows them.

    Before them, send the lines with the numbers `needed` (from 1), in this order, and count them as `repeated`.
    """

    lines: int
    needed: list[int]
    position: dict[str, int]
    sessions: list[SessionImported]
    report: ImportReportOut

    @classmethod
    def of(cls, done: LinesImported) -> "LinesOut":
        return cls.model_construct(
            lines=done.lines,
            needed=list(done.needed),
            position=dict(done.position),
            sessions=[SessionImported.of(each.session, each) for each in done.sessions],
            report=done.report,
        )


class ImportAccepted(Schema):
    """The id of an import that a worker carries out."""

    import_id: str


class FileImportOut(Schema):
    """An import that a worker carries out: `done` of `total` actions are recorded; `total` is null until the file was read.

    Sessions that were deleted since are not listed.
    """

    import_id: str
    name: str
    format: str
    status: FileStatus
    done: int
    total: int | None
    error: FileFailure | None
    sessions: list[SessionImported]
    report: ImportReportOut | None

    @classmethod
    def of(cls, found: FileImport) -> "FileImportOut":
        """The import; two queries."""
        failed = found.error_code is not None and found.finished_at is not None
        return cls.from_attributes(
            found,
            import_id=found.id,
            error=FileFailure.of(found) if failed else None,
            sessions=[
                SessionImported.of(each.session, each)
                for each in sessions_of(found, len(found.sessions))
                if each.session is not None
            ],
            report=None if found.report is None else ImportReportOut.of_json(found.report),
        )
