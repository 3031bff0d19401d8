"""The forms that start a continuation and let it go on."""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from django import forms

from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import InvalidInput
from timemachine.llm.pure.listing import Choice
from timemachine.recording.sessions.models import Action
from timemachine.replay.continuation.commands import NextMessage, SuppliedResult
from timemachine.replay.continuation.plan import MAX_CALLS
from timemachine.replay.runs.pure.endings import Ending
from timemachine.replay.runs.pure.options import LIMITS, ReplayOptions
from timemachine.web.form_parts import (
    ModelFields,
    Number,
    RecordForm,
    SentOnce,
    WholeNumber,
    area_field,
    line_field,
)

_NO_RESULT: Final = "Enter the result, or tick that it is empty."
_NOT_EMPTY: Final = "This result is not empty. Clear it or untick “empty”."
_NO_MESSAGE: Final = "Send either the recorded message or another one, not both."
_PLACES: Final = {"unknown_model": "model", "model_not_usable": "model", "not_sendable": "model"}


def _spend_limit() -> Number:
    return Number(
        label="Spend limit in US dollars",
        required=False,
        min_value=0,
        help_text="A call starts only if its expected cost fits. Needs a model with a known price.",
    )


def _max_calls(help_text: str) -> WholeNumber:
    return WholeNumber(
        label="Maximum model calls",
        required=False,
        min_value=LIMITS["max_calls"][0],
        max_value=LIMITS["max_calls"][1],
        help_text=help_text,
    )


class ContinueForm(SentOnce, ModelFields):
    """Choose the model that goes on, and what it is sent instead of what was recorded."""

    places: ClassVar[Mapping[str, str]] = _PLACES
    system_prompt = area_field("System prompt", "Leave empty to use the recorded one, if any.", rows=3)
    messages = area_field(
        "Messages",
        'Leave empty to send the recorded ones. Otherwise enter a JSON list, for example [{"role": "user", "content": "…"}].',
        rows=6,
        code=True,
    )
    max_calls = _max_calls(f"Default: {MAX_CALLS}.")
    spend_limit_usd = _spend_limit()
    repeatable_tools = line_field(
        "Tools whose results can be used again",
        "Names of tools that only read and always give the same result, separated by commas. Results of other tools are used once.",
        code=True,
    )
    user_messages = forms.ChoiceField(
        label="The user's later messages",
        choices=[
            ("", "Send them after an answer that agrees with the recorded one"),
            ("recorded", "Send them after any answer in the same place"),
            ("none", "Do not send them"),
        ],
        required=False,
        help_text="The user was reacting to the recorded model. If a message is not sent, the run stops there, and you can send it or "
        "another one.",
    )
    reason = area_field("Reason", "Stored with the continuation.")

    def __init__(
        self, choices: tuple[Choice, ...], action: Action, data: Any = None, *, estimating: bool = False
    ) -> None:
        super().__init__(data)
        self._action = action
        self.offer_other_models(choices, action.model, estimating=estimating)

    def options(self) -> ReplayOptions:
        """Return the options. Raises `InvalidInput` for messages that are not a JSON list."""
        data = self.cleaned_data
        tools = tuple(name for each in data["repeatable_tools"].split(",") if (name := each.strip()))
        return ReplayOptions(
            continue_from=self._action.sequence,
            use_model=self.chosen_model or None,
            system_prompt=data["system_prompt"] or None,
            messages=_messages(data["messages"]) if data["messages"].strip() else None,
            max_calls=data["max_calls"],
            spend_limit_usd=data["spend_limit_usd"],
            repeatable_tools=tools or None,
            user_messages=data["user_messages"] or None,
            reason=data["reason"] or None,
        )


def _messages(written: str) -> list[Any]:
    try:
        found = parse_json(written.encode())
    except InvalidInput as why:
        raise _no_list(why.message) from why
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise _no_list("It is not a list of messages.")
    return found


def _no_list(why: str) -> InvalidInput:
    return InvalidInput(f"The messages must be a JSON list. {why}", code="invalid_field", field="messages")


class GoOnForm(RecordForm):
    """Give the missing results, the next message of the user, or a higher limit to a continuation that stopped."""

    places: ClassVar[Mapping[str, str]] = {"message_missing": "message", "message_unavailable": "message"}
    recorded_message = forms.BooleanField(label="Send what the user wrote", required=False)
    message = area_field("Or another user message", "No recorded message follows.", rows=4)
    max_calls = _max_calls("Set more than before if the run stopped at this limit.")
    spend_limit_usd = _spend_limit()

    def __init__(self, ending: Ending, data: Any = None) -> None:
        super().__init__(data)
        self._ending = ending
        for place, call in enumerate(ending.unanswered):
            self.fields[f"result_{place}"] = forms.CharField(
                label=f"Result of {call.tool}",
                required=False,
                strip=False,
                widget=forms.Textarea(attrs={"rows": 4, "class": "mono", "spellcheck": "false"}),
            )
            self.fields[f"empty_{place}"] = forms.BooleanField(
                label=f"The result of {call.tool} is empty", required=False
            )
        if ending.why != "user_message":
            del self.fields["message"], self.fields["recorded_message"]
        unused = {"call_limit": "spend_limit_usd", "spend_limit": "max_calls"}.get(ending.why)
        for name in (
            ("max_calls", "spend_limit_usd") if ending.why in {"diverged", "user_message"} else (unused,)
        ):
            self.fields.pop(name or "", None)

    def clean(self) -> dict[str, Any]:
        """Refuse a field that was left empty by mistake: what the model gets cannot be taken back."""
        data: dict[str, Any] = super().clean() or self.cleaned_data
        for place in range(len(self._ending.unanswered)):
            is_empty = not data.get(f"result_{place}")
            if is_empty is not data.get(f"empty_{place}", False):
                self.add_error(f"result_{place}", _NO_RESULT if is_empty else _NOT_EMPTY)
        if "message" in self.fields and bool(data.get("message")) is data.get("recorded_message", False):
            self.add_error("message", _NO_MESSAGE)
        return data

    def next_message(self) -> NextMessage | None:
        """Return what the user says next, None if the run does not wait for it."""
        if "message" not in self.fields:
            return None
        return NextMessage(text=self.cleaned_data["message"] or None)

    def results(self) -> list[SuppliedResult]:
        """Return the results, one for each call that waits."""
        return [
            SuppliedResult(call_id=call.call_id, result=self.cleaned_data[f"result_{place}"])
            for place, call in enumerate(self._ending.unanswered)
        ]
