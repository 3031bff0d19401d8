"""A continuation while a worker runs it: its options, its branch, and what was recorded."""

from collections.abc import Sequence
from dataclasses import dataclass

from timemachine.core.pure.errors import NotFound
from timemachine.llm.pure.requests.neutral import Request, ToolCall
from timemachine.recording.model_calls.pure.answered_calls import Followed
from timemachine.recording.model_calls.pure.requests import FrozenRequest
from timemachine.recording.model_calls.results import followed_by
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.continuation.branches import Turn
from timemachine.replay.continuation.plan import MAX_CALLS, first_request
from timemachine.replay.continuation.pure.answering import Record
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import ReplayOptions


@dataclass(slots=True, kw_only=True)
class Run:
    """A continuation while a worker runs it. What was recorded is read once."""

    replay: Replay
    followed: Followed | None = None
    _first: tuple[FrozenRequest, Request] | None = None

    @property
    def options(self) -> ReplayOptions:
        return ReplayOptions(**self.replay.options)

    @property
    def branch(self) -> Session:
        if self.replay.branch is None:
            raise NotFound("The branch of this continuation was deleted.", code="branch_deleted")
        return self.replay.branch

    def first_request(self, action: Action) -> tuple[FrozenRequest, Request]:
        if self._first is None:
            self._first = first_request(action, self.options)
        return self._first

    def read(self, action: Action) -> None:
        """Read what followed in the recording. Raises `InvalidInput` if it is too long."""
        if self.followed is None:
            self.followed = followed_by(action)

    @property
    def most_calls(self) -> int:
        """The limit of model calls."""
        return self.options.max_calls or MAX_CALLS

    @property
    def open_calls(self) -> Sequence[ToolCall]:
        """The calls of the recording that have no result."""
        return () if self.followed is None else self.followed.unanswered

    @property
    def recorded_calls(self) -> int | None:
        """How many model calls the recording has; None if it was not read."""
        return None if self.followed is None else len(self.followed.calls)

    def record(self, action: Action, turns: list[Turn]) -> Record:
        """Return the recorded results, without those that these turns used."""
        record = Record(
            () if self.followed is None else self.followed.answered,
            after=action.sequence,
            repeatable=self.options.repeatable_tools or (),
        )
        for turn in turns:
            for call in turn.calls:
                if call.id in turn.copied:
                    record.answer(call)
        return record
