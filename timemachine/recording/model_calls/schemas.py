"""The request of a model call as the API returns it."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, Self

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Schema
from timemachine.llm.pure.requests import anthropic_messages, openai_chat, openai_responses
from timemachine.llm.pure.requests.canonical import request_sha256
from timemachine.llm.pure.requests.neutral import Request, Written
from timemachine.recording.model_calls.pure.requests import FrozenRequest, RequestVerdict

RequestForm = Literal["openai_chat", "openai_responses", "anthropic_messages"]
WRITERS: Final[Mapping[RequestForm, Callable[[Request], Written]]] = {
    "openai_chat": openai_chat.write,
    "openai_responses": openai_responses.write,
    "anthropic_messages": anthropic_messages.write,
}


class FrozenRequestOut(Schema):
    """The request of a recorded model call, in the form of one API.

    `context` says whether it was recorded (`verified`: its bytes have the recorded hash) or rebuilt from the steps
    before it (`reconstructed`); it was sent to `model`. `absent` names what was not recorded. `calls_in_text`: its agent
    writes its tool calls as text, so that no tool is defined. `steps` are those it was rebuilt from, and
    `inherited_steps` counts those of the sessions that this one continues. `sha256` is that of the request in a
    form that depends on no API. `dropped` says what the body does not have because that API does not know it.
    """

    sequence: int
    context: RequestVerdict
    absent: list[str]
    calls_in_text: bool
    steps: list[int]
    inherited_steps: int
    model: str | None
    sha256: str
    form: RequestForm
    body: JsonObject
    dropped: list[str]

    @classmethod
    def of(cls, sequence: int, frozen: FrozenRequest, form: RequestForm) -> Self:
        """Return the request in that form; the body names no model."""
        written = WRITERS[form](frozen.request)
        return cls(
            sequence=sequence,
            context=frozen.verdict,
            absent=list(frozen.absent),
            calls_in_text=frozen.calls_in_text,
            steps=list(frozen.steps),
            inherited_steps=frozen.inherited,
            model=frozen.model,
            sha256=request_sha256(frozen.request),
            form=form,
            body=written.body,
            dropped=list(written.dropped),
        )
