"""`/recall/`: ask a question about earlier sessions."""

from dataclasses import dataclass, replace
from typing import Final

from django.http import HttpRequest, HttpResponse

from timemachine.core.pure.errors import InvalidInput, NotFound, TimeMachineError, Unavailable
from timemachine.memory.search.filters import MODES
from timemachine.memory.search.indexing import count_not_indexed
from timemachine.memory.search.recall.empty_results import explain_no_results
from timemachine.memory.search.recall.queries import RecalledTurn
from timemachine.memory.search.recall.queries import recall as recalled
from timemachine.memory.search.recall.questions import RecallOptions
from timemachine.memory.transcripts.options import turn_filter
from timemachine.memory.transcripts.pure.selection import gaps
from timemachine.recording.sessions.pure.vocabulary import KINDS, SIGNIFICANCES
from timemachine.recording.sessions.queries import session_of
from timemachine.web.access import Access, get_view
from timemachine.web.http import page
from timemachine.web.sessions.presenters.turn_lines import TurnLine, turn_line

TURNS: Final = 10
"""Number of results on a page."""
AROUND: Final = ("0", "1", "3", "10")
LONGEST: Final = 1_000
"""Number of characters shown of a step around a result."""
_TEXTS: Final = ("mode", "agent", "user", "session", "since", "until", "time_zone")
_LISTS: Final = {"tag": "tags", "kind": "kinds", "significance": "significances"}
PARAMETERS: Final = ("q", *_TEXTS, *_LISTS, "min_importance", "around", "times")
NARROWING: Final = (*(name for name in _TEXTS if name != "mode"), *_LISTS, "min_importance")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """A result with the steps around it."""

    recalled: RecalledTurn
    lines: tuple[TurnLine, ...]
    left_out_after: int


@get_view()
def recall(request: HttpRequest, access: Access) -> HttpResponse:
    """`/recall/?q=`: the steps of all sessions that match the question; `times=words` ignores time expressions, `around` shows neighbouring steps."""
    project = access.project
    here = {name: request.GET[name].strip() for name in PARAMETERS if request.GET.get(name, "").strip()}
    found, only = None, None
    wrong: TimeMachineError | None = None
    try:
        only = session_of(project, here["session"]) if "session" in here else None
        found = recalled(project, _options(here)) if "q" in here else None
    except (NotFound, InvalidInput, Unavailable) as why:
        wrong = why
    is_missing = isinstance(wrong, NotFound)
    answer = found.answers[0] if found else None
    return page(
        request,
        "recall/recall.html",
        status=404 if is_missing else 200,  # other errors are shown on the page
        here=here,
        modes=MODES,
        kinds=KINDS,
        significances=SIGNIFICANCES,
        arounds=AROUND,
        narrowed=any(name in here for name in NARROWING),
        turns=TURNS,
        only=only,
        wrong=wrong,
        wrong_field=wrong.facts.get("field", "queries") if wrong and not is_missing else None,
        found=found,
        answer=answer,
        nothing=explain_no_results(answer, found.options) if found and answer else None,
        results=[_shown(each) for each in answer.results] if answer else [],
        not_indexed=found.not_indexed if found else count_not_indexed(project),
    )


def _options(here: dict[str, str]) -> RecallOptions:
    """Return the question and filters of the form. Raises `InvalidInput`."""
    options = RecallOptions(
        queries=(here["q"],),
        time_words=here.get("times") != "words",
        min_importance=turn_filter(min_importance=here.get("min_importance")).min_importance,
        around=_around(here.get("around", "0")),
        limit=TURNS,
    )
    texts = {name: here[name] for name in _TEXTS if name in here}
    lists = {field: (here[name],) for name, field in _LISTS.items() if name in here}
    return replace(options, **texts, **lists)  # type: ignore[arg-type]  # texts and lists of them


def _around(written: str) -> int:
    if written not in AROUND:
        raise InvalidInput(
            f"{written[:40]!r} is not a valid number of context steps. Use {', '.join(AROUND)}.",
            code="invalid_field",
            field="around",
        )
    return int(written)


def _shown(recalled: RecalledTurn) -> _Shown:
    sequences = [row.turn.sequence for row in recalled.around]
    if not sequences:
        return _Shown(recalled=recalled, lines=(), left_out_after=0)
    *before, behind = gaps(sequences, max(recalled.session.last_sequence, sequences[-1]))
    result = recalled.hit.action.sequence
    lines = tuple(
        turn_line(row.turn, missing, LONGEST, cut=row.cut, is_result=row.turn.sequence == result)
        for row, missing in zip(recalled.around, before, strict=True)
    )
    return _Shown(recalled=recalled, lines=lines, left_out_after=behind)
