"""Importing a file of another tool over HTTP: the body is the file."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api.access import caller
from timemachine.api.documents import session_json
from timemachine.base.errors import InvalidInput
from timemachine.exchange.commands import ImportDone, import_file
from timemachine.jobs import ring_indexing

router = Router(tags=["import"])


@router.post("", response={201: dict[str, Any]}, summary="Import a file")
def import_(
    request: HttpRequest,
    format: str | None = None,  # noqa: A002  # the name is the contract's
    filename: str | None = None,
) -> Status[dict[str, Any]]:
    """Import the file in the body; what became of every line is in the report."""
    who = caller(request, "record")
    if not request.body:
        raise InvalidInput("The body is empty; send the file as the body.", code="empty_file")
    done = import_file(who.project, request.body, by=who.by, format_name=format, filename=filename)
    ring_indexing(who.project.id)
    return Status(201, import_json(done))


def import_json(done: ImportDone) -> dict[str, Any]:
    """What an import came to."""
    sessions = [
        {
            **{name: session_json(each.session)[name] for name in ("id", "key", "name", "url")},
            "actions": each.actions,
            "already_there": each.already_there,
        }
        for each in done.sessions
    ]
    return {"sessions": sessions, "report": done.report.as_json()}
