"""Everything that a visitor may read, and the one way to it: no page under /share/ asks the database for anything else.

What lies within a link stands in `within`; a scope reads nothing that is not cut to it. Whatever lies outside raises one and the
same `NotFound`, so that nothing can be learned from how it is refused.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from typing import IO
from uuid import UUID

from django.db.models import QuerySet

from timemachine.core.payloads.models import Payload
from timemachine.evidence.models import ErasedField
from timemachine.evidence.sealing.erased_since import Erased
from timemachine.evidence.sealing.previous_seals import Earlier
from timemachine.governance.deletion.erasure.queries import ErasedParts, erased_of, erased_parts
from timemachine.governance.sharing import evidence
from timemachine.governance.sharing.boundaries import (
    actions_within,
    counted_actions,
    fields_of,
    payloads_within,
    steps_within,
)
from timemachine.governance.sharing.models import COMPARISON, REPLAY, SESSION, ShareLink
from timemachine.governance.sharing.redactor import Veil
from timemachine.governance.sharing.replay_redactor import listed, side_by_side
from timemachine.governance.sharing.scope_comparison import SharedComparison
from timemachine.governance.sharing.shared_seal import SharedSeal, earlier_seals, erased_within, seal_of
from timemachine.governance.sharing.shared_steps import PAGE, Recorded, Rows, gone
from timemachine.recording.sessions.deletions import deletions_of
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.timeline.cache_origin import Origin
from timemachine.recording.timeline.step import FIRST_BYTES, Step
from timemachine.recording.usage.pure.totals import Totals
from timemachine.recording.usage.queries import totals_of
from timemachine.replay.comparison.queries import sessions_of
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.pure.summary import Tally
from timemachine.replay.runs.queries import steps_of, tally


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSession:
    """What a visitor learns of a session as a whole: its name, its agent and when it was, not who used it, and no count beyond their scope."""

    id: UUID
    name: str
    agent: str | None
    started_at: datetime
    is_undated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What one link shows. Nothing that a visitor sends widens it."""

    link: ShareLink

    def __post_init__(self) -> None:
        """What the link is to has a name, and that passes the link's veil as well; who made it is left out."""
        object.__setattr__(self, "link", _without_makers(self._veil().link(self.link)))

    def session(self) -> SharedSession:
        """The session, as far as the link shows it."""
        return _shared(self._session())

    def sessions(self) -> Sequence[SharedSession]:
        """The sessions behind what is shown: one, or those of a comparison in the order in which they started."""
        if self.link.comparison is None:
            return [self.session()]
        return [_shared(self._veil().session(each)) for each in sessions_of(self.link.comparison)]

    def totals(self) -> Totals:
        """What the recorded actions in the scope add up to. One query."""
        return totals_of(counted_actions(self.link))

    def rows(self, around: int) -> Rows:
        """The page of steps in which that step lies; nothing folds. Only a link to a session has a timeline."""
        return self._recorded().rows(around, self._last(SESSION))

    def first_step(self) -> int:
        """The first recorded step in the scope."""
        first = self._actions().order_by("sequence").values_list("sequence", flat=True).first()
        if first is None:
            raise gone()
        return first

    def step(self, sequence: int, first_bytes: int = FIRST_BYTES) -> Step:
        """One recorded step with its payloads and passages, and of the steps above and inside it those in the scope."""
        return self._recorded().step(sequence, first_bytes)

    def context_steps(self, sequence: int) -> list[Step]:
        """The steps that hold the passages of a find or ask: itself, or else every find inside it, in their order."""
        return self._recorded().context_steps(sequence)

    def document(self, sequence: int) -> dict[str, object]:
        """One recorded step as the JSON document of the contract, whole."""
        return self._recorded().document(sequence)

    def origin(self, action: Action) -> Origin | None:
        """Which ask a cached answer of a step in the scope was first given to; a session outside the link has no name."""
        return self._recorded().origin(action)

    def payload(self, sha256: str) -> Payload:
        """Bytes that something in the scope refers to, by their hash."""
        found = payloads_within(self.link).filter(sha256=sha256).first()
        if found is None or self._veil().touches(found, fields_of(self.link, found)):
            raise gone()
        return found

    def replay(self) -> Replay:
        """The replay of a link to a replay: when and how it ran, with what it came to."""
        if self.link.replay is None:
            raise gone()
        return self.link.replay

    def replay_steps(self, after: int = 0, most: int = PAGE) -> list[ReplayStep]:
        """The steps of the replay after that one, so many at most, in order, with what they came to."""
        veil = self._veil()
        return [listed(veil, each) for each in self._replay_steps().filter(sequence__gt=after)[:most]]

    def tally(self) -> Tally:
        """The replay counted; what its steps failed of stands only with those that the link shows."""
        counted = tally(self.replay())
        return replace(counted, failure=None, model=self._veil().text(counted.model))

    def replay_step(self, sequence: int) -> ReplayStep:
        """One step of the replay, with what was recorded and what came of it."""
        found = self._replay_steps().filter(sequence=sequence).first()
        if found is None:
            raise gone()
        return side_by_side(self._veil(), found, self.replay())

    def seal(self) -> SharedSeal | None:
        """When and by which key it was sealed, and how far; None where it is not."""
        return seal_of(self.link)

    def earlier_seals(self) -> list[Earlier]:
        """What was sealed before, and why that was replaced: when, not by whom."""
        return earlier_seals(self.link)

    def erased(self) -> Erased:
        """How many fields of what the link shows were erased, and when the last."""
        return erased_within(self.link)

    def erased_fields(self, steps: Sequence[Step]) -> dict[int, list[ErasedField]]:
        """What was erased of steps that the scope gave, all of one session, by their sequence. One query."""
        if not steps:
            return {}
        return erased_of(steps[0].action.session_id, [each.action.sequence for each in steps])

    def deleted_at(self, found: Step) -> datetime | None:
        """When a step that the scope gave was deleted whole, and not by whom or why; None where it was not. One query.

        Its label does not tell: who recorded the step may have named it like a deleted one.
        """
        action = found.action
        deleted = deletions_of(action.session_id, [action.sequence]).get(action.sequence)
        return None if deleted is None else deleted.at

    def erased_parts(self, steps: Sequence[ReplayStep]) -> dict[int, ErasedParts]:
        """What was erased of replayed steps that the scope gave, by their row."""
        return erased_parts(steps)

    def comparison(self) -> SharedComparison:
        """The comparison of a link to a comparison."""
        if self.link.comparison is None or self.link.target_type != COMPARISON:
            raise gone()
        return SharedComparison(link=self.link, comparison=self.link.comparison)

    def has_evidence(self) -> bool:
        """Whether there is evidence of exactly what the link shows."""
        return evidence.can_be_written(self.link)

    def write_evidence(self, target: IO[bytes]) -> None:
        """Write the evidence of what the link shows, without what it withholds."""
        if not self.has_evidence():
            raise gone()
        told = [_told(each) for each in self.sessions()]
        evidence.write(self.link, target, told[0] if self.link.comparison is None else {"sessions": told})

    def beside(self, sequence: int) -> dict[str, int | None]:
        """The steps before and after that one, of the session or of the replay, by `previous` and `next`; None at an end."""
        of_session = self.link.target_type == SESSION
        shown = self._actions().order_by("sequence") if of_session else self._replay_steps()
        steps = shown.values_list("sequence", flat=True)
        return {
            "previous": steps.filter(sequence__lt=sequence).last(),
            "next": steps.filter(sequence__gt=sequence).first(),
        }

    def _replay_steps(self) -> QuerySet[ReplayStep]:
        self._last(REPLAY)
        return steps_of(self.replay()).filter(id__in=steps_within(self.link).values("id"))

    def _recorded(self) -> Recorded:
        return Recorded(session=self._session(), actions=self._actions(), veil=self._veil())

    def _veil(self) -> Veil:
        return Veil.of(self.link)

    def _session(self) -> Session:
        if self.link.session is None:
            raise gone()
        return self.link.session

    def _actions(self) -> QuerySet[Action]:
        return actions_within(self.link)

    def _last(self, target_type: str) -> int:
        """The last step of a link to one of these that shows more than its evidence."""
        if self.link.target_type != target_type or self.link.evidence_only:
            raise gone()
        return self.link.through_sequence or 0


def _without_makers(link: ShareLink) -> ShareLink:
    """The link to a replay or comparison that says not by whom it was launched or cancelled."""
    shown = copy(link)
    if link.replay is not None:
        shown.replay = copy(link.replay)
        shown.replay.requested_by, shown.replay.cancel_requested_by = "", None
    if link.comparison is not None:
        shown.comparison = copy(link.comparison)
        shown.comparison.requested_by = ""
    return shown


def _told(shared: SharedSession) -> dict[str, str | None]:
    return {"name": shared.name, "agent": shared.agent}


def _shared(session: Session) -> SharedSession:
    return SharedSession(
        id=session.id,
        name=session.name,
        agent=session.agent,
        started_at=session.started_at,
        is_undated=session.is_undated,
    )
