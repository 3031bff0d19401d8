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
from typing import Any, Self

from tests.stub_answers import Call, Script, anthropic_answer, anthropic_events, openai_answer, openai_events
from tests.stub_responses import response, response_events

__all__ = ["Call", "Script", "StubModelServer"]

HUGE = 40 * 1024 * 1024


@dataclass(slots=True)
class _State:
    scripts: list[Script] = field(default_factory=list)
    used: dict[int, int] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    lock: threading.Condition = field(default_factory=threading.Condition)

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
            self.lock.notify_all()
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
        remaining = [(number, script) for number, script in fitting if self._left(number, script)]
        number, script = max(remaining or fitting, key=_rank)
        self.used[number] = self.used.get(number, 0) + 1
        return script if remaining else Script(answer=script.answer, usage=script.usage)

    def _left(self, number: int, script: Script) -> bool:
        times = _times(script)
        return times is None or self.used.get(number, 0) < times


def _times(script: Script) -> int | None:
    return 1 if script.mode == "429_then_ok" and script.times is None else script.times


def _rank(numbered: tuple[int, Script]) -> tuple[int, bool, int]:
    number, script = numbered
    bounded = _times(script) is not None
    return len(script.question), bounded, -number if bounded else number


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # with the base class's limit of five, a sixth simultaneous call would wait a second for its connection


class StubModelServer:
    """The server, on a free port of the loopback or the given one, inside a `with` block."""

    def __init__(self, port: int = 0) -> None:
        self._state = _State()
        state = self._state

        class Handler(_Handler):
            shared = state

        self._server = _Server(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Return the base URL."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def script(self, script: Script) -> None:
        """Add a script."""
        self._state.add(script)

    def calls(self) -> list[Call]:
        """Return every call so far, in order."""
        with self._state.lock:
            return list(self._state.calls)

    def wait_for_calls(self, number: int, seconds: float = 120.0) -> None:
        """Wait until this many calls have arrived."""
        with self._state.lock:
            came = self._state.lock.wait_for(lambda: len(self._state.calls) >= number, seconds)
        assert came, f"{len(self.calls())} of {number} calls came within {seconds:g} s"

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
    """Return the complete text of a request in order: the system text and each message, or the texts to embed."""
    messages = [
        {"content": body.get("system", "")},
        {"content": body.get("instructions")},
        *body.get("messages", []),
    ]
    given = body.get("input", [])
    messages += [{"content": text} for text in ([given] if isinstance(given, str) else given)]
    texts = (message.get("content") or "" for message in messages)
    return "\n".join(text if isinstance(text, str) else json.dumps(text) for text in texts if text)


class _Handler(BaseHTTPRequestHandler):
    shared: _State
    _call: Call | None = None
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # otherwise each answer waits 40 ms for the acknowledgement of its head

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
        self.path = self.path.partition("?")[0]  # Claude Code asks for `?beta=true`
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))) or b"{}")
        if self.path == "/script":
            self.shared.add(Script(**body))
            self._json(201, {})
        elif self.path.endswith(("/chat/completions", "/responses", "/messages", "/embeddings")):
            self._answer(body)
        else:
            self._json(404, {"error": {"message": f"There is nothing at {self.path}."}})

    def _answer(self, body: dict[str, Any]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        call, script = self.shared.note(self.path, headers, body)
        self._call = call
        try:
            call.status = self._play(call, script)
        except (BrokenPipeError, ConnectionResetError):
            call.answered_at = None
            self.close_connection = True  # the caller disconnected: the call stays on record, unanswered

    def _play(self, call: Call, script: Script) -> int:
        if script.mode == "slow":
            time.sleep(script.seconds)
        script = self._refused(call, script)
        if script.mode in _ERRORS:
            return self._refuse(script)
        if script.mode in _MISBEHAVIOURS:
            return self._misbehave(script)
        if call.path.endswith("/embeddings"):
            return self._json(200, _embeddings(call, script))
        if call.body.get("stream") and script.mode != "in_one_piece":
            return self._stream(call, script)
        return self._in_one_piece(call, script)

    def _refused(self, call: Call, script: Script) -> Script:
        """Return the refusal of an unknown parameter, of too many texts or of texts that are too long."""
        for mode, name in _NOT_TAKEN.items():
            if script.mode == mode and name in call.body:
                body = {
                    "error": {"message": f"Unknown parameter: '{name}'.", "type": "invalid_request_error"}
                }
                return Script(mode="error", status=400, body=json.dumps(body))
        texts = call.body.get("input", []) if call.path.endswith("/embeddings") else []
        if _over(script.most_texts, len(texts)) or _over(
            script.longest_text, max(map(len, texts), default=0)
        ):
            return Script(mode="error", status=413, body='{"error": "too long"}')
        return script

    def _in_one_piece(self, call: Call, script: Script) -> int:
        if script.held:
            script.held.wait(60)
        answer, _ = _forms(call)
        data = json.dumps(answer(call, script)).encode()
        if script.mode != "closed":
            return self._send(200, data, {})
        self._begin("application/json", str(len(data)))
        self._write(data[: len(data) // 2])
        self.close_connection = True
        return 200

    def _stream(self, call: Call, script: Script) -> int:
        self._begin("text/event-stream; charset=utf-8", None)
        self.close_connection = True
        _, events = _forms(call)
        for event in events(call, script):
            self._write(f"{len(event):x}\r\n".encode() + event + b"\r\n" if event else b"")
        self._write(b"" if script.mode == "closed" else b"0\r\n\r\n")
        return 200

    def _begin(self, content_type: str, length: str | None) -> None:
        self.send_response(200)
        self.send_header("content-type", content_type)
        self.send_header(*(("content-length", length) if length else ("transfer-encoding", "chunked")))
        self.end_headers()

    def _refuse(self, script: Script) -> int:
        status = _ERRORS[script.mode] or script.status
        headers = {"location": f"{self.path}?again"} if script.mode == "redirect" else {}
        if script.retry_after is not None:
            headers["retry-after"] = script.retry_after
        body = script.body or json.dumps(
            {"error": {"message": _WORDS.get(status, "No."), "type": "stub_error"}}
        )
        return self._send(status, body.encode(), {**headers, "x-request-id": "req_stub"})

    def _misbehave(self, script: Script) -> int:
        if script.mode == "garbage":
            return self._send(200, b'{"choices": [', {})
        if script.mode == "html":
            page = b"<!doctype html><title>Sign in</title><p>Please sign in to the proxy.</p>"
            return self._send(200, page, {"content-type": "text/html; charset=utf-8"})
        size = HUGE if script.mode == "huge" else 1000
        self._begin("application/json", str(size))
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
        self._write(data)
        return status

    def _write(self, data: bytes) -> None:
        """Send it. The clock is read before, because the client may send its next call before this thread continues."""
        if self._call is not None:
            self._call.answered_at = _now()
        self.wfile.write(data)


_ERRORS: dict[str, int | None] = {"429_then_ok": 429, "500": 500, "redirect": 302, "error": None}
_WORDS = {429: "Too many requests; slow down.", 500: "The stub broke.", 302: "Elsewhere."}
_MISBEHAVIOURS = frozenset({"drip", "huge", "garbage", "html"})
_NOT_TAKEN = {"no_usage_in_stream": "stream_options", "no_stream": "stream"}


def _forms(call: Call) -> tuple[Any, Any]:
    """Return the functions that make the answer and its events in the API that was called."""
    if call.path.endswith("/responses"):
        return response, response_events
    if call.path.endswith("/messages"):
        return anthropic_answer, anthropic_events
    return openai_answer, openai_events


def _over(limit: int | None, count: int) -> bool:
    return limit is not None and count > limit


def _embeddings(call: Call, script: Script) -> dict[str, Any]:
    """Return a vector for each text: how many of its words fall into each dimension. A script's answer is the number of dimensions.

    The last text comes first: the order is in the index.
    """
    places = int(script.answer or 8)
    rows = [
        {"object": "embedding", "index": number, "embedding": _counts(text, places)}
        for number, text in enumerate(call.body["input"])
    ]
    return {"object": "list", "model": call.model, "data": rows[::-1]}


def _counts(text: str, places: int) -> list[float]:
    counts = [0.0] * places
    for word in text.lower().split():
        counts[hashlib.sha256(word.encode()).digest()[0] % places] += 1
    return counts


def _now() -> str:
    return datetime.now(UTC).isoformat()


if __name__ == "__main__":
    server = StubModelServer(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    print(server.url, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)
