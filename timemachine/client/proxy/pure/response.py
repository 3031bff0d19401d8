"""The response of a recorded call: the JSON that it is, or that its events add up to."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from timemachine.client.proxy.pure.bodies import Unreadable, decoded
from timemachine.client.proxy.pure.exchange import FAILURES, Body, Exchange
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.secret_names import WITHHELD
from timemachine.core.pure.server_sent import MEDIA_TYPE, events_in
from timemachine.llm.pure.answer_stream import AnswerStream
from timemachine.llm.pure.requests.json_values import object_at, text_at
from timemachine.llm.pure.usage import list_of, part_of

_NO_SUCCESS: Final = 400
_LONGEST_MESSAGE: Final = 2_000
_INCOMPLETE: Final = "The stream ended before the answer was complete."
_INVALID: Final = {"type": "invalid_answer", "message": "The response is not JSON."}
_MESSAGE_DELTA: Final = "message_delta"


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What a response says. `first_token` is when the first part of the answer came, in seconds since the call began; only
    a stream has it. `unread` is why the response could not be read.
    """

    output: Any = None
    error: JsonObject | None = None
    first_token: float | None = None
    streamed: bool = False
    unread: str | None = None


def read_response(exchange: Exchange) -> Read:
    """Return what the response of a call says."""
    streamed = _is_stream(exchange)
    try:
        made = exchange.endpoint.stream if streamed else None
        found = _document(exchange) if made is None else _stream(exchange, made())
    except (Unreadable, UnicodeDecodeError, RecursionError) as why:
        unread = f"The response was not read: {why}."
        found = Read(unread=unread, error=_failure(exchange, None), streamed=streamed)
    return found


def read_body(body: Body, secrets: tuple[str, ...]) -> bytes:
    """Return a whole body without compression and without these secrets. Raises `Unreadable`."""
    if not body.is_whole:
        raise Unreadable(f"it has {body.size:,} bytes")
    found = b"".join(decoded((part for _, part in body.parts), body.encoding))
    for secret in secrets:
        found = found.replace(secret.encode("latin-1"), WITHHELD.encode())
    return found


def _is_stream(exchange: Exchange) -> bool:
    """Return whether the response is a stream. Some gateways give it another media type."""
    beginning = b"".join(part for _, part in exchange.response.parts[:2])
    is_named = exchange.content_type.partition(";")[0].strip().lower() == MEDIA_TYPE
    return is_named or beginning.startswith((b"data:", b"event:"))


def _document(exchange: Exchange) -> Read:
    data = read_body(exchange.response, exchange.caller.secrets)
    try:
        output = json.loads(data)
    except ValueError:
        output = data.decode(errors="replace") or None
        return Read(output=output, error=_failure(exchange, output) or _INVALID)
    return Read(output=output, error=_failure(exchange, output))


def _stream(exchange: Exchange, answer: AnswerStream) -> Read:
    first: float | None = None
    for at, event in _events(exchange):
        answer.add(event)
        if first is None and _has_part_of_the_answer(event):
            first = at
    output = answer.body
    error = _failure(exchange, answer.error)
    if error is None and not answer.complete:
        error = {"type": "incomplete_answer", "message": _INCOMPLETE}
    return Read(output=output, error=error, first_token=first, streamed=True)


def _events(exchange: Exchange) -> Iterator[tuple[float, JsonObject]]:
    """Yield the events that are objects, each with the time at which its end came."""
    body, now = exchange.response, 0.0

    def parts() -> Iterator[bytes]:
        nonlocal now
        if not body.is_whole:
            raise Unreadable(f"it has {body.size:,} bytes")
        for at, part in body.parts:
            now = at
            yield part

    for event in events_in(decoded(parts(), body.encoding)):
        data = event.data
        for secret in exchange.caller.secrets:
            data = data.replace(secret, WITHHELD)
        try:
            value = json.loads(data)
        except ValueError:  # [DONE]
            continue
        if isinstance(value, dict):
            yield now, value


def _has_part_of_the_answer(event: JsonObject) -> bool:
    """Return whether an event has text, thinking or a call, not only a role or counts."""
    kind = event.get("type")
    if isinstance(kind, str):
        return kind.endswith("delta") and kind != _MESSAGE_DELTA
    choices = map(part_of, list_of(event.get("choices")))
    return any(
        value for each in choices for name, value in object_at(each, "delta").items() if name != "role"
    )


def _failure(exchange: Exchange, output: Any) -> JsonObject | None:
    """Return the error of a call: how it ended, else what its response says; None if it succeeded."""
    if exchange.outcome != "complete":
        return {"type": exchange.outcome, "message": exchange.why or FAILURES[exchange.outcome]}
    is_error = (exchange.status or 0) >= _NO_SUCCESS
    told = output.get("error") if isinstance(output, dict) else None
    if not is_error and not told:
        return None
    found = told if isinstance(told, dict) else {}
    kind = text_at(found, "type") or text_at(found, "code") or f"HTTP {exchange.status}"
    message = text_at(found, "message") or _shown(told or output)
    return {"type": kind, "message": message or f"HTTP {exchange.status}"}


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value)
    return text[:_LONGEST_MESSAGE]
