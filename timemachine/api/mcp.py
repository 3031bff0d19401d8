"""`/mcp`: Model Context Protocol over streamable HTTP, without sessions and streams: each POST is answered with one JSON document.

The tools send their requests to the JSON API in this process, with the key of the caller, so its scopes, limits and errors hold.
The SDK's code runs in an event loop of its own for each request; requests to the API run in the request's thread, with its
connection to the database.
"""

import asyncio
import json
from collections.abc import Mapping
from functools import cache
from io import BytesIO
from typing import Any, Final
from urllib.parse import unquote, urlencode, urlsplit

from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from timemachine.api.access import caller_with
from timemachine.api.errors import MethodNotAllowed, refusal
from timemachine.core.pure.errors import NotAllowed, NotSignedIn, TimeMachineError, TooLarge
from timemachine.core.pure.json_types import JsonObject
from timemachine.mcp.api import Refused, SavedExport

MOST_BYTES: Final = 8 * 1024 * 1024
_ERRORS: Final = 400
_PASSED_ON: Final = (
    "HTTP_HOST",
    "HTTP_AUTHORIZATION",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_FORWARDED_FOR",
    "HTTP_X_FORWARDED_HOST",
)


@csrf_exempt
def serve(request: HttpRequest) -> HttpResponse:
    """Answer one message of an MCP client."""
    try:
        _check(request)
        answer = async_to_sync(_answer)(request)
    except TimeMachineError as why:
        answer = refusal(why)
        if why.status == MethodNotAllowed.status:
            answer["Allow"] = "POST"
        if why.status == NotSignedIn.status:
            answer["WWW-Authenticate"] = "Bearer"
    answer["Cache-Control"] = "no-store"
    return answer


def _check(request: HttpRequest) -> None:
    """Raise `MethodNotAllowed`, `NotAllowed` for a page of another site, `TooLarge`, or `NotSignedIn`.

    Hosts that are not ours were refused before (`web.hosts`).
    """
    if request.method != "POST":
        raise MethodNotAllowed(
            "Send MCP messages with POST. There are no streams or sessions to open or close here."
        )
    here = f"{request.scheme}://{request.get_host()}"
    if request.headers.get("Origin", here) not in {here, _origin(settings.PUBLIC_URL)}:
        raise NotAllowed(
            "This URL does not accept requests from pages of other sites.", code="foreign_origin"
        )
    try:
        large = len(request.body) > MOST_BYTES
    except RequestDataTooBig:
        large = True
    if large:
        raise TooLarge(f"An MCP message can have at most {MOST_BYTES:,} bytes.", limit=MOST_BYTES)
    word, _, key = request.headers.get("Authorization", "").partition(" ")
    if word.lower() != "bearer" or not key:
        raise NotSignedIn("Send an API key: Authorization: Bearer tmk_…. Create one under Settings.")
    caller_with(key.strip())


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


class _CallersApi:
    """The API in this process, with the caller's key."""

    current: str | None = None

    def __init__(self, environ: Mapping[str, Any]) -> None:
        self._environ = {
            name: value
            for name, value in environ.items()
            if name in _PASSED_ON or not name.startswith(("HTTP_", "CONTENT_", "wsgi.input"))
        }

    async def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: JsonObject | None = None,
    ) -> JsonObject:
        """Send a request and return its document. Raises `Refused`."""
        return await sync_to_async(self._call)(method, path, query or {}, body)

    async def save_export(self, session: str, format_name: str) -> SavedExport | None:  # noqa: ARG002  # of `Api`
        """Return None: this machine is not the caller's."""
        return None

    def _call(self, method: str, path: str, query: Mapping[str, Any], body: JsonObject | None) -> JsonObject:
        content = b"" if body is None else json.dumps(body).encode()
        environ = {
            **self._environ,
            "REQUEST_METHOD": method,
            "PATH_INFO": unquote(path),  # of ASCII: `path_of` accepts no other names
            "QUERY_STRING": urlencode(
                {name: value for name, value in query.items() if value is not None}, errors="replace"
            ),
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(content)),
            "wsgi.input": BytesIO(content),
        }
        response = _handler().get_response(WSGIRequest(environ))
        try:
            data = b"".join(response)
        finally:
            response.close()
        found = json.loads(data)
        if response.status_code >= _ERRORS:
            raise Refused(found["message"], code=found["code"])
        return found  # type: ignore[no-any-return]


@cache
def _handler() -> WSGIHandler:
    return WSGIHandler()


async def _answer(request: HttpRequest) -> HttpResponse:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # 60 MB: only if MCP is used

    from timemachine.mcp.server import server_for

    server = server_for(_CallersApi(request.META))
    manager = StreamableHTTPSessionManager(
        server, stateless=True, json_response=True, max_request_body_size=MOST_BYTES
    )
    answer = HttpResponse()
    sent = bytearray()
    pending = [{"type": "http.request", "body": request.body, "more_body": False}]

    async def receive() -> Any:
        if pending:
            return pending.pop()
        await asyncio.Event().wait()  # the client does not disconnect before it has its answer
        raise AssertionError

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answer.status_code = message["status"]
            for name, value in message.get("headers", ()):
                answer[name.decode("latin-1")] = value.decode("latin-1")
        else:
            sent.extend(message.get("body", b""))

    async with manager.run():
        await manager.handle_request(_scope(request), receive, send)
    answer.content = bytes(sent)
    return answer


def _scope(request: HttpRequest) -> dict[str, Any]:
    headers = [
        (name.lower().encode("latin-1"), value.encode("latin-1", "replace"))
        for name, value in request.headers.items()
    ]
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": request.scheme,
        "path": request.path,
        "raw_path": request.path.encode(),
        "query_string": request.META.get("QUERY_STRING", "").encode("latin-1"),
        "root_path": "",
        "headers": headers,
        "client": None,
        "server": None,
    }
