"""Bundles as downloads, the same for the API and the pages, and the three kinds of things that have evidence."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any, Final

from django.http import FileResponse

from timemachine.core.accounts.models import Project
from timemachine.core.audit.commands import record
from timemachine.evidence.bundles import exporting
from timemachine.evidence.models import COMPARISON, REPLAY, SESSION
from timemachine.evidence.queries import Sealed, sealed_comparison, sealed_replay, sealed_session
from timemachine.recording.sessions.queries import session_of
from timemachine.replay.comparison.queries import comparison_of
from timemachine.replay.runs.queries import replay_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How a kind of thing is found, sealed, written and named. `find` raises `NotFound`; `file` is a name."""

    find: Callable[[Project, str], Any]
    sealed: Callable[[Any], Sealed]
    write: Callable[[IO[bytes], Any], object]
    file: Callable[[Any], str]


KINDS: Final = {
    SESSION: Kind(
        find=session_of,
        sealed=sealed_session,
        write=exporting.write_session,
        file=lambda session: str(session.key),
    ),
    REPLAY: Kind(
        find=replay_of,
        sealed=sealed_replay,
        write=exporting.write_replay,
        file=lambda replay: f"replay-{replay.id}",
    ),
    COMPARISON: Kind(
        find=comparison_of,
        sealed=sealed_comparison,
        write=exporting.write_comparison,
        file=lambda comparison: f"comparison-{comparison.id}",
    ),
}


def download_bundle(project: Project, of: str, id: str) -> FileResponse:  # noqa: A002
    """Return the bundle of the project's thing of that kind. Raises what `find` and `write` raise."""
    kind = KINDS[of]
    thing = kind.find(project, id)
    response = zip_response(f"evidence-{kind.file(thing)}.zip", lambda target: kind.write(target, thing))
    record(project, "evidence.downloaded", of, thing.pk)
    return response


def zip_response(name: str, write: Callable[[IO[bytes]], object]) -> FileResponse:
    """Return a ZIP download that is complete before it is sent, so that errors never cut a file short."""
    headers = {"Cache-Control": "private, no-store", "X-Content-Type-Options": "nosniff"}
    return FileResponse(
        exporting.temporary_file(write),
        as_attachment=True,
        filename=name,
        content_type="application/zip",
        headers=headers,
    )
