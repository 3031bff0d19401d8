"""HTTP requests to one server: JSON with a bearer key; every failure is a `ClientError`."""

import contextlib
import json
import logging
import math
import os
import re
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, Self
from urllib.parse import quote

import httpx

from timemachine.client.errors import ClientError, NoServer, NotFound, NotUnderstood, Refused, Unreachable
from timemachine.client.server import Server
from timemachine.client.waiting import LONGEST_WAIT, REPEATABLE, seconds_of, with_retries
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.server_sent import MEDIA_TYPE, events_in
from timemachine.core.pure.streams import CUT_OFF

PATIENCE = 600.0  # seconds for an answer: slow models and large imports can take minutes
_JSON: Final = "application/json"
_CONNECT = 10.0
_REDIRECTS = range(300, 400)
_NUMBER: Final = re.compile(r"\[Errno -?\d+\] ")
OURS = "timemachine"
"""The extension that marks our requests, so that the recorder does not record them."""


class Connection:
    """Requests to one server. Close it, or use it as a context manager.

    Requests refused with 429 are repeated for at most `longest_wait` seconds if that is safe: reads, deletions, requests with an
    idempotency key, and those for which the server reports (`busy`) that it did nothing.
    """

    def __init__(
        self, server: Server, *, patience: float = PATIENCE, longest_wait: float = LONGEST_WAIT
    ) -> None:
        self.url = server.url
        self._key = server.key
        self._patience = patience
        self._longest_wait = longest_wait
        self._http = _http_client(server, patience)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        """Send a GET request and return the document."""
        return self.call("GET", path, query=query)

    def post(self, path: str, body: Any = None, *, idempotency_key: str | None = None) -> Any:
        """Send a POST request with a JSON body and return the document."""
        content = b"" if body is None else _as_json(body)
        return self.call("POST", path, content=content, content_type=_JSON, idempotency_key=idempotency_key)

    def patch(self, path: str, body: Any) -> Any:
        """Send a PATCH request with a JSON body and return the document."""
        return self.call("PATCH", path, content=_as_json(body), content_type=_JSON)

    def put(self, path: str, body: Any) -> Any:
        """Send a PUT request with a JSON body and return the document."""
        return self.call("PUT", path, content=_as_json(body), content_type=_JSON)

    def send_form(self, path: str, fields: Mapping[str, str], file: tuple[str, bytes]) -> Any:
        """Send a form with a file in its field `file` and return the document."""
        name, data = file
        form = httpx.Request(
            "POST",
            self.url,
            data={each: _plain(value) for each, value in fields.items()},
            files={"file": (_plain(name), data)},
        )
        return self.call("POST", path, content=form.read(), content_type=form.headers["Content-Type"])

    def delete(self, path: str, body: Any = None) -> Any:
        """Send a DELETE request, optionally with a JSON body, and return the document."""
        if body is None:
            return self.call("DELETE", path)
        return self.call("DELETE", path, content=_as_json(body), content_type=_JSON)

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        content: bytes | IO[bytes] | None = None,
        content_type: str | None = None,
        idempotency_key: str | None = None,
    ) -> Any:
        """Send a request and return the document. Raises `NoServer` without a key, `Unreachable`, `NotUnderstood`, `Refused`."""
        headers = self._headers(_JSON)
        if content_type:
            headers["Content-Type"] = content_type
        if idempotency_key:
            headers["Idempotency-Key"] = idempotency_key
        repeatable = method in REPEATABLE or idempotency_key is not None
        return with_retries(
            lambda: self._answer(self._send(method, path, headers, query, content)),
            self._longest_wait,
            repeatable=repeatable,
        )

    def text(self, path: str, query: Mapping[str, Any]) -> str:
        """The plain text at the path. Raises the same errors as `call`."""
        return with_retries(
            lambda: self._text(self._send("GET", path, self._headers("text/plain"), query, None)),
            self._longest_wait,
        )

    def download(self, path: str, target: Path, query: Mapping[str, Any] | None = None) -> Mapping[str, str]:
        """Write the answer to a file, completely or not at all, and return the headers. Raises the same errors as `call`, and `OSError`."""
        return with_retries(lambda: self._download(path, target, query), self._longest_wait)

    def _download(self, path: str, target: Path, query: Mapping[str, Any] | None) -> Mapping[str, str]:
        partial = target.with_name(target.name + ".part")
        headers = self._headers("*/*")
        try:
            with self._http.stream(
                "GET", self.url + path, headers=headers, params=_parameters(query), extensions={OURS: True}
            ) as response:
                disposition = response.headers.get("content-disposition", "")
                if not response.is_success or "attachment" not in disposition:
                    response.read()
                    self._answer(response)
                    raise self._not_ours(response)
                with partial.open("wb") as opened:
                    opened.writelines(response.iter_bytes())
            if _is_cut_off(partial):
                raise _cut_off("file")
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as why:
            raise self._failed(why) from why
        else:
            partial.replace(target)
            return response.headers
        finally:
            partial.unlink(missing_ok=True)

    def events(self, path: str, body: Any) -> Iterator[tuple[str, Any]]:
        """Send a JSON body and yield the name and document of each server-sent event. Raises the same errors as `call`."""
        headers = self._headers(MEDIA_TYPE) | {"Content-Type": _JSON}
        content = _as_json(body)
        try:
            with self._http.stream(
                "POST", self.url + path, headers=headers, content=content, extensions={OURS: True}
            ) as response:
                if not response.headers.get("content-type", "").startswith(MEDIA_TYPE):
                    response.read()
                    yield "done", self._answer(response)
                    return
                for event in events_in(response.iter_bytes()):
                    yield event.name, json.loads(event.data)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as why:
            raise self._failed(why) from why

    def ready(self) -> Any:
        """The state of the server, which needs no key: `{"status": "ready"}`, or another status and `why`."""
        response = self._send("GET", "/health/ready", {"Accept": _JSON}, None, None)
        found = _parsed(response)
        if not isinstance(found, dict) or "status" not in found:
            raise self._not_ours(response)
        return found

    def _headers(self, accept: str) -> dict[str, str]:
        if self._key is None:
            raise NoServer(
                f"No API key for {self.url}. Create one there under Settings and set TIMEMACHINE_API_KEY to it.",
                code="no_key",
            )
        return {"Authorization": f"Bearer {self._key}", "Accept": accept}

    def _send(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        query: Mapping[str, Any] | None,
        content: bytes | IO[bytes] | None,
    ) -> httpx.Response:
        if content is not None and not isinstance(content, bytes):
            content.seek(0)
        try:
            with _without_log():
                response = self._http.request(
                    method,
                    self.url + path,
                    headers=headers,
                    params=_parameters(query),
                    content=content,
                    extensions={OURS: True},
                )
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as why:
            raise self._failed(why) from why
        if response.content.endswith(CUT_OFF):
            raise _cut_off("answer")
        return response

    def _failed(self, why: Exception) -> ClientError:
        if isinstance(why, httpx.ConnectError | httpx.ConnectTimeout | httpx.ProxyError):
            return Unreachable(
                f"No server at {self.url} ({_reason(why)}). Start it with `timemachine up` (in a clone: `make up`), "
                "or set TIMEMACHINE_URL to the URL of a server."
            )
        if isinstance(why, httpx.TimeoutException):
            return Unreachable(
                f"{self.url} did not respond within {self._patience:g} s and may still be working. "
                "Check the result there before you try again.",
                code="timeout",
            )
        if isinstance(why, httpx.TransportError):
            return Unreachable(
                f"The connection to {self.url} was lost ({_reason(why)}). See the server's log."
            )
        return NotUnderstood(
            f"Cannot communicate with {self.url} ({_reason(why)}). Check TIMEMACHINE_URL and the arguments."
        )

    def _answer(self, response: httpx.Response) -> Any:
        found = _parsed(response)
        if response.is_success and isinstance(found, dict):
            return found
        if response.is_error and isinstance(found, dict) and {"code", "message"} <= found.keys():
            facts = found.get("facts")
            raise Refused(
                str(found["message"]),
                status=response.status_code,
                code=str(found["code"]),
                facts=facts if isinstance(facts, dict) else {},
                retry_after=seconds_of(response.headers.get("retry-after")),
            )
        raise self._not_ours(response)

    def _text(self, response: httpx.Response) -> str:
        if response.is_success and response.headers.get("content-type", "").startswith("text/plain"):
            return response.text
        self._answer(response)
        raise self._not_ours(response)

    def _not_ours(self, response: httpx.Response) -> NotUnderstood:
        status = f"{response.status_code} {response.reason_phrase}".strip()
        if response.status_code in _REDIRECTS:
            elsewhere = response.headers.get("location", "another URL")
            return NotUnderstood(
                f"{self.url} redirects to {elsewhere}. Set TIMEMACHINE_URL to the final URL."
            )
        if response.is_server_error:
            return NotUnderstood(f"{self.url} returned {status} without a reason. See the server's log.")
        return NotUnderstood(f"{self.url} returned {status} but is not Time Machine. Check TIMEMACHINE_URL.")


class Resource:
    """A part of the API, over one connection; the base class of the resources."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection


def _as_json(body: Any) -> bytes:
    """The body of a request. Raises `ClientError` for what JSON cannot express: NaN, infinities, circular references."""
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (ValueError, RecursionError) as why:
        with contextlib.suppress(RecursionError):
            for name, number in _not_finite(body):
                message = f"`{name}` cannot be {number}. Use a finite number."
                raise ClientError(message, code="not_finite") from why
        raise ClientError(f"The value cannot be written as JSON: {why}.", code="not_json") from why


def _not_finite(body: Any, name: str = "a number") -> Iterator[tuple[str, float]]:
    """The NaN and infinite numbers in a body, each with its key."""
    if isinstance(body, float) and not math.isfinite(body):
        yield name, body
    elif isinstance(body, Mapping):
        for key, value in body.items():
            yield from _not_finite(key, "a name")
            yield from _not_finite(value, str(key))
    elif isinstance(body, list | tuple):
        for value in body:
            yield from _not_finite(value, name)


def segment(text: str, noun: str) -> str:
    """A name or id as one segment of a path. Raises `NotFound` if it has a slash, because no name has one."""
    if "/" in text:
        raise NotFound(f"There is no {noun} {text[:80]!r}: names and IDs cannot contain a slash.")
    if text.strip(".") == "":  # "." and ".." would change the path
        return text.replace(".", "%2E") or "%20"
    return quote(text, safe="", errors="surrogateescape")


def given(**fields: Any) -> JsonObject:
    """The fields that are not None, as the body of a request."""
    return {name: value for name, value in fields.items() if value is not None}


def _http_client(server: Server, patience: float) -> httpx.Client:
    secure = server.url.startswith("https:")
    try:
        return httpx.Client(
            verify=secure,  # without TLS there is nothing to verify, and reading the certificates takes 0.1 s
            trust_env=not server.is_local,  # no proxy for this machine
            timeout=httpx.Timeout(patience, connect=min(_CONNECT, patience)),
            follow_redirects=False,  # the key is sent only to this server
        )
    except (OSError, ValueError) as why:
        raise NoServer(
            f"Cannot connect to {server.url} ({_reason(why)}). Check the proxy and certificate environment variables.",
            code="no_connection",
        ) from why


def _parsed(response: httpx.Response) -> Any:
    try:
        return json.loads(response.content)
    except (ValueError, RecursionError):
        return None


_ours: Final = threading.local()


@contextlib.contextmanager
def _without_log() -> Iterator[None]:
    """Keep our own requests out of httpx's log, which belongs to the application."""
    httpx_log = logging.getLogger("httpx")
    httpx_log.addFilter(_is_not_ours)  # once, however often it is added
    _ours.busy = True
    try:
        yield
    finally:
        _ours.busy = False


def _is_not_ours(_: logging.LogRecord) -> bool:
    return not getattr(_ours, "busy", False)


def _cut_off(what: str) -> Unreachable:
    return Unreachable(
        f"The server could not complete the {what}: its content was deleted in the meantime, or the database failed. Try again."
    )


def _is_cut_off(path: Path) -> bool:
    """Whether a downloaded file ends with the mark of an incomplete answer."""
    with path.open("rb") as opened:
        opened.seek(max(0, opened.seek(0, os.SEEK_END) - len(CUT_OFF)))
        return opened.read() == CUT_OFF


def _parameters(query: Mapping[str, Any] | None) -> dict[str, str] | None:
    return {name: _plain(value) for name, value in (query or {}).items() if value is not None} or None


def _plain(value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text.encode("utf-8", "replace").decode()


def _reason(why: Exception) -> str:
    """What went wrong in the system's words, without its number: `Connection refused`."""
    return _NUMBER.sub("", " ".join(str(why).split())) or type(why).__name__
