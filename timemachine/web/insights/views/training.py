"""`/training/`: training pairs, what is left out and why, and the downloads."""

from dataclasses import fields
from typing import Final
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse

from timemachine.core.pure.errors import InvalidInput, NotFound
from timemachine.memory.training.jsonl import report_of, streamed_pairs
from timemachine.memory.training.pure.options import ExportOptions, export_options
from timemachine.memory.training.pure.pairs import FORMS, WHATS
from timemachine.memory.training.pure.split import PARTS
from timemachine.memory.training.schemas import TrainingPair
from timemachine.text.redaction.queries import choices_of
from timemachine.web.access import Access, get_view
from timemachine.web.http import page

LONGEST: Final = 1_000
"""Number of characters shown of a message."""
DEFAULTS: Final = {
    each.name: "" if each.default is None else str(each.default)
    for each in fields(ExportOptions)
    if each.name != "split"
} | {"seed": "time-machine", "shares": "80,10,10"}


@get_view(fresh=True)
def training(request: HttpRequest, access: Access) -> HttpResponse:
    """Show the report and the first pairs; the parameters in the URL are those of the API."""
    here = _here(request)
    wrong, report = None, None
    try:
        report = report_of(access.project, export_options(**(here | {"part": ""})))
    except (InvalidInput, NotFound) as why:
        wrong = why
    shown: dict[str, object] = {
        "here": here,
        "report": report,
        "of_sessions": sum(dict(report.split.sessions).values()) if report else 0,
        "first": [_shown(each) for each in report.first] if report else [],
        "wrong": wrong,
        "forms": FORMS,
        "whats": WHATS,
        "parts": [
            (part, urlencode(here | {"part": part}), getattr(report.split.pairs, part)) for part in PARTS
        ]
        if report
        else [],
        "profiles": choices_of(access.project),
    }
    return page(request, "training/training.html", shown, status=wrong.status if wrong else 200)


@get_view(fresh=True)
def file(request: HttpRequest, access: Access) -> StreamingHttpResponse:
    """`/training/pairs.jsonl`: download the pairs of one part, or all."""
    return streamed_pairs(access.project, export_options(**_here(request)))


def _here(request: HttpRequest) -> dict[str, str]:
    return {name: request.GET.get(name, default).strip() or default for name, default in DEFAULTS.items()}


def _shown(found: TrainingPair) -> dict[str, object]:
    line = found.line
    messages = [(each["role"], each["content"]) for each in line.get("messages") or line["prompt"]]
    if "chosen" in line:
        messages += [("chosen", line["chosen"][0]["content"]), ("rejected", line["rejected"][0]["content"])]
    return found.model_dump() | {
        "messages": [(who, text[:LONGEST], len(text) > LONGEST) for who, text in messages]
    }
