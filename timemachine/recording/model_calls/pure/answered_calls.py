"""What a recording has besides the answers of the model: the results of its tool calls, and what the user wrote next."""

from dataclasses import dataclass

from timemachine.llm.pure.requests.neutral import Part, ToolCall, ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredCall:
    """A recorded call of a tool with its result. `called_in` is the step that has the call, `sequence` the one with the result.

    `is_aside`: it was made in another conversation than the one that was named, for example by a sub-agent.
    """

    call: ToolCall
    result: ToolResult
    called_in: int
    sequence: int
    is_aside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """A message of the user. `sequence` is the step that it was recorded in: its own, or the model call whose request has it."""

    sequence: int
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UserTurn:
    """What the user wrote between two model calls of a conversation, `after` and `before`. `answer` is what the first of
    them had answered."""

    after: int
    before: int
    answer: tuple[Part, ...]
    messages: tuple[UserMessage, ...]

    @property
    def step(self) -> int:
        """The step of the first message."""
        return self.messages[0].sequence

    @property
    def interrupts(self) -> bool:
        """Whether the answer before it called tools, so that the model had not finished."""
        return any(isinstance(part, ToolCall) for part in self.answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Followed:
    """The answered calls of a session in order of their results, the model calls from one on in the same conversation, and what
    the user wrote between them. `unanswered` are the tool calls of the last one that have no result: the recording ends
    with them."""

    answered: tuple[AnsweredCall, ...]
    calls: tuple[int, ...]
    unanswered: tuple[ToolCall, ...] = ()
    user_turns: tuple[UserTurn, ...] = ()
