"""A continuation while a worker runs it: its options, its branch, and what was recorded."""

from collections.abc import Sequence
from dataclasses import dataclass

from timemachine.core.pure.errors import NotFound
from timemachine.llm.pure.requests.answers import Answer
from timemachine.llm.pure.requests.neutral import Request, ToolCall
from timemachine.recording.model_calls.pure.answered_calls import Followed, UserTurn
from timemachine.recording.model_calls.pure.requests import FrozenRequest
from timemachine.recording.model_calls.results import followed_by
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.continuation.branches import Turn
from timemachine.replay.continuation.plan import MAX_CALLS, first_request
from timemachine.replay.continuation.pure.answering import Record
from timemachine.replay.continuation.pure.user_turns import DEFAULT, explain, next_turn, why_not_same
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

    def next_user_turn(self, turns: Sequence[Turn]) -> UserTurn | None:
        """Return what the user wrote next in the recording, after what these turns have; None if nothing, or if the recording
        was not read."""
        sent = [each.step for turn in turns for each in turn.sent if each.step is not None]
        return next_turn(self._user_turns, max(sent, default=0))

    def user_reaction(
        self, action: Action, record: Record, new: Answer, turns: Sequence[Turn]
    ) -> tuple[UserTurn | None, str | None]:
        """Return what the user wrote next, if the run has done what was recorded before it, or else why it has not.

        `turns` are those before the answer `new`, and `record` has the results that these and the answer did not use.
        """
        mode, turn = self.options.user_messages or DEFAULT, self.next_user_turn(turns)
        if turn is None or mode == "none":
            return None, None
        earlier = [each.before for each in self._user_turns if each.before <= turn.after]
        last_sent = max((place for place, each in enumerate(turns, start=1) if each.sent), default=0)
        why_not = why_not_same(
            turn,
            record,
            new,
            since=max(earlier, default=action.sequence),
            has_supplied=any(each.step is None for one in turns for each in one.sent)
            or any(each.results.keys() - each.copied for each in turns[last_sent:]),
            mode=mode,
        )
        return (turn, None) if why_not is None else (None, explain(turn, why_not))

    @property
    def _user_turns(self) -> Sequence[UserTurn]:
        return () if self.followed is None else self.followed.user_turns

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
