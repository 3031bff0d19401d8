"""A bundle as a download, for every door the same."""

from collections.abc import Callable
from typing import IO

from django.http import FileResponse

from timemachine.core.accounts.models import Project
from timemachine.evidence.bundles import exporting
from timemachine.evidence.bundles.kinds import KINDS


def bundle_of(project: Project, of: str, id: str) -> FileResponse:  # noqa: A002
    """The bundle of the project's thing of that kind, as a download. Raises what `find` and `write` raise."""
    kind = KINDS[of]
    thing = kind.find(project, id)
    return download(f"evidence-{kind.file(thing)}.zip", lambda target: kind.write(target, thing))


def download(name: str, write: Callable[[IO[bytes]], object]) -> FileResponse:
    """A zip that is whole before the first byte is sent: what goes wrong is an error and not half a file."""
    headers = {"Cache-Control": "private, no-store", "X-Content-Type-Options": "nosniff"}
    return FileResponse(
        exporting.whole(write),
        as_attachment=True,
        filename=name,
        content_type="application/zip",
        headers=headers,
    )
