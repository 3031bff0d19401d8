"""The estimate next to a form that launches something. It follows the fields, and without JavaScript a button shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest, HttpResponse

from timemachine.core.pure.numbers import counted
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.replay.runs.estimate import total_of
from timemachine.replay.runs.schemas import EstimateOut
from timemachine.web.form_parts import RecordForm
from timemachine.web.formatting import compact
from timemachine.web.http import page, requested_part

_PARTS: Final = ("estimate",)
_NOUNS: Final = {"ask": "ask", "find": "find", MODEL_CALL: "model call"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a launch would take: an estimate for each model, of how many steps one was read for it, how many `runs` it covers,
    other `facts` as names and values, what it assumes, and why it would achieve nothing."""

    found: Sequence[EstimateOut]
    every: int = 1
    runs: int = 1
    facts: Sequence[tuple[str, int]] = ()
    assumption: str = ""
    warning: str = ""

    @property
    def total(self) -> EstimateOut:
        return total_of(self.found)

    @property
    def steps(self) -> str:
        """Return what would be repeated: `2 asks, 1 find`, with several runs `2 asks, 3 times`, with several models those of each."""
        first = self.found[0]
        counts = [
            (first.kinds[kind] // self.runs, noun) for kind, noun in _NOUNS.items() if kind in first.kinds
        ]
        if self.every > 1:
            found = [f"{compact(number)} {noun}s" for number, noun in counts]
        else:
            found = [counted(number, noun) for number, noun in counts]
        words = f"{'about ' if self.every > 1 else ''}{', '.join(found) or f'{first.steps // self.runs:,}'}"
        if self.runs > 1:
            words += f", {self.runs:,} times"
        return f"{words}, for each of {len(self.found):,} models" if len(self.found) > 1 else words


def is_estimating(request: HttpRequest) -> bool:
    """Return whether the request asks for the estimate of a form and launches nothing."""
    return bool(requested_part(request, _PARTS)) or "estimate" in request.POST


def estimate_alone(request: HttpRequest, form: RecordForm, estimated: Estimate | None) -> HttpResponse | None:
    """Return only the estimate, if htmx asks for it; None if the whole page is wanted."""
    if not requested_part(request, _PARTS):
        return None
    return page(request, "components/estimate.html", form=form, estimated=estimated, parts=_PARTS)
