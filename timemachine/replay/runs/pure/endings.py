"""How a continuation ended, in words."""

from collections.abc import Mapping
from typing import Any, Final, Literal, Self

from timemachine.core.pure.numbers import counted
from timemachine.core.pure.schemas import Schema

Why = Literal[
    "finished", "diverged", "user_message", "call_limit", "spend_limit", "cut_off", "failed", "not_sent"
]
CAN_GO_ON: Final = frozenset({"diverged", "user_message", "call_limit", "spend_limit"})
"""How a continuation ended that can go on, with a missing result, a message of the user or a higher limit."""
_LONGEST: Final = 200


class NearestCall(Schema):
    """The recorded call that is most like an unanswered one, and where its arguments differ, as JSON pointers. `step` is that
    of the recording in which it was called."""

    step: int
    tool: str
    arguments: str | None
    paths: list[str]


class UnansweredCall(Schema):
    """A tool call without a recorded result."""

    call_id: str
    tool: str
    arguments: str | None
    nearest: NearestCall | None

    @classmethod
    def stored(cls, found: Mapping[str, Any]) -> "UnansweredCall":
        """Return the call as it was stored."""
        nearest = found["nearest"]
        described = None if nearest is None else NearestCall.model_construct(**nearest)
        return cls.model_construct(**{**found, "nearest": described})


class Ending(Schema):
    """How a continuation ended: why, after how many model calls, and how many tool results and messages of the user came from the
    record or from a person.

    `recorded_calls` is the number of model calls in the recording from the same one on. `unused_results` are the recorded
    ones that were not asked for. Both are null if the recording was not read. `step` is the last model call in the branch,
    `detail` an error message or another reason. `next_message` is the step of the recording with the user's next message, if
    the run waits for one.
    """

    why: Why
    calls: int
    recorded_calls: int | None
    recorded_results: int
    supplied_results: int
    unused_results: int | None
    recorded_messages: int
    supplied_messages: int
    next_message: int | None
    step: int | None
    detail: str | None
    unanswered: list[UnansweredCall]

    @classmethod
    def stored(cls, evidence: Mapping[str, Any] | None) -> "Ending | None":
        """Return the ending in the evidence of a step; None while the run goes on."""
        found = (evidence or {}).get("ending")
        if found is None:
            return None
        missing = [UnansweredCall.stored(each) for each in found["unanswered"]]
        return cls.model_construct(**{**found, "unanswered": missing})

    @property
    def can_go_on(self) -> bool:
        return self.why in CAN_GO_ON

    @property
    def finding(self) -> str:
        """What happened, in one sentence without a full stop."""
        why = [] if self.detail is None else [self.detail.rstrip(".")]
        return f"{self._happened}: " + "; ".join([*why, *map(describe, self.unanswered), self._counts])

    def without_quotes(self, instead: str | None = None) -> Self:
        """Return the ending without the error message and the calls, which quote the run; with `instead` in their place."""
        quotes = self.detail is not None or bool(self.unanswered)
        return self.model_copy(update={"unanswered": [], "detail": instead if quotes else None})

    @property
    def _happened(self) -> str:
        if self.why == "finished":
            whole = self.calls >= (self.recorded_calls or 0) and not self.unused_results
            return "Followed the recording to its end" if whole else "The model stopped"
        return _HAPPENED[self.why].format(step=self.step, calls=counted(self.calls, "call"))

    @property
    def _counts(self) -> str:
        calls = counted(self.calls, "call")
        if self.recorded_calls not in (None, self.calls):
            calls += f" ({self.recorded_calls:,} in the recording)"
        parts = [calls, f"{counted(self.recorded_results, 'tool result')} from the record"]
        if self.supplied_results:
            parts.append(f"{counted(self.supplied_results, 'result')} supplied by a person")
        if self.recorded_messages:
            parts.append(f"{counted(self.recorded_messages, 'user message')} from the record")
        if self.supplied_messages:
            parts.append(f"{counted(self.supplied_messages, 'message')} written by a person")
        if self.unused_results:
            parts.append(f"{counted(self.unused_results, 'recorded result')} not used")
        return ", ".join(parts)


def describe(call: UnansweredCall) -> str:
    """Say which result is missing, and which recorded call is nearest."""
    missing = f"there is no recorded result for “{call.tool}” {_short(call.arguments)}"
    nearest = call.nearest
    if nearest is None:
        return f"{missing}; the rest of the recording has no result from that tool"
    if not nearest.paths:
        return f"{missing} left; the result of step {nearest.step:,} of the recording was already used"
    where = ", ".join(path or "the whole value" for path in nearest.paths)
    return f"{missing}; nearest recorded call: step {nearest.step:,} of the recording, “{nearest.tool}” {_short(nearest.arguments)} (differs at {where})"


_HAPPENED: Final[Mapping[str, str]] = {
    "diverged": "Diverged at step {step} of the branch",
    "user_message": "Stopped after step {step} of the branch, before the user's next message",
    "call_limit": "Stopped at the limit of {calls}",
    "spend_limit": "Stopped at the spend limit",
    "cut_off": "Stopped at step {step} of the branch, where the answer was cut off",
    "failed": "Stopped by an error",
    "not_sent": "Not sent",
}


def _short(arguments: str | None) -> str:
    if arguments is None:
        return "with arguments that are not JSON"
    return arguments if len(arguments) <= _LONGEST else f"{arguments[:_LONGEST]}…"
