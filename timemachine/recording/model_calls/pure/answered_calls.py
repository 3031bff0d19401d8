"""The calls of tools in a recording with their results."""

from dataclasses import dataclass

from timemachine.llm.pure.requests.neutral import ToolCall, ToolResult


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
class Followed:
    """The answered calls of a session in order of their results, and the model calls from one on in the same conversation.
    `unanswered` are the tool calls of the last one that have no result: the recording ends with them."""

    answered: tuple[AnsweredCall, ...]
    calls: tuple[int, ...]
    unanswered: tuple[ToolCall, ...] = ()
