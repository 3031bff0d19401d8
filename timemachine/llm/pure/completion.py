"""One model call as values: the request, the answer, and what it used."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from timemachine.core.pure.finish_reasons import CUT_SHORT, ENDED, REFUSED
from timemachine.llm.pure.catalogue import Connection, ModelName
from timemachine.llm.pure.requests import neutral
from timemachine.llm.pure.requests.neutral import Part, Request, Text
from timemachine.llm.pure.usage import TokenUsage
from timemachine.llm.table import Protocol

Role = Literal["system", "user", "assistant"]

LONGEST_TEXT = 1_000_000
"""The most characters of an answer, several times what any model writes; a longer one is a failure."""

ADAPTER_VERSIONS: Mapping[Protocol, int] = {"openai": 2, "anthropic": 2, "local": 2}
"""Increased when the same request would be sent, read or answered differently, so that cached answers are not reused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a prompt."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """A request. A language model reads `messages`, or `recorded` instead: a request that was recorded, without its model
    and without the three parameters below, which are stated here. The local model reads `question` and `passages`.

    None leaves a parameter to the provider. `timeout_seconds` limits every silence of an attempt, including the one
    before the first byte, and `whole_seconds` all of an attempt. At most `retries` attempts follow the first.
    """

    model: ModelName
    connection: Connection
    question: str
    passages: tuple[str, ...]
    messages: tuple[Message, ...] = ()
    recorded: Request | None = None
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    timeout_seconds: float = 120.0
    whole_seconds: float = 300.0
    retries: int = 2


def recorded_request(
    model: ModelName,
    connection: Connection,
    request: Request,
    *,
    temperature: float | None = None,
    seed: int | None = None,
    max_tokens: int | None = None,
) -> ModelRequest:
    """Return a recorded request to this model, with its own parameters where none is given here.

    The local model, which reads no conversation, is asked the last message of the user over the texts before it.
    """
    own = request.parameters
    texts = [(message.role, _text_of(message)) for message in request.messages]
    last = max((place for place, (role, text) in enumerate(texts) if role == "user" and text), default=None)
    return ModelRequest(
        model=model,
        connection=connection,
        question="" if last is None else texts[last][1],
        passages=tuple(text for place, (_, text) in enumerate(texts) if text and place != last),
        recorded=replace(request, parameters=replace(own, temperature=None, seed=None, max_tokens=None)),
        temperature=own.temperature if temperature is None else temperature,
        seed=own.seed if seed is None else seed,
        max_tokens=own.max_tokens if max_tokens is None else max_tokens,
    )


def _text_of(message: neutral.Message) -> str:
    results = (part.text for result in message.results for part in result.parts if isinstance(part, Text))
    return "\n".join(filter(None, (message.text, *results)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A model's answer.

    `parts` are all parts of the answer (text, tool calls, thinking), empty for the local model; `text` is its text.
    `dropped` says what of a recorded request was not sent because the provider does not know it.
    `usage` is None for the local model. `model` and `finish_reason` are as the provider sent them, None if it did not.
    `parameters` are those sent with the successful attempt; `not_accepted` names those that the model rejected.
    `duration_ms` is that attempt's duration, `attempts` counts it and the ones before. `first_text_ms` is when the
    first text arrived, None if the answer was not streamed. `broke_off_after_end`: the connection was lost after the
    end of the answer, so the usage may be missing.
    """

    text: str
    usage: TokenUsage | None
    model: str | None
    finish_reason: str | None
    response_id: str | None
    duration_ms: float
    parameters: Mapping[str, float | int]
    parts: tuple[Part, ...] = ()
    dropped: tuple[str, ...] = ()
    not_accepted: tuple[str, ...] = ()
    attempts: int = 1
    language_model: bool = True
    first_text_ms: float | None = None
    broke_off_after_end: bool = False

    @property
    def cut_short(self) -> bool:
        """Whether a limit or a filter cut the answer off. Such an answer is never cached."""
        return bool(is_cut_off(self.finish_reason))

    @property
    def whole(self) -> bool:
        """Whether the answer is complete, as far as is known: it has text, and the provider reported its end."""
        return bool(self.text.strip()) and (self.finish_reason in ENDED or not self.language_model)

    @property
    def refused(self) -> bool:
        """Whether the provider reports that the model, or its filter, refused."""
        return self.finish_reason in REFUSED


def is_cut_off(finish_reason: object) -> bool | None:
    """Return whether this finish reason means that the answer was cut off. None without a reason."""
    return finish_reason in CUT_SHORT if isinstance(finish_reason, str) else None


def is_refused(finish_reason: object) -> bool | None:
    """Return whether this finish reason means that the model, or a filter, refused. None without a reason."""
    return finish_reason in REFUSED if isinstance(finish_reason, str) else None


def ended_by(parameters: object) -> str | None:
    """Return the recorded finish reason, as the provider sent it. None if it was not recorded."""
    reason = parameters.get("finish_reason") if isinstance(parameters, dict) else None
    return reason if isinstance(reason, str) else None


def is_refused_by(parameters: object) -> bool:
    """Return whether the provider reported the answer as a refusal, by the recorded finish reason."""
    return bool(is_refused(ended_by(parameters)))


def cut_off_by(parameters: object) -> str | None:
    """Return the recorded finish reason if it means that the answer was cut off, otherwise None."""
    reason = ended_by(parameters)
    return reason if is_cut_off(reason) else None
