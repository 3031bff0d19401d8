"""Everything that a visitor may read: pages under /share/ read the database only through a scope.

`boundaries` defines what belongs to a link, and a scope reads nothing beyond that. It returns read models,
which are redacted while they are built. Anything else raises one and the same `NotFound`, so that a refusal
reveals nothing.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO

from django.db.models import QuerySet

from timemachine.core.accounts.queries import name_of
from timemachine.evidence.sealing.erased_since import ErasureSummary
from timemachine.governance.deletion.erasure.queries import ErasedParts, erased_parts
from timemachine.governance.sharing import evidence, recorded_steps, seals
from timemachine.governance.sharing.boundaries import (
    actions_within,
    counted_actions,
    fields_of,
    payloads_within,
    steps_within,
)
from timemachine.governance.sharing.comparison_scope import ComparisonScope
from timemachine.governance.sharing.models import COMPARISON, REPLAY, SESSION, ShareLink
from timemachine.governance.sharing.pure.token import link_not_valid
from timemachine.governance.sharing.read_models.contents import SharedContents, contents_of
from timemachine.governance.sharing.read_models.continuations import SharedContinuation, shared_continuation
from timemachine.governance.sharing.read_models.links import (
    SharedLink,
    SharedSession,
    shared_link,
    shared_session,
)
from timemachine.governance.sharing.read_models.pictures import shared_picture
from timemachine.governance.sharing.read_models.replays import (
    SharedReplay,
    SharedReplayRow,
    SharedReplayStep,
    shared_replay,
    shared_replay_row,
    shared_replay_steps,
    shared_tally,
)
from timemachine.governance.sharing.read_models.requests import SharedRequest, shared_request
from timemachine.governance.sharing.read_models.rows import SharedRows
from timemachine.governance.sharing.read_models.seals import (
    SharedDeletion,
    SharedEarlierSeal,
    SharedErasure,
    SharedKey,
    SharedSeal,
)
from timemachine.governance.sharing.read_models.states import SharedState
from timemachine.governance.sharing.read_models.steps import SharedPayload, SharedStep, shared_payload
from timemachine.governance.sharing.recorded_steps import PAGE, RecordedSteps, batches_by_size
from timemachine.governance.sharing.redactor import Redactor
from timemachine.recording.model_calls.pure.requests import FrozenRequest
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.recording.timeline.pieces import StepRange
from timemachine.recording.timeline.pure.picture import AxisName, Picture
from timemachine.recording.timeline.step import FIRST_BYTES
from timemachine.recording.usage.pure.totals import Totals
from timemachine.recording.usage.queries import totals_of
from timemachine.replay.comparison.queries import sessions_of
from timemachine.replay.runs.answer_lines import NO_LINES, answer_lines
from timemachine.replay.runs.models import Replay, ReplayStep
from timemachine.replay.runs.pure.summary import Tally
from timemachine.replay.runs.queries import size_of_replay_step, steps_of
from timemachine.replay.runs.tallies import tally

_NOTHING_ERASED = ErasedParts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What one link shows. Nothing that a visitor sends widens it. `link` is for commands, not for pages."""

    link: ShareLink

    def about(self) -> SharedLink:
        """Return the link itself: what it shows, who shares it, and until when."""
        creator = name_of(self.link.created_by) if self.link.redaction else None
        return shared_link(self.link, self._redactor(), creator=creator)

    def continuation(self) -> SharedContinuation | None:
        """Return what the session of a link to a session continues, and how that ended; None if it continues nothing."""
        if self.link.target_type != SESSION:
            return None
        return shared_continuation(self._session(), self._actions(), self._redactor())

    def session(self) -> SharedSession:
        """Return the session of a link to a session or a replay."""
        return shared_session(self._session(), self._redactor())

    def sessions(self) -> Sequence[SharedSession]:
        """Return the sessions of what is shown: one, or those of a comparison in order of start."""
        if self.link.comparison is None:
            return [self.session()]
        redactor = self._redactor()
        return [shared_session(each, redactor) for each in sessions_of(self.link.comparison)]

    def totals(self) -> Totals:
        """Return the totals of the recorded actions in the scope. One query."""
        return totals_of(counted_actions(self.link))

    def rows(self, around: int) -> SharedRows:
        """Return the page of steps that contains a step, nothing collapsed. Only sessions have a timeline."""
        return self._recorded().rows(around, self._last(SESSION))

    def first_step(self) -> int:
        """Return the first recorded step in the scope."""
        first = self._actions().order_by("sequence").values_list("sequence", flat=True).first()
        if first is None:
            raise link_not_valid()
        return first

    def step(self, sequence: int, first_bytes: int = FIRST_BYTES) -> SharedStep:
        """Return one recorded step with its payloads and passages, and the shown steps above and inside it."""
        return self._recorded().step(sequence, first_bytes)

    def steps_in_full(self, span: StepRange, first_bytes: int) -> Iterator[list[SharedStep]]:
        """Yield the steps of a session within a range in order, a few at a time, each payload up to that many bytes."""
        self._last(SESSION)
        return self._recorded().in_full(span, first_bytes)

    def context_steps(self, sequences: Collection[int]) -> dict[int, list[SharedStep]]:
        """Return for each find or ask the steps with its passages: itself, or else the finds inside it."""
        return self._recorded().context_steps(sequences)

    def contents(self) -> SharedContents:
        """Return the parts of a session's timeline and its first failed steps. One query."""
        return contents_of(self._actions(), self._last(SESSION))

    def picture(self, axis: AxisName) -> Picture | None:
        """Return the picture of a session; None without steps, or without times for a time axis. At most two queries."""
        last = self._last(SESSION)
        return shared_picture(self._session(), self._actions(), last, axis, self._redactor())

    def state(self, sequence: int) -> SharedState:
        """Return the state of a session after one of its steps."""
        if not self._actions().filter(sequence=sequence).exists():
            raise link_not_valid()
        return replace(self._recorded(), last=self._last(SESSION)).state(sequence)

    def request(self, sequence: int, messages: int) -> FrozenRequest:
        """Return the request of a model call of a session, with this many of its latest messages.

        Raises:
            InvalidInput: The step is not a model call, or its conversation is too long.
        """
        last = self._last(SESSION)
        return replace(self._recorded(), last=last).request(sequence, messages)

    def document(self, sequence: int) -> dict[str, object]:
        """Return one complete recorded step in the form of the API."""
        return self._recorded().document(sequence)

    def payload(self, sha256: str) -> SharedPayload:
        """Return bytes in the scope by hash. Raises `NotFound` if anything of them is withheld."""
        found = payloads_within(self.link).filter(sha256=sha256).first()
        if found is None or self._redactor().withholds(found, fields_of(self.link, found)):
            raise link_not_valid()
        return shared_payload(found)

    def replay(self) -> SharedReplay:
        """Return the replay of a link to a replay."""
        return shared_replay(self._replay(), self._redactor())

    def tally(self) -> Tally:
        """Return the counts of the replay."""
        counted = tally(self._replay())
        return shared_tally(counted, self._redactor(), only_figures=self.link.evidence_only)

    def replay_steps(self, after: int = 0, most: int = PAGE) -> list[SharedReplayRow]:
        """Return the steps of the replay after a step, in order, at most `most`, with their results."""
        redactor = self._redactor()
        steps = list(self._replay_steps().filter(sequence__gt=after)[:most])
        erased = erased_parts(steps)
        lines = answer_lines(
            steps,
            lambda output: redactor.document({"output": output})["output"],
            withholds=redactor.rules is not None,
        )
        return [
            shared_replay_row(
                each, redactor, erased.get(each.id, _NOTHING_ERASED), lines.get(each.id, NO_LINES)
            )
            for each in steps
        ]

    def replay_step(self, sequence: int) -> SharedReplayStep:
        """Return one step of the replay with its recorded and new content."""
        return self.replay_steps_in_full([sequence])[0]

    def replay_steps_in_full(self, sequences: Collection[int]) -> list[SharedReplayStep]:
        """Return some steps of the replay in order, with their recorded and new content."""
        found = list(self._replay_steps().select_related("replay").filter(sequence__in=sequences))
        if len(found) < len(sequences):
            raise link_not_valid()
        return shared_replay_steps(found, self._redactor())

    def replayed_sequences(self, within: slice) -> Iterator[list[int]]:
        """Yield some steps of the replay by number, those at these places of their order, as many at a time as are read together."""
        rows = self._replay_steps().order_by("sequence").values_list("sequence", size_of_replay_step())
        return batches_by_size(rows[within])

    def count_replayed(self) -> int:
        """Return the number of steps of the replay."""
        return self._replay_steps().count()

    def replayed_requests(self, steps: Collection[int]) -> dict[int, SharedRequest]:
        """Return the requests of steps of a replay or comparison, by their ids, without those that are not model calls."""
        found = steps_within(self.link).select_related("action__input", "action__output", "action__session")
        redactor = self._redactor()
        return {
            call.id: shared_request(call, redactor) for call in found.filter(id__in=steps, kind=MODEL_CALL)
        }

    def comparison(self) -> ComparisonScope:
        """Return the comparison of a link to a comparison."""
        if self.link.comparison is None or self.link.target_type != COMPARISON:
            raise link_not_valid()
        return ComparisonScope(link=self.link, comparison=self.link.comparison)

    def seal(self) -> SharedSeal | None:
        """Return when it was sealed, by which key, and how far; None if it is not."""
        return seals.seal_of(self.link)

    def earlier_seals(self) -> list[SharedEarlierSeal]:
        """Return the previous seals, and when they were replaced."""
        return seals.earlier_seals(self.link)

    def signing_key(self) -> SharedKey | None:
        """Return the key that signs a download now; None if nothing has been sealed yet."""
        return seals.signing_key(self.link)

    def erased(self) -> ErasureSummary:
        """Return how many fields of what the link shows were erased, and when the last was."""
        return seals.erased_within(self.link)

    def erased_fields(self, steps: Sequence[SharedStep]) -> dict[int, list[SharedErasure]]:
        """Return what was erased of steps of this scope, all of one session, by sequence. One query."""
        return recorded_steps.erasures_in(steps)

    def deletions(self, steps: Sequence[SharedStep]) -> dict[int, SharedDeletion]:
        """Return the deletions of steps, all of one session, that were deleted completely, by sequence. One query."""
        return recorded_steps.deletions_in(steps)

    def deletion(self, found: SharedStep) -> SharedDeletion | None:
        """Return the deletion of a step of this scope that was deleted completely; None otherwise. One query."""
        return recorded_steps.deletion_of(found)

    def has_evidence(self) -> bool:
        """Return whether there is evidence of exactly what the link shows."""
        return evidence.can_be_written(self.link)

    def withholds_in(self, text: str) -> bool:
        """Return whether the redaction profile of the link matches in a text, such as one that was put together for a page."""
        return self._redactor().text(text) != text

    def write_evidence(self, target: IO[bytes]) -> None:
        """Write the evidence of what the link shows, without what it withholds."""
        if not self.has_evidence():
            raise link_not_valid()
        named = [{"name": each.name, "agent": each.agent} for each in self.sessions()]
        evidence.write(self.link, target, named[0] if self.link.comparison is None else {"sessions": named})

    def neighbours(self, sequence: int) -> dict[str, int | None]:
        """Return the `previous` and the `next` step of the session or of the replay; None at an end."""
        of_session = self.link.target_type == SESSION
        shown = self._actions().order_by("sequence") if of_session else self._replay_steps()
        steps = shown.values_list("sequence", flat=True)
        return {
            "previous": steps.filter(sequence__lt=sequence).last(),
            "next": steps.filter(sequence__gt=sequence).first(),
        }

    def _redactor(self) -> Redactor:
        return Redactor.of(self.link)

    def _recorded(self) -> RecordedSteps:
        return RecordedSteps(session=self._session(), actions=self._actions(), redactor=self._redactor())

    def _session(self) -> Session:
        if self.link.session is None:
            raise link_not_valid()
        return self.link.session

    def _actions(self) -> QuerySet[Action]:
        return actions_within(self.link)

    def _replay(self) -> Replay:
        if self.link.replay is None:
            raise link_not_valid()
        return self.link.replay

    def _replay_steps(self) -> QuerySet[ReplayStep]:
        self._last(REPLAY)
        return steps_of(self._replay()).filter(id__in=steps_within(self.link).values("id"))

    def _last(self, target_type: str) -> int:
        """Return the last step of a link to that type of thing, if it shows more than its evidence."""
        if self.link.target_type != target_type or self.link.evidence_only:
            raise link_not_valid()
        return self.link.through_sequence or 0
