"""What starts a continuation and lets it go on, as the API takes it."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, StrictBool, model_validator

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Strict
from timemachine.replay.continuation.commands import NextMessage, SuppliedResult
from timemachine.replay.runs.pure.options import ReplayOptions, UserMessages

MOST_RESULTS = 100
_MOST_TOOLS = 1_000


class ContinueIn(Strict):
    """The model call to continue from, the model, and what to change. `messages` are sent instead of the recorded ones;
    a result of one of the `repeatable_tools` can be used more than once. What the user wrote next in the recording is sent after
    an answer that agrees with the recorded one (`user_messages`: `agreed`, the default), after any answer at the same place
    (`recorded`), or never (`none`)."""

    model_config = ConfigDict(populate_by_name=True)

    from_: Annotated[int, Field(alias="from", ge=1, lt=2**62)]
    model: str
    system_prompt: str | None = None
    messages: list[JsonObject] | None = None
    max_calls: int | None = None
    spend_limit_usd: float | None = None
    repeatable_tools: list[str] | None = Field(default=None, max_length=_MOST_TOOLS)
    user_messages: UserMessages | None = None
    reason: str | None = None

    def options(self) -> ReplayOptions:
        given = self.model_dump(exclude={"from_", "model"}) | {
            "repeatable_tools": self.repeatable_tools or None
        }
        return ReplayOptions(continue_from=self.from_, use_model=self.model, **given)


class ResultIn(Strict):
    """The result of a call that the record did not answer: named by the call's id, or by its tool. A value that is not a text is
    sent to the model as JSON."""

    call_id: str | None = None
    tool: str | None = None
    result: Any

    @model_validator(mode="after")
    def _is_named(self) -> "ResultIn":
        if (self.call_id is None) == (self.tool is None):
            raise ValueError("Name the call with either call_id or tool.")
        return self

    def supplied(self) -> SuppliedResult:
        return SuppliedResult(result=self.result, call_id=self.call_id, tool=self.tool)


class GoOnIn(Strict):
    """What a continuation that stopped needs to go on: the missing results, the user's next message, or higher limits.

    The message is a text, or the recorded one if `recorded_message` is true.
    """

    results: list[ResultIn] = Field(default_factory=list, max_length=MOST_RESULTS)
    message: str | None = None
    recorded_message: StrictBool = False
    max_calls: int | None = None
    spend_limit_usd: float | None = None

    @model_validator(mode="after")
    def _has_one_message(self) -> "GoOnIn":
        if self.message is not None and self.recorded_message:
            raise ValueError("Give either message or recorded_message.")
        return self

    def next_message(self) -> NextMessage | None:
        if self.message is None and not self.recorded_message:
            return None
        return NextMessage(text=self.message)
