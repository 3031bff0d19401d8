"""Import files of other tools as sessions, and account for every line."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final, TypedDict

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse

from timemachine.core.accounts.models import OPERATOR
from timemachine.core.leases import MOST_ATTEMPTS
from timemachine.core.pure.errors import InvalidInput, TimeMachineError
from timemachine.core.pure.numbers import counted
from timemachine.jobs.queue import enqueue
from timemachine.memory.tasks import index_steps
from timemachine.recording.importing.commands import ImportedSession, import_file
from timemachine.recording.importing.models import RUNNING
from timemachine.recording.importing.pure.registry import FORMATS, NotATranscript
from timemachine.recording.importing.pure.report import ImportReportOut, LineSkipped
from timemachine.recording.importing.queries import SessionOfImport, import_of, sessions_of
from timemachine.recording.importing.worker import AT_ONCE_BYTES, hand_in, received
from timemachine.recording.sessions.pure.vocabulary import Kind
from timemachine.recording.tasks import run_import
from timemachine.web.access import Access, form_view, get_view
from timemachine.web.errors import page_message, page_text
from timemachine.web.form_parts import sent
from timemachine.web.formatting import exact
from timemachine.web.http import is_unchanged, page, see_other
from timemachine.web.sessions.forms import ImportForm
from timemachine.web.uploads import received_files, receives_imports

MOST_SHOWN: Final = 200
_STORED_AS: Final = "imported"
_TITLES: Final = [each.title for each in FORMATS.values()]


class SkippedLines(TypedDict):
    """The lines that were skipped for one reason; `lines` reads like `3, 7–9`."""

    reason: str
    count: int
    lines: str


class ImportedAs(TypedDict):
    """A session that a file was imported as, without id, key and name if it was deleted since; `deleted` tells when it was deleted before."""

    id: str
    key: str
    name: str
    actions: int
    already_there: int
    deleted_turns: int
    deleted: dict[str, str] | None


class Account(TypedDict, total=False):
    """The result of a file, as JSON for the browser's session: the error, the import in the background, or the content."""

    name: str
    refused: str
    unknown: bool
    on_its_way: str
    new: int
    was_here: bool
    sessions: list[ImportedAs]
    more_sessions: int
    lines: int
    became: dict[Kind, int]
    steps: int
    merged: bool
    skipped: int
    reasons: list[SkippedLines]
    more_reasons: int
    notes: list[str]


@receives_imports
@form_view(OPERATOR, fresh=True)
def import_page(request: HttpRequest, access: Access) -> HttpResponse:
    """`/import/`: the form; POST imports each file, completely or not at all."""
    form = ImportForm(sent(request))
    files = form.run(lambda: _files(request))
    if files is None:
        return page(request, "imports/form.html", form=form, known=_TITLES, status=form.http_status)
    accounts = [_imported(access, file, form.cleaned_data["format"]) for file in files]
    if all(account["refused"] for account in accounts):
        return _all_refused(request, form, accounts)
    enqueue(index_steps, access.project.id)
    if len(accounts) == 1 and (on_its_way := accounts[0].get("on_its_way")):
        return see_other("file_import", on_its_way)
    request.session[_STORED_AS] = accounts
    return see_other("import_done")


@get_view(fresh=True)
def done(request: HttpRequest, _access: Access) -> HttpResponse:
    """`/import/done/`: the result of the last import from this browser."""
    accounts = request.session.get(_STORED_AS)
    if not accounts:
        return see_other("import")
    return page(
        request, "imports/done.html", accounts=accounts, came_to=_summary(accounts), known=_known(accounts)
    )


@get_view(fresh=True)
def file_import(request: HttpRequest, access: Access, id: str) -> HttpResponse:
    """`/imports/{id}/`: progress and result of a background import. Polling gets 204 if nothing changed."""
    found = import_of(access.project, id)
    if is_unchanged(request, found.revision):
        return HttpResponse(status=204)
    account = None
    if found.report is not None:
        report = ImportReportOut.of_json(found.report)
        account = _account(sessions_of(found, MOST_SHOWN), len(found.sessions), report)
    context = {
        "found": found,
        "title": FORMATS[found.format].title if found.format in FORMATS else found.format,
        "over": found.finished_at is not None,
        "again": found.finished_at is None and found.status == RUNNING and found.attempts > 1,
        "most_attempts": MOST_ATTEMPTS,
        "account": account,
    }
    return page(request, "imports/file_import.html", context, parts=("progress",))


def _all_refused(request: HttpRequest, form: ImportForm, accounts: list[Account]) -> HttpResponse:
    """Show the form again with the errors: at the field for one file, one line each for several."""
    several = len(accounts) > 1
    form.add_error(
        "file", f"None of the {len(accounts):,} files were imported." if several else accounts[0]["refused"]
    )
    context = {
        "form": form,
        "refused": [account["refused"] for account in accounts] if several else [],
        "known": _TITLES,
    }
    return page(request, "imports/form.html", context, status=422)


def _known(accounts: Iterable[Account]) -> list[str]:
    """Return the supported formats, if the format of a file was not recognised."""
    if not any(account.get("unknown") for account in accounts):
        return []
    return _TITLES


def _summary(accounts: list[Account]) -> str:
    """Return the results of the files as a sentence: `3 files: 1 with new steps, 2 refused.`; empty for one file."""
    if len(accounts) == 1:
        return ""
    counts = {"with new steps": 0, "without new steps": 0, "in the background": 0, "refused": 0}
    for account in accounts:
        counts[_what_of(account)] += 1
    parts = ", ".join(f"{number:,} {what}" for what, number in counts.items() if number)
    return f"{counted(len(accounts), 'file')}: {parts}."


def _what_of(account: Account) -> str:
    if account["refused"]:
        return "refused"
    if account.get("on_its_way"):
        return "in the background"
    return "with new steps" if account.get("new") else "without new steps"


def skipped_lines(skipped: Iterable[LineSkipped]) -> list[SkippedLines]:
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


def _imported(access: Access, file: UploadedFile[Any], format_name: str) -> Account:
    """Return the result of one file: its account, or in `refused` why nothing was imported."""
    name = file.name or "a file"
    try:
        return {**_import(access, file, name, format_name), "name": name, "refused": ""}
    except NotATranscript as why:
        return {"name": name, "refused": page_text(why.short_message), "unknown": True}
    except TimeMachineError as why:
        refused = page_message(why) if name in why.message else f"{name}: {page_message(why)}"
        return {"name": name, "refused": refused, "unknown": False}


def _import(access: Access, file: UploadedFile[Any], name: str, format_name: str) -> Account:
    """Return the account of an imported file, or the id of a background import. Raises as `import_file`."""
    by, format_or_none = access.user.email, format_name or None
    with received(file.chunks()) as data:
        if len(data) <= AT_ONCE_BYTES:
            done = import_file(access.project, data, by=by, format_name=format_or_none, filename=name)
            actions = sum(each.actions for each in done.sessions)
            there = sum(each.already_there for each in done.sessions)
            account = _account(done.sessions[:MOST_SHOWN], len(done.sessions), done.report)
            return {**account, "new": actions - there, "was_here": actions == there > 0}
        stored = hand_in(access.project, data, by=by, format_name=format_or_none, filename=name)
    enqueue(run_import, stored.id)
    return {"on_its_way": str(stored.id)}


def _account(
    sessions: Sequence[ImportedSession | SessionOfImport], all_sessions: int, report: ImportReportOut
) -> Account:
    """Return the account of an import; a session that was deleted since has no name and no URL."""
    reasons, steps = skipped_lines(report.skipped), sum(report.became.values())
    return {
        "sessions": [_session(each) for each in sessions],
        "more_sessions": max(0, all_sessions - MOST_SHOWN),
        "lines": report.lines,
        "became": report.became,
        "steps": steps,
        "merged": steps != report.lines - len(report.skipped),
        "skipped": len(report.skipped),
        "reasons": reasons[:MOST_SHOWN],
        "more_reasons": max(0, len(reasons) - MOST_SHOWN),
        "notes": list(report.notes[:MOST_SHOWN]),
    }


def _session(found: ImportedSession | SessionOfImport) -> ImportedAs:
    session, before = found.session, found.deleted_before
    return {
        "id": "" if session is None else str(session.id),
        "key": "" if session is None else session.key,
        "name": "" if session is None else session.name,
        "actions": found.actions,
        "already_there": found.already_there,
        "deleted_turns": found.deleted_turns,
        "deleted": {
            "at": exact(before.erased_at),
            "by": before.erased_by or "",
            "reason": before.reason or "",
        }
        if before
        else None,
    }


def _runs(lines: Sequence[int]) -> Iterator[str]:
    """Return consecutive numbers as ranges."""
    for _, run in groupby(enumerate(sorted(lines)), key=lambda place: place[1] - place[0]):
        numbers = [number for _, number in run]
        yield f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]}–{numbers[-1]}"
