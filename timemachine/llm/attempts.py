"""One attempt at a model call: send the request and read the response. Failures include the text that was read so far."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import Cancelled, InvalidInput, ModelFailed
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.server_sent import events_in
from timemachine.llm import failure
from timemachine.llm.pure.answer_stream import AnswerStream
from timemachine.llm.pure.cancellation import Listening
from timemachine.llm.pure.completion import LONGEST_TEXT, ModelRequest
from timemachine.llm.pure.requests import answers as read_answers
from timemachine.llm.pure.requests.json_values import RequestError
from timemachine.llm.pure.requests.neutral import Part
from timemachine.llm.pure.usage import part_of
from timemachine.llm.transport import attempting, http_client, timeout

LAST = "[DONE]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The provider's response as JSON, how long it took, and when its first text arrived (None if not streamed).

    `broke_off_after_end`: the connection was lost after the answer ended, but before the provider confirmed the end.
    """

    body: Any
    duration_ms: float
    first_text_ms: float | None
    broke_off_after_end: bool = False


class Exchange:
    """One attempt. `stream` assembles a streamed response."""

    def __init__(self, request: ModelRequest, listening: Listening, stream: AnswerStream) -> None:
        self._request = request
        self._listening = listening
        self._stream = stream
        self._text: list[str] = []
        self._length = 0
        self._started = time.perf_counter()
        self._first_text_ms: float | None = None
        self._broke_off_after_end = False

    def answer(self, path: str, headers: Mapping[str, str], body: JsonObject) -> Answer:
        """Post the body to a path below the address of the connection and return the response.

        Raises:
            ModelFailed: The attempt failed. The error has the text that came before.
            Cancelled: The call was cancelled.
        """
        cancellation = self._listening.cancellation
        # making the client takes a moment the first time, and is no part of the call
        client = http_client(pinned=self._request.connection.pinned)
        self._started = time.perf_counter()
        try:
            with attempting(self._request.whole_seconds, cancellation):
                found = self._read(client, path, headers, body)
        except (ModelFailed, httpx2.HTTPError, httpx2.InvalidURL) as error:
            if cancellation.requested:
                raise self._partial(failure.cancelled(self._request, sent=cancellation.sent)) from error
            if cancellation.out_of_time and not isinstance(error, httpx2.HTTPStatusError):
                raise self._partial(failure.timed_out(self._request)) from error
            raise self._partial(_failed(self._request, error)) from error
        return Answer(
            body=found,
            duration_ms=self._since(),
            first_text_ms=self._first_text_ms,
            broke_off_after_end=self._broke_off_after_end,
        )

    def _read(self, client: httpx2.Client, path: str, headers: Mapping[str, str], body: JsonObject) -> Any:
        if self._listening.cancellation.requested:
            raise failure.cancelled(self._request, sent=self._listening.cancellation.sent)
        url = self._request.connection.base_url.rstrip("/") + path
        limit = timeout(self._request.timeout_seconds)
        posted = client.build_request("POST", url, json=body, headers=dict(headers), timeout=limit)
        response = client.send(posted, stream=True)
        try:
            if not response.is_success:
                response.read()
                response.raise_for_status()
            if "event-stream" in response.headers.get("content-type", ""):
                return self._streamed(response)
            return failure.parsed(self._request, response.read(), response.headers.get("content-type"))
        finally:
            response.close()

    def _streamed(self, response: httpx2.Response) -> Any:
        try:
            self._read_events(response)
        except httpx2.TransportError:
            # the answer itself is complete and paid for; only its usage may be missing
            if not self._stream.complete or self._listening.cancellation.requested:
                raise
            self._broke_off_after_end = True
        except (InvalidInput, UnicodeDecodeError) as why:
            reason = str(why).rstrip(".")
            raise failure.not_understood(
                self._request, f"an event in its stream cannot be read. {reason}."
            ) from why
        if not self._stream.complete:
            raise failure.interrupted(self._request, "its stream ended before the answer did")
        return self._stream.body

    def _read_events(self, response: httpx2.Response) -> None:
        for event in events_in(response.iter_bytes()):
            if event.data == LAST:
                break
            if event.data.strip():  # some servers send empty ones to keep the connection alive
                text = self._stream.add(part_of(parse_json(event.data.encode())))
                if self._stream.error:
                    raise failure.error_in_stream(self._request, self._stream.error)
                if text:
                    self._write(text)

    def _write(self, text: str) -> None:
        if self._first_text_ms is None:
            self._first_text_ms = self._since()
        self._text.append(text)
        self._length += len(text)
        if self._length > LONGEST_TEXT:
            raise failure.too_long(self._request)
        self._listening.on_text(text)

    def _partial(self, failed: ModelFailed) -> ModelFailed:
        if not self._text:
            return failed
        kind = Cancelled if isinstance(failed, Cancelled) else ModelFailed
        text = "".join(self._text)[:LONGEST_TEXT]
        return kind(failed.message, code=failed.code, **{**failed.facts, "partial_text": text})

    def _since(self) -> float:
        return (time.perf_counter() - self._started) * 1000


def parts_of(read: Callable[[], read_answers.Answer]) -> tuple[Part, ...]:
    """Return the parts of an answer that `read` reads; none if it has a form that is not known. Its text was read before."""
    try:
        return read().parts
    except RequestError:
        return ()


def _failed(request: ModelRequest, error: Exception) -> ModelFailed:
    if isinstance(error, httpx2.HTTPStatusError):
        return failure.error_response(request, error.response)
    if isinstance(error, ModelFailed):  # from our own transport, which knows the reason
        return failure.of_transport(request, error)
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError):
        return failure.unreachable(request, _words(error))
    if isinstance(error, httpx2.TimeoutException):
        return failure.timed_out(request)
    return failure.connection_lost(request, _words(error))


def _words(error: BaseException) -> str:
    return str(error) or type(error).__name__
