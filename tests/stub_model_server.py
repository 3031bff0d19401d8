"""A model server on the loopback that says what a test scripted: both protocols, every failure, every call on record.

In a test:

    with StubModelServer() as stub:
        stub.script(Script(question="How long do refunds take?", answer="14 days."))
        ...                                  # stub.url + "/v1" is an OpenAI base URL, stub.url an Anthropic one
        assert len(stub.calls()) == 1

As a process that outlives the worker a test kills: `python -m tests.stub_model_server PORT`, then `POST /script`,
`GET /calls`, `DELETE /calls`. A script answers the prompts that contain its question (an empty one fits all) and its model,
where it names one. The longest such question wins; then scripts that hold a number of times, in the order they were added;
then the one added last. What no script fits is answered from a hash of model and prompt, so that the same prompt always has
the same answer.
"""

import hashlib
import json
import sys
import threading
import time
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

Mode = Literal[
    "ok", "429_then_ok", "500", "error", "slow", "refusal", "truncated", "redirect", "drip", "huge", "garbage"
]

HUGE = 40 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What to answer, and how.

    `times` bounds how often the mode holds before the answer is simply given (None: always; `429_then_ok` fails once).
    `seconds` is how long `slow` waits and `drip` pauses; `status`, `body` and `retry_after` belong to `error` and 429;
    `usage` replaces the counted tokens.
    """

    question: str = ""
    answer: str | None = None
    mode: Mode = "ok"
    times: int | None = None
    seconds: float = 0.0
    status: int = 400
    body: str = ""
    retry_after: str | None = None
    usage: dict[str, Any] | None = None
    model: str | None = None


@dataclass(slots=True, kw_only=True)
class Call:
    """One request: `id` counts from 1; `answered_at` is None while it runs, and where the caller was seen to be gone."""

    id: int
    path: str
    model: str
    prompt: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: str
    mode: str = "ok"
    status: int | None = None
    answered_at: str | None = None


@dataclass(slots=True)
class _State:
    scripts: list[Script] = field(default_factory=list)
    used: dict[int, int] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, script: Script) -> None:
        with self.lock:
            self.scripts.append(script)

    def note(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[Call, Script]:
        with self.lock:
            prompt, model = prompt_of(body), str(body.get("model"))
            call = Call(
                id=len(self.calls) + 1,
                path=path,
                model=model,
                prompt=prompt,
                headers=headers,
                body=body,
                at=_now(),
            )
            self.calls.append(call)
            script = self._script(prompt, model)
            call.mode = script.mode
            return call, script

    def _script(self, prompt: str, model: str) -> Script:
        fitting = [
            (number, script)
            for number, script in enumerate(self.scripts)
            if script.question in prompt and script.model in {None, model}
        ]
        if not fitting:
            return Script()
        left = [(number, script) for number, script in fitting if self._left(number, script)]
        number, script = max(left or fitting, key=_rank)
        self.used[number] = self.used.get(number, 0) + 1
        return script if left else Script(answer=script.answer, usage=script.usage)

    def _left(self, number: int, script: Script) -> bool:
        times = _times(script)
        return times is None or self.used.get(number, 0) < times


def _times(script: Script) -> int | None:
    return 1 if script.mode == "429_then_ok" and script.times is None else script.times


def _rank(numbered: tuple[int, Script]) -> tuple[int, bool, int]:
    number, script = numbered
    bounded = _times(script) is not None
    return len(script.question), bounded, -number if bounded else number


class StubModelServer:
    """The server, on a free port of the loopback or the one given, from `with` to its end."""

    def __init__(self, port: int = 0) -> None:
        self._state = _State()
        state = self._state

        class Handler(_Handler):
            shared = state

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def script(self, script: Script) -> None:
        """Add a script."""
        self._state.add(script)

    def calls(self) -> list[Call]:
        """Every call so far, in order."""
        with self._state.lock:
            return list(self._state.calls)

    def serve_forever(self) -> None:
        """Serve in this thread, until it is interrupted."""
        self._server.serve_forever(0.1)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def prompt_of(body: dict[str, Any]) -> str:
    """All that a request says, in order: the system text and each message."""
    messages = [{"content": body.get("system", "")}, *body.get("messages", [])]
    texts = (message.get("content") or "" for message in messages)
    return "\n".join(text if isinstance(text, str) else json.dumps(text) for text in texts if text)


class _Handler(BaseHTTPRequestHandler):
    shared: _State
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each answer waits 40 ms for the acknowledgement of its head

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the base class names it)
        pass

    def do_GET(self) -> None:
        if self.path == "/calls":
            with self.shared.lock:
                self._json(200, [asdict(call) for call in self.shared.calls])
        elif self.path.endswith("/models"):
            self._json(200, {"object": "list", "data": [{"id": "stub-model", "object": "model"}]})
        else:
            self._json(404, {"error": {"message": f"There is nothing at {self.path}."}})

    def do_DELETE(self) -> None:
        with self.shared.lock:
            self.shared.calls.clear()
            self.shared.scripts.clear()
            self.shared.used.clear()
        self._json(200, {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))) or b"{}")
        if self.path == "/script":
            self.shared.add(Script(**body))
            self._json(201, {})
        elif self.path.endswith(("/chat/completions", "/messages")):
            self._answer(body)
        else:
            self._json(404, {"error": {"message": f"There is nothing at {self.path}."}})

    def _answer(self, body: dict[str, Any]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        call, script = self.shared.note(self.path, headers, body)
        try:
            call.status = self._play(call, script)
            call.answered_at = _now()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the caller went away: the call stays on record as never answered

    def _play(self, call: Call, script: Script) -> int:
        if script.mode == "slow":
            time.sleep(script.seconds)
        if script.mode in _ERRORS:
            return self._refuse(script)
        if script.mode in {"drip", "huge", "garbage"}:
            return self._misbehave(script)
        speaks = _anthropic if call.path.endswith("/messages") else _openai
        return self._json(200, speaks(call, script))

    def _refuse(self, script: Script) -> int:
        status = _ERRORS[script.mode] or script.status
        headers = {"location": f"{self.path}?again"} if script.mode == "redirect" else {}
        if script.retry_after is not None:
            headers["retry-after"] = script.retry_after
        said = script.body or json.dumps(
            {"error": {"message": _WORDS.get(status, "No."), "type": "stub_error"}}
        )
        return self._send(status, said.encode(), headers)

    def _misbehave(self, script: Script) -> int:
        if script.mode == "garbage":
            return self._send(200, b'{"choices": [', {})
        self.send_response(200)
        self.send_header("content-type", "application/json")
        size = HUGE if script.mode == "huge" else 1000
        self.send_header("content-length", str(size))
        self.end_headers()
        piece = b" " * (1 << 20) if script.mode == "huge" else b" "
        for _ in range(size // len(piece)):
            self.wfile.write(piece)
            time.sleep(script.seconds)
        return 200

    def _json(self, status: int, value: Any) -> int:
        return self._send(status, json.dumps(value).encode(), {})

    def _send(self, status: int, data: bytes, headers: dict[str, str]) -> int:
        self.send_response(status)
        for name, value in {"content-type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
        return status


_ERRORS: dict[str, int | None] = {"429_then_ok": 429, "500": 500, "redirect": 302, "error": None}
_WORDS = {429: "Too many requests; slow down.", 500: "The stub broke.", 302: "Elsewhere."}
_REFUSAL = "I can't help with that."


def _said(call: Call, script: Script) -> str:
    if script.mode == "refusal":
        return script.answer or _REFUSAL
    if script.answer is not None:
        return script.answer
    return f"Stub answer {hashlib.sha256(f'{call.model} {call.prompt}'.encode()).hexdigest()[:12]}."


def _openai(call: Call, script: Script) -> dict[str, Any]:
    said = _said(call, script)
    refused = script.mode == "refusal"
    message = {
        "role": "assistant",
        "content": None if refused else said,
        "refusal": said if refused else None,
    }
    read, written = len(call.prompt.split()), len(said.split())
    return {
        "id": f"chatcmpl-stub-{call.id}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": call.model,
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "length" if script.mode == "truncated" else "stop",
            }
        ],
        "usage": script.usage
        or {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    }


def _anthropic(call: Call, script: Script) -> dict[str, Any]:
    said = _said(call, script)
    reasons = {"truncated": "max_tokens", "refusal": "refusal"}
    return {
        "id": f"msg_stub_{call.id}",
        "type": "message",
        "role": "assistant",
        "model": call.model,
        "content": [{"type": "text", "text": said}],
        "stop_reason": reasons.get(script.mode, "end_turn"),
        "stop_sequence": None,
        "usage": script.usage
        or {"input_tokens": len(call.prompt.split()), "output_tokens": len(said.split())},
    }


def _now() -> str:
    return datetime.now(UTC).isoformat()


if __name__ == "__main__":
    server = StubModelServer(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(server.url, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)
