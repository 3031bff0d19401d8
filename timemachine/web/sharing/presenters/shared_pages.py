"""What several pages of share links show: the cover, the result in numbers, and both sides of a replayed step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from django.template import Context
from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from timemachine.governance.sharing.models import COMPARISON, REPLAY, SESSION
from timemachine.governance.sharing.read_models.comparisons import SharedComparison
from timemachine.governance.sharing.read_models.replays import SharedReplayStep
from timemachine.governance.sharing.read_models.requests import SharedRequest
from timemachine.governance.sharing.read_models.seals import SharedErasure
from timemachine.governance.sharing.read_models.steps import SharedStep
from timemachine.governance.sharing.scope import Scope
from timemachine.recording.timeline.pure.picture import AxisName
from timemachine.recording.timeline.step import FIRST_BYTES, MORE_BYTES
from timemachine.replay.runs.pure import summary
from timemachine.verifier import program_sha256
from timemachine.web.replays.presenters.side_by_side import side_by_side
from timemachine.web.sessions.presenters.model_request import FIRST_CHARACTERS, MOST, SHOWN
from timemachine.web.sessions.presenters.picture import Drawing, drawing, picture_over
from timemachine.web.sessions.presenters.steps import address_query
from timemachine.web.sharing.presenters.replayed_steps import finding, replayed_request
from timemachine.web.template_library import register

TABS: Final = ("action", "state", "context", "raw")
PRINTED_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlState:
    """The state of a step's page in the URL."""

    tab: str
    more: bool
    raw: bool = False
    printed: bool = False
    axis: AxisName = "steps"

    @property
    def preserved(self) -> dict[str, object]:
        """Return the parts of the query that links keep besides the step."""
        return {
            "tab": self.tab if self.tab != TABS[0] else None,
            "raw": 1 if self.raw else None,
            "axis": self.axis if self.axis != "steps" else None,
        }

    @property
    def first_bytes(self) -> int:
        """Return how many bytes of each payload are shown."""
        if self.printed:
            return PRINTED_BYTES
        return MORE_BYTES if self.more else FIRST_BYTES

    @property
    def most_and_characters(self) -> tuple[int, int]:
        """Return how many messages of a request are shown, and how many characters of each part."""
        return (MOST, self.first_bytes) if self.more or self.printed else (SHOWN, FIRST_CHARACTERS)


@register.simple_tag(takes_context=True)
def page_at(context: Context, name: str, *where: object) -> str:
    """Return the URL of a page of what is shared, or in the preview of a link, that of the same page of the preview."""
    if not context.get("is_look"):
        return reverse(name, args=where)
    return address_query({**context["chosen"], "step": where[1] if len(where) > 1 else None}) or "?"


def about(scope: Scope, made: SharedComparison | None = None) -> dict[str, object]:
    """Return the context of the page head: what is shared, by whom, its seal, its erasures and its download."""
    link, sessions = scope.about(), scope.sessions()
    context: dict[str, object] = {
        "link": link,
        "withholds_in": None if link.redaction is None else scope.withholds_in,
        "sessions": sessions,
        "seal": SimpleLazyObject(scope.seal),
        "earlier": scope.earlier_seals(),
        "erased": scope.erased(),
        "bundle": reverse("shared_evidence", args=[link.public_id]) if scope.has_evidence() else None,
        "signing_key": SimpleLazyObject(scope.signing_key),
        "verifier_sha256": SimpleLazyObject(program_sha256),
    }
    if link.target_type == COMPARISON:
        made = made or scope.comparison().about()
        return context | {"comparison": made, "arms": made.arms}
    context |= {"session": sessions[0], "continuation": scope.continuation()}
    return context | {"replay": scope.replay()} if link.target_type == REPLAY else context


def outcome(scope: Scope) -> dict[str, object]:
    """Return the result in numbers."""
    if scope.link.target_type == SESSION:
        return {"totals": scope.totals()}
    if scope.link.target_type == COMPARISON:
        return {"steps": scope.comparison().steps_compared()}
    counts = scope.tally()
    return {
        "counts": counts,
        "finding": summary.finding(counts),
        "details": summary.details(counts),
        "sentence": summary.sentence(counts),
    }


def drawing_of(scope: Scope, axis: AxisName) -> Drawing | None:
    """Return the picture of a session; None without steps. At most three queries."""
    found = picture_over(axis, scope.picture)
    return None if found is None else drawing(found, asked=axis)


def both_sides(
    scope: Scope,
    step: SharedReplayStep,
    contexts: Sequence[SharedStep],
    request: SharedRequest | None,
    erased: Mapping[int, Sequence[SharedErasure]],
    state: UrlState,
    *,
    everything: bool = True,
) -> dict[str, object]:
    """Return both sides of a replayed step, its `request`, and the recorded steps whose passages it uses with what was `erased` of
    them."""
    sides = side_by_side(step, everything=everything, beginnings=True)
    options = scope.replay().options if scope.link.target_type == REPLAY else {}
    sent = replayed_request(request, options, state.first_bytes, *state.most_and_characters)
    if scope.link.redaction is not None:
        # Only the verdict says that two answers are the same: they may differ in what is withheld.
        is_same = sides.diff.same and step.verdict == "identical"
        sides = replace(sides, diff=replace(sides.diff, same=is_same))
    return {
        "step": step,
        "erased_parts": {step.id: step.erased},
        "sides": sides,
        "contexts": contexts,
        "erased_fields": erased,
        "asked": state,
        "here": {},
        "request_sent": sent,
        "finding": finding(sides.finding.sentence, sent),
    }
