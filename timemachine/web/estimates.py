"""The estimate next to a form that launches something. It follows the fields, and without JavaScript a button shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest, HttpResponse

from timemachine.replay.runs.estimate import total_of
from timemachine.replay.runs.schemas import EstimateOut
from timemachine.web.form_parts import RecordForm
from timemachine.web.http import page, requested_part

_PARTS: Final = ("estimate",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What a launch would take: an estimate for each model, of how many steps one was read for it, other `facts` as names
    and values, and what it assumes."""

    found: Sequence[EstimateOut]
    every: int = 1
    facts: Sequence[tuple[str, int]] = ()
    assumption: str = ""

    @property
    def total(self) -> EstimateOut:
        return total_of(self.found)


def is_estimating(request: HttpRequest) -> bool:
    """Return whether the request asks for the estimate of a form and launches nothing."""
    return bool(requested_part(request, _PARTS)) or "estimate" in request.POST


def estimate_alone(request: HttpRequest, form: RecordForm, estimated: Estimate | None) -> HttpResponse | None:
    """Return only the estimate, if htmx asks for it; None if the whole page is wanted."""
    if not requested_part(request, _PARTS):
        return None
    return page(request, "components/estimate.html", form=form, estimated=estimated, parts=_PARTS)
