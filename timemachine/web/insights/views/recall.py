"""`/recall/`: ask a question about earlier sessions."""

from dataclasses import dataclass, replace
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from timemachine.core.pure.errors import InvalidInput, NotFound, TimeMachineError, Unavailable
from timemachine.memory.search.filters import MODES
from timemachine.memory.search.indexing import count_not_indexed
from timemachine.memory.search.recall.empty_results import explain_no_results
from timemachine.memory.search.recall.queries import QueryResult, RecalledTurn
from timemachine.memory.search.recall.queries import recall as recalled
from timemachine.memory.search.recall.questions import RecallOptions
from timemachine.memory.transcripts.options import turn_filter
from timemachine.memory.transcripts.pure.selection import gaps
from timemachine.memory.transcripts.turn_rows import Row
from timemachine.recording.sessions.pure.turn_text import Deleted, content_of, who_of
from timemachine.recording.sessions.pure.vocabulary import KINDS, SIGNIFICANCES
from timemachine.recording.sessions.queries import session_of
from timemachine.web.access import of
from timemachine.web.http import page

TURNS: Final = 10
"""Number of results on a page."""
AROUND: Final = ("0", "1", "3", "10")
LONGEST: Final = 1_000
"""Number of characters shown of a step around a result."""
_TEXTS: Final = ("mode", "agent", "user", "session", "since", "until", "time_zone")
_LISTS: Final = {"tag": "tags", "kind": "kinds", "significance": "significances"}
ASKED: Final = ("q", *_TEXTS, *_LISTS, "min_importance", "around", "times")
NARROWING: Final = (
    "agent",
    "user",
    "session",
    "since",
    "until",
    "time_zone",
    *_LISTS,
    "min_importance",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """A step around a result; `is_result` marks the result itself. A `deleted` step shows its tombstone instead of text."""

    sequence: int
    who: str
    text: str
    cut: bool
    left_out: int
    is_result: bool
    deleted: Deleted | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """A result with the steps around it."""

    recalled: RecalledTurn
    lines: tuple[_Line, ...]
    left_out_after: int


@require_safe
def recall(request: HttpRequest) -> HttpResponse:
    """`/recall/?q=`: the steps of all sessions that match the question; `times=words` ignores time expressions, `around` shows neighbouring steps."""
    project = of(request).project
    here = {name: request.GET[name].strip() for name in ASKED if request.GET.get(name, "").strip()}
    context: dict[str, Any] = {
        "here": here,
        "modes": MODES,
        "kinds": KINDS,
        "significances": SIGNIFICANCES,
        "arounds": AROUND,
        "narrowed": any(name in here for name in NARROWING),
        "turns": TURNS,
    }
    found = None
    try:
        context["only"] = session_of(project, here["session"]) if "session" in here else None
    except NotFound as why:
        context["wrong"] = why
    if "q" in here and "wrong" not in context:
        try:
            found = recalled(project, _wanted(here))
        except (InvalidInput, Unavailable) as why:
            context |= {"wrong": why, "wrong_field": why.facts.get("field", "queries")}
    answer: QueryResult | None = found.answers[0] if found else None
    context |= {
        "found": found,
        "answer": answer,
        "nothing": explain_no_results(answer, found.options) if found and answer else None,
        "results": [_shown(each) for each in answer.results] if answer else [],
        "not_indexed": found.not_indexed if found else count_not_indexed(project),
    }
    return page(request, "recall/recall.html", context, status=_status(context.get("wrong")))


def _status(wrong: TimeMachineError | None) -> int:
    """Return the HTTP status: 404 for a missing session; other errors are shown on the page."""
    return wrong.status if isinstance(wrong, NotFound) else 200


def _wanted(here: dict[str, str]) -> RecallOptions:
    """Return the question and filters of the form. Raises `InvalidInput`."""
    wanted = RecallOptions(
        queries=(here["q"],),
        time_words=here.get("times") != "words",
        min_importance=turn_filter(min_importance=here.get("min_importance")).min_importance,
        around=_around(here.get("around", "0")),
        limit=TURNS,
    )
    texts = {name: here[name] for name in _TEXTS if name in here}
    lists = {field: (here[name],) for name, field in _LISTS.items() if name in here}
    return replace(wanted, **texts, **lists)  # type: ignore[arg-type]  # texts and lists of them


def _around(written: str) -> int:
    if written not in AROUND:
        raise InvalidInput(
            f"{written[:40]!r} is not a valid number of context steps. Use {', '.join(AROUND)}.",
            code="invalid_field",
            field="around",
        )
    return int(written)


def _shown(recalled: RecalledTurn) -> _Shown:
    told = [row.turn.sequence for row in recalled.around]
    if not told:
        return _Shown(recalled=recalled, lines=(), left_out_after=0)
    *before, behind = gaps(told, max(recalled.session.last_sequence, told[-1]))
    lines = tuple(
        _line(row, missing, recalled.hit.action.sequence)
        for row, missing in zip(recalled.around, before, strict=True)
    )
    return _Shown(recalled=recalled, lines=lines, left_out_after=behind)


def _line(row: Row, missing: int, result: int) -> _Line:
    text = content_of(row.turn)
    return _Line(
        sequence=row.turn.sequence,
        who=who_of(row.turn),
        text=text[:LONGEST],
        cut=row.cut or len(text) > LONGEST,
        left_out=missing,
        is_result=row.turn.sequence == result,
        deleted=row.turn.deleted,
    )
