"""The model calls of an exported session: the request of each, and its answer."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from timemachine.client.playback.pure.apis import Api, api_of_request, is_whole
from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.answer_stream import AnswerStream, AnthropicStream, OpenAIStream
from timemachine.llm.pure.requests.answers import Answer
from timemachine.llm.pure.requests.json_values import as_text, object_at, text_at
from timemachine.llm.pure.requests.neutral import Part, Request, ToolCall
from timemachine.llm.pure.requests.recorded_answers import read_answer
from timemachine.llm.pure.responses_stream import ResponsesStream
from timemachine.llm.pure.usage import TokenUsage, count
from timemachine.recording.model_calls.pure.conversation import RecordedStep, answers, conversations
from timemachine.recording.model_calls.pure.requests import Circumstances, FrozenRequest, rebuilt, recorded
from timemachine.recording.sessions.pure.vocabulary import OPERATION

MODEL_CALL: Final = "llm_call"
_EMBEDDINGS: Final = "embeddings"
_STREAMS: Final[Mapping[str, type[AnswerStream]]] = {
    "chat.completion.chunk": OpenAIStream,
    "message_start": AnthropicStream,
    "response.created": ResponsesStream,
}
_USAGE: Final = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)


_SIZE: Final = re.compile(r"latest$|(?:\d+x)?\d+(?:\.\d+)?[bm]\b", re.IGNORECASE)
_MADE_UP: Final = re.compile(r"call_\d+")
"""The id that a call gets within its answer if it was recorded without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSteps:
    """A session and its steps in order, each as the API and an export have it.

    `through` is the last step that the next session in a list continues from, None if nothing continues from it.
    """

    key: str
    steps: Sequence[JsonObject]
    through: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedCall:
    """A recorded model call.

    `input` and `output` are as they were recorded, `answer` is what can be read of the output. `api` is the one whose
    whole request was recorded; `rebuilt` is the request if none was recorded. `model` is the one that was asked for, if
    that was recorded, `answered_by` the one that is recorded to have answered. `failed` is the error with which the call
    ended.
    """

    sequence: int
    input: Any
    parameters: JsonObject | None
    output: Any
    answer: Answer | None
    api: Api | None
    rebuilt: FrozenRequest | None
    model: str | None
    answered_by: str | None
    failed: str | None

    @property
    def about(self) -> Circumstances:
        """What else is known of the call."""
        called = () if self.answer is None else tuple(call.name for call in self.answer.calls)
        return Circumstances(model=self.answered_by, parameters=self.parameters, called=called)

    @property
    def frozen(self) -> FrozenRequest:
        """The request in a form of no API: as it was recorded, or rebuilt."""
        nothing = FrozenRequest(request=Request(), model=self.answered_by, verdict="not_recorded")
        return self.rebuilt or recorded(self.input, self.about) or nothing


def calls_of(parts: Sequence[SessionSteps]) -> tuple[PlayedCall, ...]:
    """Return the model calls of the last of these sessions; the ones before it are those that it continues.

    Copied steps are left out, because their calls were made in another session.
    """
    session = parts[-1]
    happened = [each for each in session.steps if each.get("copied_from") is None]
    found = {each["sequence"]: each for each in happened if _is_answered(each)}
    inside = answers(_recorded_steps(session, 0), found)
    calls = {number: _played(call, inside[number]) for number, call in found.items()}
    missing = {
        number: call
        for number, call in calls.items()
        if call.api is None and call.frozen.verdict == "not_recorded"
    }
    for number, request in _rebuilt(parts, missing):
        calls[number] = replace(calls[number], rebuilt=request)
    return tuple(calls.values())


def _is_answered(step: JsonObject) -> bool:
    """Return whether playback answers a step: a model call, but not one for embeddings."""
    return step["kind"] == MODEL_CALL and object_at(step, "parameters").get(OPERATION) != _EMBEDDINGS


def _rebuilt(
    parts: Sequence[SessionSteps], calls: Mapping[int, PlayedCall]
) -> Iterator[tuple[int, FrozenRequest]]:
    shift = sum(part.through or 0 for part in parts[:-1])
    steps: list[RecordedStep] = []
    for part in parts:
        steps += _recorded_steps(part, shift)
        shift -= part.through or 0
    for number, conversation in conversations(steps, calls):
        yield number, rebuilt(conversation, calls[number].about)


def _recorded_steps(part: SessionSteps, shift: int) -> list[RecordedStep]:
    places = {each["id"]: each["sequence"] for each in part.steps if each.get("id") is not None}
    last = part.through
    return [_step(each, places, shift) for each in part.steps if last is None or each["sequence"] <= last]


def _step(step: JsonObject, places: Mapping[str, int], shift: int) -> RecordedStep:
    parent = step.get("parent")
    if isinstance(parent, str):
        parent = places.get(parent)
    return RecordedStep(
        sequence=step["sequence"] - shift,
        kind=step["kind"],
        role=step.get("role"),
        agent=step.get("agent"),
        name=step.get("name"),
        tool=step.get("tool"),
        call_id=step.get("call_id"),
        parent=None if parent is None else parent - shift,
        tags=step.get("tags") or (),
        input=step.get("input"),
        output=step.get("output"),
        failed=step.get("error") is not None,
        is_internal=step.get("layer") in {"tool", "sys"} and step.get("role") != "system",
    )


def _played(call: JsonObject, inside: tuple[Part, ...]) -> PlayedCall:
    """Return a call. `inside` are the parts of its answer with those that only the steps inside the call have."""
    output = _whole(call.get("output"))
    answer = read_answer(output)
    if inside and output is call.get("output") and not is_whole(output):
        answer = replace(answer or Answer(), parts=inside)
    return PlayedCall(
        sequence=call["sequence"],
        input=call.get("input"),
        parameters=call.get("parameters"),
        output=output,
        answer=answer and _completed(answer, call, output),
        api=api_of_request(call.get("input"), call.get("model")),
        rebuilt=None,
        model=_asked_model(call),
        answered_by=call.get("model"),
        failed=_failure(call),
    )


def _whole(output: Any) -> Any:
    """Return an output that was recorded as the events of a stream as the response that they add up to."""
    first = output[0] if isinstance(output, list) and output and isinstance(output[0], dict) else {}
    made = _STREAMS.get(str(first.get("object", first.get("type"))))
    if made is None:
        return output
    stream: AnswerStream = made()
    for event in output:
        stream.add(event if isinstance(event, dict) else {})
    return stream.body


def _completed(answer: Answer, call: JsonObject, output: Any) -> Answer:
    """Return the answer with the usage and the model of its step, and with ids that no other answer has."""
    name = f"{call['sequence']}"
    text = as_text(output)
    parts = tuple(
        replace(part, id=f"call_{name}_{number}")
        if isinstance(part, ToolCall) and _MADE_UP.fullmatch(part.id) and f'"{part.id}"' not in text
        else part
        for number, part in enumerate(answer.parts)
    )
    return replace(
        answer,
        parts=parts,
        id=answer.id or f"recorded-{name}",
        model=answer.model or _plain_model(call.get("model")),
        usage=_usage(call) or answer.usage,
    )


def _usage(call: JsonObject) -> TokenUsage | None:
    found = object_at(call, "usage")
    counts = {name: count(found, name) for name in _USAGE}
    return TokenUsage(**counts) if any(each is not None for each in counts.values()) else None


def _asked_model(call: JsonObject) -> str | None:
    return text_at(object_at(call, "input"), "model") or text_at(object_at(call, "parameters"), "model")


def _plain_model(model: str | None) -> str | None:
    """Return a model without its provider. `llama3:8b` has none: Ollama writes the size after a colon."""
    plain = "" if model is None else model.partition(":")[2]
    return model if not plain or _SIZE.match(plain) else plain


def _failure(call: JsonObject) -> str | None:
    error = call.get("error")
    if error is None:
        return None
    return ": ".join(each for each in (error.get("type"), error.get("message")) if each) or "an error"
