"""Playback at a local address. It opens no connection itself."""

from __future__ import annotations

import json
from typing import Final, Self

from timemachine.client.local_server import Answer, LocalServer, Request
from timemachine.client.playback.pure.apis import APIS, CHAT, MESSAGES, Api
from timemachine.client.playback.pure.calls import PlayedCall
from timemachine.client.playback.pure.playback import BAD_REQUEST, Playback, Reply
from timemachine.client.playback.recordings import Recording
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.server_sent import MEDIA_TYPE

LARGEST_BODY: Final = 256 * 1024 * 1024
_NOT_FOUND, _FORBIDDEN, _NOT_ALLOWED, _TOO_LARGE = 404, 403, 405, 413


class PlaybackServer:
    """Answers from a recording on a port of the loopback until it is closed; a context manager. Port 0 is any free one.

    Each recorded answer is used once, in order; with `start_over`, equal requests begin with the first again after the last.
    """

    def __init__(self, recording: Recording, *, port: int = 0, start_over: bool = False) -> None:
        self.playback = Playback(recording.calls, start_over=start_over)
        self.name = recording.key
        self._server = LocalServer(self._handle, port=port)

    @property
    def url(self) -> str:
        """The address without `/v1`, which Anthropic's SDK expects."""
        return self._server.url

    @property
    def base_url(self) -> str:
        """The address with `/v1`, which OpenAI's SDK expects."""
        return f"{self.url}/v1"

    @property
    def unused(self) -> tuple[PlayedCall, ...]:
        """The recorded calls that answered no request yet."""
        return self.playback.unused

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()

    def run(self) -> None:
        """Serve until interrupted."""
        self._server.run()

    def close(self) -> None:
        """Stop listening."""
        self._server.close()

    async def _handle(self, request: Request, answer: Answer) -> None:
        reply = self._refused(request) or await self._reply(request)
        content = json.dumps(reply.body).encode() if reply.stream is None else reply.stream
        kind = "application/json" if reply.stream is None else f"{MEDIA_TYPE}; charset=utf-8"
        headers = {"Content-Type": kind, "Content-Length": f"{len(content)}", "X-Should-Retry": "false"}
        if reply.step is not None:
            headers["Timemachine-Step"] = f"{reply.step}"
        answer.begin(reply.status, [(name.encode(), value.encode()) for name, value in headers.items()])
        if request.method != "HEAD":
            await answer.send(content)
        await answer.end()

    def _refused(self, request: Request) -> Reply | None:
        """Return the refusal of a request that is not for this server; None if it is."""
        if not request.names_this_machine:
            return _refusal(request, _FORBIDDEN, f"Playback answers only at {self.url}.")
        if request.is_of_foreign_page:
            return _refusal(
                request, _FORBIDDEN, "Playback does not accept requests from pages of other sites."
            )
        if request.method not in ("GET", "HEAD", "POST"):
            return _refusal(request, _NOT_ALLOWED, f"Playback does not answer {request.method[:20]}.")
        if int(request.header("content-length") or 0) > LARGEST_BODY:
            return _too_large(request)
        return None

    async def _reply(self, request: Request) -> Reply:
        path = _path(request)
        if request.method != "POST":
            return self._shown(request, path)
        body = bytearray()
        async for part in request.body:
            body += part
            if len(body) > LARGEST_BODY:
                return _too_large(request)
        api = APIS.get(path)
        if api is None:
            paths = ", ".join(f"/v1{path}" for path in APIS)
            words = f"Playback does not serve {request.target[:80]}. It answers {paths} and /v1/models."
            return _refusal(request, _NOT_FOUND, words)
        try:
            document = json.loads(body)
        except (ValueError, RecursionError) as why:
            return _refusal(request, BAD_REQUEST, f"The body is not JSON: {why}.")
        return self.playback.answer(api, document)

    def _shown(self, request: Request, path: str) -> Reply:
        """Return the state, or the models."""
        if path == "/models":
            return Reply(status=200, body=_models(self.playback.models))
        if path in ("", "/"):
            return Reply(status=200, body=self._state())
        return _refusal(request, _NOT_FOUND, f"Playback does not serve {request.target[:80]}.")

    def _state(self) -> JsonObject:
        return {
            "playback": self.name,
            "calls": len(self.playback.calls),
            "unused": [call.sequence for call in self.unused],
        }


def _path(request: Request) -> str:
    """Return the path without the version, which SDKs put in the base URL or the path."""
    return request.path.removeprefix("/v1").rstrip("/")


def _too_large(request: Request) -> Reply:
    return _refusal(request, _TOO_LARGE, f"The body has more than {LARGEST_BODY:,} bytes.")


def _refusal(request: Request, status: int, message: str) -> Reply:
    is_anthropic = request.header("anthropic-version") is not None or _path(request) == MESSAGES.path
    api: Api = MESSAGES if is_anthropic else CHAT
    return Reply(status=status, body=api.error(status, message, {}))


def _models(names: tuple[str, ...]) -> JsonObject:
    """A list of models that is one of both vendors' APIs."""
    items = [
        {
            "id": name,
            "object": "model",
            "type": "model",
            "created": 0,
            "created_at": "1970-01-01T00:00:00Z",
            "display_name": name,
            "owned_by": "recording",
        }
        for name in names
    ]
    ends = {"first_id": names[0], "last_id": names[-1]} if names else {"first_id": None, "last_id": None}
    return {"object": "list", "data": items, "has_more": False, **ends}
