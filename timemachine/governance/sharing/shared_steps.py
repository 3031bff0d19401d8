"""The recorded steps of one session, as far as a link shows them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.db.models import Q, QuerySet

from timemachine.core.pure.errors import NotFound
from timemachine.governance.sharing.pure.key_holders import is_maker
from timemachine.governance.sharing.redactor import Veil
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.timeline.cache_origin import Origin, origin_of
from timemachine.recording.timeline.document import action_json, with_everything
from timemachine.recording.timeline.pure.nesting import REACH, Place, nest
from timemachine.recording.timeline.rows import Row, rows_of
from timemachine.recording.timeline.step import FIRST_BYTES, Step, step
from timemachine.text.redaction.pure.marks import FIELD, mark

PAGE: Final = 200


def gone() -> NotFound:
    """The one answer to every link, and every page of a link, that shows nothing: why it does not stays with the owner."""
    return NotFound(
        "There is no such link, or it is no longer valid. Ask whoever sent it for a new one.",
        code="share_link_not_valid",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Consecutive steps; `earlier` and `later` are steps of the pages beside, None at an end."""

    rows: Sequence[Place[Row]]
    earlier: int | None
    later: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """Some actions of a session; whatever is not among them raises the one `NotFound`."""

    session: Session
    actions: QuerySet[Action]
    veil: Veil

    def rows(self, around: int, last: int) -> Rows:
        """The page of `PAGE` steps in which that step lies, of those up to `last`; nothing folds."""
        first = (min(max(around, 1), last) - 1) // PAGE * PAGE + 1
        end = min(first + PAGE - 1, last)
        around_it = Q(sequence__gte=first - REACH, sequence__lte=end)
        found = rows_of(self.session, around_it, PAGE + REACH, recorded=True)
        places = nest(found, unfolded={row.sequence for row in found})
        shown = [place for place in places if place.step.sequence >= first]
        rows = self.veil.rows(self.session.id, [place.step for place in shown])
        return Rows(
            rows=[replace(place, folds=False, step=row) for place, row in zip(shown, rows, strict=True)],
            earlier=first - 1 if first > 1 else None,
            later=end + 1 if end < last else None,
        )

    def step(self, sequence: int, first_bytes: int = FIRST_BYTES) -> Step:
        """One step with its payloads and passages, and of the steps above and inside it those that are shown too."""
        if not self.actions.filter(sequence=sequence).exists():
            raise gone()
        found = step(self.session, sequence, first_bytes)
        beside = [row.sequence for row in (found.parent, *found.children) if row is not None]
        seen = set(self.actions.filter(sequence__in=beside).values_list("sequence", flat=True))
        self._without_others(found.action)
        found = replace(
            found,
            parent=found.parent if found.parent and found.parent.sequence in seen else None,
            children=[row for row in found.children if row.sequence in seen],
        )
        return found if self.veil.rules is None else self.veil.step(found, self._whole(sequence), first_bytes)

    def context_steps(self, sequence: int) -> list[Step]:
        """The steps that hold the passages of a find or ask: itself, or else every find inside it, in their order."""
        found = self.step(sequence)
        inside = [row.sequence for row in found.children if row.kind == "find"]
        return [found] if found.passages or not inside else [self.step(each) for each in inside]

    def document(self, sequence: int) -> dict[str, Any]:
        """One step as the JSON document of the contract, whole."""
        return self.veil.document(action_json(self._whole(sequence)))

    def origin(self, action: Action) -> Origin | None:
        """Which ask a cached answer was first given to; a session outside the link has no name."""
        return origin_of(self.session.project_id, self._named(action.cached_from))

    def _whole(self, sequence: int) -> Action:
        found = with_everything(self.actions).filter(sequence=sequence).first()
        if found is None:
            raise gone()
        self._without_others(found)
        return found

    def _without_others(self, action: Action) -> None:
        """Have an action that was read name no session outside the link, and nobody by key or e-mail as its agent."""
        action.cached_from = self._named(action.cached_from)
        if is_maker(action.kind, action.agent):
            action.agent = mark(FIELD)

    def _named(self, cached_from: dict[str, object] | None) -> dict[str, object] | None:
        """Which ask a cached answer came from, without the name of a session that is not in the link."""
        if cached_from is None or cached_from.get("session") == str(self.session.id):
            return cached_from
        return {name: value for name, value in cached_from.items() if name not in {"session", "sequence"}}
