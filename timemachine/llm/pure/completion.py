"""One call of a model as values: what is asked, what came back, and what it used. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from timemachine.core.pure.finish_reasons import CUT_SHORT, ENDED, REFUSED
from timemachine.llm.pure.catalogue import Connection, ModelName
from timemachine.llm.table import Protocol

Role = Literal["system", "user", "assistant"]

LONGEST_TEXT = 1_000_000
"""Characters of an answer, several times what any model writes; a longer one is a failure."""

ADAPTER_VERSIONS: Mapping[Protocol, int] = {"openai": 2, "anthropic": 2, "local": 2}
"""Raised by one when the same request would be sent, read or answered otherwise: what was cached before is then not used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a prompt."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """What a model is asked. A language model reads `messages`; the local model reads `question` and `passages`.

    None leaves a parameter to the provider. Of one attempt, `timeout_seconds` bounds every silence, that before the first byte
    too, and `whole_seconds` all of it; after the first at most `retries` more are made.
    """

    model: ModelName
    connection: Connection
    question: str
    passages: tuple[str, ...]
    messages: tuple[Message, ...]
    temperature: float | None = None
    seed: int | None = None
    max_tokens: int | None = None
    timeout_seconds: float = 120.0
    whole_seconds: float = 300.0
    retries: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """Tokens as the provider counted them, None where it did not say.

    `input_tokens` is all that was read, cached tokens included; `output_tokens` all that was written, reasoning included.
    `cache_write_1h_tokens` are those of `cache_write_tokens` that Anthropic keeps for an hour, at a price of their own.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    cache_write_1h_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a model answered.

    `usage` is None for what is not a language model. `model` and `finish_reason` are the provider's own words, None where it
    gave none. `parameters` are those that were sent with the attempt that succeeded, `not_accepted` the names of those asked
    for that this model does not take. `duration_ms` is that attempt's, `attempts` counts it and those before it;
    `first_text_ms` is when its first text came, None where the answer came in one piece. `broke_off_after_end` says that the
    connection broke off after the answer had ended, so that its usage may not have come.
    """

    text: str
    usage: TokenUsage | None
    model: str | None
    finish_reason: str | None
    response_id: str | None
    duration_ms: float
    parameters: Mapping[str, float | int]
    not_accepted: tuple[str, ...] = ()
    attempts: int = 1
    language_model: bool = True
    first_text_ms: float | None = None
    broke_off_after_end: bool = False

    @property
    def cut_short(self) -> bool:
        """Whether the answer ends where a limit or a filter cut it off: never a thing to cache."""
        return bool(is_cut_off(self.finish_reason))

    @property
    def whole(self) -> bool:
        """Whether this is a whole answer for all that is known: it says something, and the provider says that it ended."""
        return bool(self.text.strip()) and (self.finish_reason in ENDED or not self.language_model)

    @property
    def refused(self) -> bool:
        """Whether the provider says that the model, or its filter, refused."""
        return self.finish_reason in REFUSED


def is_cut_off(finish_reason: object) -> bool | None:
    """Whether an answer that ended for this reason, in the provider's own words, ends where it was cut off; None without a reason."""
    return finish_reason in CUT_SHORT if isinstance(finish_reason, str) else None


def is_refused(finish_reason: object) -> bool | None:
    """Whether the provider states by this reason that its model, or its filter, refused; None without a reason."""
    return finish_reason in REFUSED if isinstance(finish_reason, str) else None


def ended_by(parameters: object) -> str | None:
    """The recorded reason for which an answer ended, in the provider's own word; None where none was recorded."""
    reason = parameters.get("finish_reason") if isinstance(parameters, dict) else None
    return reason if isinstance(reason, str) else None


def cut_off_by(parameters: object) -> str | None:
    """The recorded reason that cut an answer off, in the provider's own words; None where it was not cut off for all that is known."""
    reason = ended_by(parameters)
    return reason if is_cut_off(reason) else None
