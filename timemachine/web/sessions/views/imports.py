"""Import files of other tools as sessions, and account for every line."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.leases import MOST_ATTEMPTS
from timemachine.core.pure.errors import InvalidInput, TimeMachineError
from timemachine.core.pure.numbers import counted
from timemachine.jobs.queue import enqueue
from timemachine.memory.tasks import index_steps
from timemachine.recording.importing.commands import ImportDone, ImportedSession, import_file
from timemachine.recording.importing.file_contents import received
from timemachine.recording.importing.models import RUNNING, FileImport
from timemachine.recording.importing.pure.registry import FORMATS, NotATranscript
from timemachine.recording.importing.pure.report import ImportReportOut, LineSkipped
from timemachine.recording.importing.queries import SessionOfImport, import_of, sessions_of
from timemachine.recording.importing.worker import AT_ONCE_BYTES, hand_in
from timemachine.recording.tasks import run_import
from timemachine.web.access import Access, of
from timemachine.web.formatting import exact
from timemachine.web.http import page
from timemachine.web.redirects import see_other
from timemachine.web.sessions.forms.sessions import ImportForm
from timemachine.web.upload_limits import received_files, receives_imports

MOST_SHOWN: Final = 200
_KEPT_AS: Final = "imported"


@receives_imports
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def import_page(request: HttpRequest) -> HttpResponse:
    """`/import/`: the form; POST imports each file, completely or not at all."""
    access = of(request)
    access.require(OPERATOR)
    if request.method != "POST":
        return page(request, "imports/form.html", {"form": ImportForm()})
    form = ImportForm(request.POST)
    if not form.is_valid():
        return page(request, "imports/form.html", {"form": form}, status=422)
    try:
        files = _files(request)
    except TimeMachineError as why:
        return page(request, "imports/form.html", {"form": form}, status=form.refuse(why))
    accounts = [_imported(access, file, form.cleaned_data["format"]) for file in files]
    if all(account["refused"] for account in accounts):
        return _all_refused(request, form, accounts)
    enqueue(index_steps, access.project.id)
    if len(accounts) == 1 and (on_its_way := accounts[0].get("on_its_way")):
        return see_other("file_import", on_its_way)
    request.session[_KEPT_AS] = accounts
    return see_other("import_done")


@never_cache
@require_safe
def done(request: HttpRequest) -> HttpResponse:
    """`/import/done/`: the result of the last import from this browser."""
    of(request)
    accounts = request.session.get(_KEPT_AS)
    if not accounts:
        return see_other("import")
    context = {"accounts": accounts, "came_to": _summary(accounts), "known": _known(accounts)}
    return page(request, "imports/done.html", context)


@never_cache
@require_safe
def file_import(request: HttpRequest, id: str) -> HttpResponse:  # noqa: A002
    """`/imports/{id}/`: progress and result of a background import. Polling gets 204 if nothing changed."""
    found = import_of(of(request).project, id)
    if request.GET.get("rev") == str(found.revision) and request.headers.get("HX-Request") == "true":
        return HttpResponse(status=204)
    context = {
        "found": found,
        "title": FORMATS[found.format].title if found.format in FORMATS else found.format,
        "over": found.finished_at is not None,
        "again": found.finished_at is None and found.status == RUNNING and found.attempts > 1,
        "most_attempts": MOST_ATTEMPTS,
        "account": _imported_account(found, found.report) if found.report is not None else None,
    }
    return page(request, "imports/file_import.html", context, parts=("progress",))


def _all_refused(request: HttpRequest, form: ImportForm, accounts: list[dict[str, Any]]) -> HttpResponse:
    """Show the form again with the errors: at the field for one file, one line each for several."""
    several = len(accounts) > 1
    form.add_error(
        "file", f"None of the {len(accounts):,} files was imported." if several else accounts[0]["refused"]
    )
    context = {
        "form": form,
        "refused": [account["refused"] for account in accounts] if several else [],
        "known": _known(accounts),
    }
    return page(request, "imports/form.html", context, status=422)


def _known(accounts: Iterable[dict[str, Any]]) -> list[str]:
    """Return the supported formats, if the format of a file was not recognised."""
    if not any(account.get("unknown") for account in accounts):
        return []
    return [each.title for each in FORMATS.values()]


def _summary(accounts: list[dict[str, Any]]) -> str:
    """Return the result of several files in one sentence: `3 files: 1 with new steps, 2 refused.`; empty for one file."""
    if len(accounts) == 1:
        return ""
    counts = {"with new steps": 0, "without new steps": 0, "in the background": 0, "refused": 0}
    for account in accounts:
        counts[_what_of(account)] += 1
    parts = ", ".join(f"{number:,} {what}" for what, number in counts.items() if number)
    return f"{counted(len(accounts), 'file')}: {parts}."


def _what_of(account: dict[str, Any]) -> str:
    if account["refused"]:
        return "refused"
    if account.get("on_its_way"):
        return "in the background"
    return "with new steps" if account.get("new") else "without new steps"


def skipped_lines(skipped: Iterable[LineSkipped]) -> list[dict[str, Any]]:
    """Return the skipped lines by reason, in the order of appearance: `lines` reads like `3, 7–9`."""
    by_reason: dict[str, list[int]] = {}
    for each in skipped:
        by_reason.setdefault(each.reason, []).append(each.line)
    return [
        {"reason": reason, "count": len(lines), "lines": ", ".join(_runs(lines))}
        for reason, lines in by_reason.items()
    ]


def _files(request: HttpRequest) -> list[UploadedFile[Any]]:
    files = received_files(request, "file")
    if not files:
        raise InvalidInput("Choose at least one file.", code="no_file")
    return files


def _imported(access: Access, file: UploadedFile[Any], format_name: str) -> dict[str, Any]:
    """Return the result of one file: its account, or in `refused` why nothing was imported."""
    name = file.name or "a file"
    try:
        return {"name": name, "refused": "", **_import(access, file, name, format_name)}
    except NotATranscript as why:
        return {"name": name, "refused": why.short_message, "unknown": True}
    except TimeMachineError as why:
        return {"name": name, "refused": _naming(name, why.message), "unknown": False}


def _import(access: Access, file: UploadedFile[Any], name: str, format_name: str) -> dict[str, Any]:
    """Return the account of an imported file, or the id of a background import. Raises as `import_file`."""
    told: dict[str, Any] = {
        "by": access.user.email,
        "format_name": format_name or None,
        "filename": name,
    }
    with received(file.chunks()) as data:
        if len(data) <= AT_ONCE_BYTES:
            return _account(import_file(access.project, data, **told))
        kept = hand_in(access.project, data, **told)
    enqueue(run_import, kept.id)
    return {"on_its_way": str(kept.id)}


def _account(done: ImportDone) -> dict[str, Any]:
    sessions = [_session(each) for each in done.sessions[:MOST_SHOWN]]
    actions = sum(each.actions for each in done.sessions)
    there = sum(each.already_there for each in done.sessions)
    told = _document(sessions, len(done.sessions), done.report)
    return told | {"new": actions - there, "was_here": actions == there > 0}


def _imported_account(found: FileImport, report: dict[str, Any]) -> dict[str, Any]:
    """Return the account of a background import; a session deleted since has no name and no URL."""
    sessions = [_session(each) for each in sessions_of(found, MOST_SHOWN)]
    return _document(sessions, len(found.sessions), ImportReportOut.of_json(report))


def _document(sessions: list[dict[str, Any]], all_sessions: int, report: ImportReportOut) -> dict[str, Any]:
    reasons = skipped_lines(report.skipped)
    return {
        "sessions": sessions,
        "more_sessions": max(0, all_sessions - MOST_SHOWN),
        "lines": report.lines,
        "became": report.became,
        "skipped": len(report.skipped),
        "reasons": reasons[:MOST_SHOWN],
        "more_reasons": max(0, len(reasons) - MOST_SHOWN),
        "notes": list(report.notes[:MOST_SHOWN]),
    }


def _session(found: ImportedSession | SessionOfImport) -> dict[str, Any]:
    session, before = found.session, found.deleted_before
    return {
        "id": "" if session is None else str(session.id),
        "key": "" if session is None else session.key,
        "name": "" if session is None else session.name,
        "actions": found.actions,
        "already_there": found.already_there,
        "deleted_turns": found.deleted_turns,
        "deleted": before
        and {"at": exact(before.erased_at), "by": before.erased_by or "", "reason": before.reason or ""},
    }


def _naming(name: str, message: str) -> str:
    return message if name in message else f"{name}: {message}"


def _runs(lines: Sequence[int]) -> Iterator[str]:
    """Return consecutive numbers as ranges."""
    for _, run in groupby(enumerate(sorted(lines)), key=lambda place: place[1] - place[0]):
        numbers = [number for _, number in run]
        yield f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]}–{numbers[-1]}"
