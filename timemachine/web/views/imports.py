"""Importing: files of other tools become sessions, and a page that accounts for every line of them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from timemachine.accounts.models import OPERATOR
from timemachine.base.errors import InvalidInput, TimeMachineError
from timemachine.exchange.commands import ImportDone, ImportedSession, import_file
from timemachine.exchange.report import Skipped
from timemachine.jobs import ring_indexing
from timemachine.web.access import Access, of
from timemachine.web.http import page
from timemachine.web.receiving import received, receives_files
from timemachine.web.redirects import see_other
from timemachine.web.session_forms import ImportForm
from timemachine.web.uploads import UploadedText

MOST_SHOWN: Final = 200
_KEPT_AS: Final = "imported"


@receives_files
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def import_page(request: HttpRequest) -> HttpResponse:
    """`/import/`: the form; a POST imports every file on its own, all of it or none."""
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
        for account in accounts:
            form.add_error("file", account["refused"])
        return page(request, "imports/form.html", {"form": form}, status=422)
    ring_indexing(access.project.id)
    request.session[_KEPT_AS] = accounts
    return see_other("import_done")


@never_cache
@require_safe
def done(request: HttpRequest) -> HttpResponse:
    """`/import/done/`: what the last import of this browser came to."""
    of(request)
    accounts = request.session.get(_KEPT_AS)
    return page(request, "imports/done.html", {"accounts": accounts}) if accounts else see_other("import")


def skipped_lines(skipped: Iterable[Skipped]) -> list[dict[str, Any]]:
    """The skipped lines by their reason, in the order in which the reasons come up: `lines` reads like `3, 7–9`."""
    by_reason: dict[str, list[int]] = {}
    for each in skipped:
        by_reason.setdefault(each.reason, []).append(each.line)
    return [
        {"reason": reason, "count": len(lines), "lines": ", ".join(_runs(lines))}
        for reason, lines in by_reason.items()
    ]


def _files(request: HttpRequest) -> list[UploadedText]:
    files = received(request, "file")
    if not files:
        raise InvalidInput("Choose at least one file.", code="no_file")
    return files


def _imported(access: Access, file: UploadedText, format_name: str) -> dict[str, Any]:
    """What became of one file: the account of it, or in `refused` the sentence that says why nothing of it was kept."""
    try:
        done = import_file(
            access.project,
            file.data,
            by=access.user.email,
            format_name=format_name or None,
            filename=file.name,
        )
    except TimeMachineError as why:
        return {"name": file.name, "refused": _naming(file.name, why.message)}
    return {"name": file.name, "refused": "", **_account(done)}


def _account(done: ImportDone) -> dict[str, Any]:
    reasons = skipped_lines(done.report.skipped)
    return {
        "sessions": [_session(each) for each in done.sessions[:MOST_SHOWN]],
        "more_sessions": max(0, len(done.sessions) - MOST_SHOWN),
        "lines": done.report.lines,
        "became": done.report.became,
        "skipped": len(done.report.skipped),
        "reasons": reasons[:MOST_SHOWN],
        "more_reasons": max(0, len(reasons) - MOST_SHOWN),
    }


def _session(each: ImportedSession) -> dict[str, Any]:
    return {
        "id": str(each.session.id),
        "key": each.session.key,
        "name": each.session.name,
        "actions": each.actions,
        "already_there": each.already_there,
    }


def _naming(name: str, message: str) -> str:
    return message if name in message else f"{name}: {message}"


def _runs(lines: Sequence[int]) -> Iterator[str]:
    """Consecutive numbers as runs."""
    for _, run in groupby(enumerate(sorted(lines)), key=lambda place: place[1] - place[0]):
        numbers = [number for _, number in run]
        yield f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]}–{numbers[-1]}"
