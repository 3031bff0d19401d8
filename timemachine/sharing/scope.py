"""Everything that a visitor may read, and the one way to it: no page under /share/ asks the database for anything else.

A link to a session shows its steps up to the one that was the last when the link was created, and never a replay. A link to
a replay shows that replay, its steps, and the recorded actions that it replayed: its finds and asks, and the find inside an
ask, which holds that ask's passages. Whatever lies outside raises one and the same `NotFound`, so that nothing can be learned
from how it is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from django.db.models import Exists, OuterRef, Q, QuerySet

from timemachine.base.errors import NotFound
from timemachine.payloads.models import Payload
from timemachine.recording.models import Action, Hit
from timemachine.replay.models import Replay, ReplayHit, ReplayStep
from timemachine.replay.queries import steps_of, tally
from timemachine.replay.summary import Tally
from timemachine.rollup.queries import totals_of
from timemachine.rollup.totals import Totals
from timemachine.sharing.models import REPLAY, SESSION, ShareLink
from timemachine.timeline.document import action_json, with_everything
from timemachine.timeline.nesting import REACH, Place, nest
from timemachine.timeline.origin import Origin, origin_of
from timemachine.timeline.rows import Row, rows_of
from timemachine.timeline.step import FIRST_BYTES, Step, step

PAGE: Final = 200


def gone() -> NotFound:
    """The one answer to every link, and every page of a link, that shows nothing: why it does not stays with the owner."""
    return NotFound(
        "There is no such link, or it is no longer valid. Ask whoever sent it for a new one.",
        code="share_link_not_valid",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSession:
    """What a visitor learns of the session as a whole: its name and whose it was, and no count that goes beyond their scope."""

    name: str
    key: str
    agent: str | None
    user: str | None
    started_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Consecutive steps; `earlier` and `later` are steps of the pages beside, None at an end."""

    rows: Sequence[Place[Row]]
    earlier: int | None
    later: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What one link shows. Nothing that a visitor sends widens it."""

    link: ShareLink

    def session(self) -> SharedSession:
        """The session, as far as the link shows it."""
        session = self.link.session
        return SharedSession(
            name=session.name,
            key=session.key,
            agent=session.agent,
            user=session.user,
            started_at=session.started_at,
        )

    def totals(self) -> Totals:
        """What the recorded actions in the scope add up to. One query."""
        return totals_of(self._actions())

    def rows(self, around: int) -> Rows:
        """The page of `PAGE` steps in which that step lies; nothing folds. Only a link to a session has a timeline."""
        if self.link.target_type != SESSION:
            raise gone()
        last = self.link.through_sequence
        first = (min(max(around, 1), last) - 1) // PAGE * PAGE + 1
        end = min(first + PAGE - 1, last)
        found = rows_of(self.link.session, Q(sequence__gte=first - REACH, sequence__lte=end), PAGE + REACH)
        places = nest(found, unfolded={row.sequence for row in found})
        return Rows(
            rows=[replace(place, folds=False) for place in places if place.step.sequence >= first],
            earlier=first - 1 if first > 1 else None,
            later=end + 1 if end < last else None,
        )

    def first_step(self) -> int:
        """The first recorded step in the scope."""
        first = self._actions().order_by("sequence").values_list("sequence", flat=True).first()
        if first is None:
            raise gone()
        return first

    def step(self, sequence: int, first_bytes: int = FIRST_BYTES) -> Step:
        """One recorded step with its payloads and passages, and of the steps above and inside it those in the scope."""
        if not self._actions().filter(sequence=sequence).exists():
            raise gone()
        found = step(self.link.session, sequence, first_bytes)
        beside = [row.sequence for row in (found.parent, *found.children) if row is not None]
        seen = set(self._actions().filter(sequence__in=beside).values_list("sequence", flat=True))
        found.action.cached_from = self._named(found.action.cached_from)
        return replace(
            found,
            parent=found.parent if found.parent and found.parent.sequence in seen else None,
            children=[row for row in found.children if row.sequence in seen],
        )

    def context_steps(self, sequence: int) -> list[Step]:
        """The steps that hold the passages of a find or ask: itself, or else every find inside it, in their order."""
        found = self.step(sequence)
        inside = [row.sequence for row in found.children if row.kind == "find"]
        return [found] if found.passages or not inside else [self.step(each) for each in inside]

    def document(self, sequence: int) -> dict[str, object]:
        """One recorded step as the JSON document of the contract, whole."""
        found = with_everything(self._actions()).filter(sequence=sequence).first()
        if found is None:
            raise gone()
        found.cached_from = self._named(found.cached_from)
        return action_json(found)

    def origin(self, action: Action) -> Origin | None:
        """Which ask a cached answer of a step in the scope was first given to; a session outside the link has no name."""
        return origin_of(self.link.project_id, self._named(action.cached_from))

    def payload(self, sha256: str) -> Payload:
        """Bytes that something in the scope refers to, by their hash."""
        known = Payload.objects.filter(project_id=self.link.project_id, sha256=sha256)
        found = known.filter(self._refers()).first()
        if found is None:
            raise gone()
        return found

    def replay(self) -> Replay:
        """The replay of a link to a replay."""
        if self.link.target_type != REPLAY or self.link.replay is None:
            raise gone()
        return self.link.replay

    def replay_steps(self) -> QuerySet[ReplayStep]:
        """The steps of the replay, in order, with what was recorded and what came of it."""
        return steps_of(self.replay()).filter(sequence__lte=self.link.through_sequence)

    def tally(self) -> Tally:
        """The replay counted; what its steps failed of stands only with those that the link shows."""
        return replace(tally(self.replay()), failure=None)

    def replay_step(self, sequence: int) -> ReplayStep:
        """One step of the replay."""
        found = self.replay_steps().filter(sequence=sequence).first()
        if found is None:
            raise gone()
        return found

    def beside(self, sequence: int) -> dict[str, int | None]:
        """The steps before and after that one, of the session or of the replay, by `previous` and `next`; None at an end."""
        shown = self._actions() if self.link.target_type == SESSION else self._steps()
        steps = shown.order_by("sequence").values_list("sequence", flat=True)
        return {
            "previous": steps.filter(sequence__lt=sequence).last(),
            "next": steps.filter(sequence__gt=sequence).first(),
        }

    def _named(self, cached_from: dict[str, object] | None) -> dict[str, object] | None:
        """Which ask a cached answer came from, without the name of a session that is not in this link."""
        if cached_from is None or cached_from.get("session") == str(self.link.session_id):
            return cached_from
        return {name: value for name, value in cached_from.items() if name not in {"session", "sequence"}}

    def _actions(self) -> QuerySet[Action]:
        """The recorded actions in the scope: what everything above is cut to."""
        actions = Action.objects.filter(session_id=self.link.session_id)
        if self.link.target_type == SESSION:
            return actions.filter(sequence__lte=self.link.through_sequence)
        replayed = actions.filter(id__in=self._steps().values("action_id"))
        asks = replayed.filter(kind="ask")
        inside = Q(parent_sequence__in=asks.values("sequence"))
        inside |= Q(parent_id_given__in=asks.filter(client_id__isnull=False).values("client_id"))
        return actions.filter(Q(id__in=replayed.values("id")) | Q(kind="find") & inside)

    def _steps(self) -> QuerySet[ReplayStep]:
        return ReplayStep.objects.filter(replay=self.replay(), sequence__lte=self.link.through_sequence)

    def _refers(self) -> Q:
        actions = self._actions()
        own = Q(input=OuterRef("pk")) | Q(output=OuterRef("pk")) | Q(source=OuterRef("pk"))
        frozen = Hit.objects.filter(payload=OuterRef("pk"), action__in=actions)
        found = Q(Exists(actions.filter(own))) | Q(Exists(frozen))
        if self.link.target_type != REPLAY:
            return found
        again = ReplayHit.objects.filter(payload=OuterRef("pk"), step__in=self._steps())
        return found | Q(Exists(self._steps().filter(output=OuterRef("pk")))) | Q(Exists(again))
