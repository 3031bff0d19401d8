"""Two sessions or replays step by step, and two of their steps side by side."""

from collections.abc import Sequence
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from timemachine.core.accounts.models import OPERATOR, Project
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.numbers import spaced
from timemachine.jobs.queue import enqueue
from timemachine.llm.pure.completion import is_refused
from timemachine.memory.search.sessions import SessionQuery, sessions_page
from timemachine.replay.alignment.details import StepDetail, detail_of
from timemachine.replay.alignment.divergence import first_divergence
from timemachine.replay.alignment.long_diffs import is_long
from timemachine.replay.alignment.queries import SHOWS, Aligned, Show, aligned
from timemachine.replay.alignment.runs import run_of
from timemachine.replay.tasks import make_long_diff
from timemachine.text.pure.difference.sessions import StepPair
from timemachine.text.pure.difference.steps import differing
from timemachine.text.pure.difference.verdict import answer_verdict
from timemachine.web.access import Access, get_view
from timemachine.web.comparisons.presenters.runs import chips, pairs_page, shown_values, step_address
from timemachine.web.errors import page_message
from timemachine.web.http import page, requested_part
from timemachine.web.ranked_lists import ranked_lists
from timemachine.web.replays.presenters.side_values import compared_values

PARTS: Final = ("values",)
MOST_DIGITS: Final = 9
TWO: Final = 2
OFFERED: Final = 20
"""Number of sessions on a page of those to choose from."""


@get_view()
def compare(request: HttpRequest, access: Access) -> HttpResponse:
    """`/compare/`: `a` and `b` are sessions or replays; `show` filters the pairs, `at` is the first visible one.

    `run`, given twice, are the two selected in a list; the older one is on the left. As long as one is missing, the sessions that match
    `q` are offered, from `after` on.
    """
    ticked = request.GET.getlist("run")
    if len(ticked) == TWO:
        older, newer = sorted(ticked)  # a UUIDv7 begins with its time
        return redirect(reverse("compare", query={"a": older, "b": newer}))
    left, right = (request.GET.get(name, "").strip() for name in "ab")
    if not left or not right:
        left = left or "".join(ticked[:1])
        context = {"a": left, "b": right, "ticked": len(ticked), **_offered(request, access, left)}
        return page(request, "compare/choose.html", context)
    wrong = _not_there(access.project, a=left, b=right)
    if wrong:
        context = {"a": left, "b": right, "wrong": wrong, **_offered(request, access, left)}
        return page(request, "compare/choose.html", context, status=404)
    found = aligned(access.project, left, right)
    show: Show = next((each for each in SHOWS if each == request.GET.get("show")), "all")
    at = _number(request, "at")
    context = {
        "a": found.left,
        "b": found.right,
        "found": found,
        "here": {"a": left, "b": right, "show": show if show != "all" else None, "at": at or None},
        "chips": list(chips(found, show)),
        "divergence": first_divergence(found),
        "page": pairs_page(found, show, at),
    }
    return page(request, "compare/compare.html", context)


@get_view()
def steps(request: HttpRequest, access: Access) -> HttpResponse:
    """`/compare/steps/`: the step `left` of `a` next to the step `right` of `b`; with `all` nothing is collapsed.

    `row` is the first visible row of a long diff. A page that waits for a worker polls, and gets 204 if nothing changed.
    """
    project = access.project
    names = [request.GET.get(name, "").strip() for name in "ab"]
    found = aligned(project, *names)
    left, right = (
        detail_of(side.run, _number(request, name))
        for name, side in (("left", found.left), ("right", found.right))
    )
    here: dict[str, str | int] = {
        "a": names[0],
        "b": names[1],
        "left": left.sequence,
        "right": right.sequence,
    }
    everything = request.GET.get("all") == "1"
    values = list(shown_values(left, right, everything=everything, start=_number(request, "row")))
    waiting = [value.long for value in values if value.long and value.found.waits]
    for long_diff in waiting:
        enqueue(make_long_diff, long_diff)
    if waiting and requested_part(request, PARTS):
        return HttpResponse(status=204)
    differs_in, verdict = _differs_in(found, left, right), _verdict(left, right)
    context = {
        "left": left,
        "right": right,
        "left_address": step_address(left.run, left.sequence),
        "right_address": step_address(right.run, right.sequence),
        "here": here,
        "all_address": f"?{urlencode({**here, 'all': 1})}",
        "differs_in": differs_in,
        "verdict": verdict,
        "sentence": _sentence(differs_in, verdict),
        "facts": compared_values(left, right),
        "values": values,
        "waits": bool(waiting),
        "ranked": ranked_lists(left.frames, right.frames),
        **_beside(found, left),
    }
    return page(request, "compare/steps.html", context, parts=PARTS)


def _offered(request: HttpRequest, access: Access, left: str) -> dict[str, object]:
    """Return the sessions that match the search, and the one that they would be compared with."""
    project = access.project
    query = request.GET.get("q", "").strip()
    found = sessions_page(project, SessionQuery(q=query), request.GET.get("after") or None, OFFERED)
    chosen = run_of(project, left).session if left and not _not_there(project, a=left) else None
    here = {"a": left if chosen else None, "q": query}
    may_run = access.may(OPERATOR)
    return {"here": here, "q": query, "found": found, "chosen": chosen, "may_run": may_run}


def _not_there(project: Project, **names: str) -> dict[str, str]:
    """Return the errors of the fields that name no session or replay."""
    wrong = {}
    for field, name in names.items():
        try:
            run_of(project, name)
        except NotFound as why:
            wrong[field] = page_message(why)
    return wrong


def _differs_in(found: Aligned, left: StepDetail, right: StepDetail) -> tuple[str, ...]:
    """Return the differences of the two. Raises `NotFound` for a step that is not compared with a replay: a find inside an ask."""
    sides = (found.left, left.sequence), (found.right, right.sequence)
    for side, sequence in sides:
        if sequence not in side.steps:
            raise NotFound(
                f"Step {sequence} is not compared separately. Open the ask that contains it.",
                code="step_not_found",
                sequence=sequence,
            )
    one, other = (side.steps[sequence].facts for side, sequence in sides)
    return differing(one, other)


def _verdict(left: StepDetail, right: StepDetail) -> str | None:
    """Return the verdict on two answers; None if one of them is missing."""
    answers = left.output, right.output
    if left.kind != "ask" or right.kind != "ask" or not all(isinstance(answer, str) for answer in answers):
        return None
    if is_long(*answers) or left.error or right.error:
        return None
    stated = bool(is_refused(left.ended)), bool(is_refused(right.ended))
    return answer_verdict(*answers, stated=stated).name


def _sentence(differs_in: Sequence[str], verdict: str | None) -> str:
    """Return in one sentence how the two steps differ."""
    if not differs_in:
        return "The steps are the same."
    answers = f"; of the answers: {spaced(verdict)}" if verdict and verdict != "identical" else ""
    return f"The steps differ in {', '.join(differs_in)}{answers}."


def _beside(found: Aligned, left: StepDetail) -> dict[str, StepPair | None]:
    modified = [pair for pair in found.pairs if pair.status == "modified" and pair.left]
    before = [pair for pair in modified if pair.left and pair.left.sequence < left.sequence]
    after = [pair for pair in modified if pair.left and pair.left.sequence > left.sequence]
    return {"previous": before[-1] if before else None, "next": after[0] if after else None}


def _number(request: HttpRequest, name: str) -> int:
    digits = request.GET.get(name, "")[:MOST_DIGITS]
    return int(digits) if digits.isascii() and digits.isdigit() else 0
