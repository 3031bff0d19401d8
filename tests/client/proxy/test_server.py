"""The proxy between a client and a provider: the bytes that pass, and what happens if a part of it fails."""

import asyncio
import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from anthropic import Anthropic
from openai import InternalServerError, OpenAI

from tests.client.spools import waiting
from tests.stub_answers import Script
from tests.stub_model_server import StubModelServer
from tests.waiting import wait_until
from timemachine.client.local_server import Answer, LocalServer, Request
from timemachine.client.machine import TimeMachine
from timemachine.client.proxy.pure.bodies import MOST_BYTES
from timemachine.client.proxy.recording import CallRecorder
from timemachine.client.proxy.server import ProxyServer
from timemachine.client.proxy.upstream import Providers

NOWHERE = "http://127.0.0.1:9"
ASKED = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}


@contextmanager
def proxied(url: str, folder: Path) -> Iterator[tuple[ProxyServer, CallRecorder]]:
    """Run a proxy to a provider, whose recordings wait in the folder for a server that is away."""
    machine = TimeMachine(NOWHERE, "tmk_aaaaaaaaaaaa_a", spool=folder, patience=0.1)
    recorder = CallRecorder(machine, key="run")
    proxy = ProxyServer(recorder)
    proxy.providers = Providers.of(
        openai=f"{url}/v1", anthropic=url, name=None, own_port=proxy.server.port, environment={}
    )
    with proxy.server:
        yield proxy, recorder
    recorder.close()
    machine.close()


@contextmanager
def echoing(seen: list[tuple[Request, bytes]], reply: bytes, *headers: tuple[bytes, bytes]) -> Iterator[str]:
    """Run a provider that answers every request with these bytes, and notes the requests."""

    async def handle(request: Request, answer: Answer) -> None:
        seen.append((request, b"".join([part async for part in request.body])))
        answer.begin(200, [*headers, (b"Content-Length", b"%d" % len(reply))])
        await answer.send(reply)
        await answer.end()

    with LocalServer(handle) as server:
        yield server.url


def recorded(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in waiting(folder) if line.startswith(b"{")]


def until(folder: Path, number: int) -> list[dict[str, Any]]:
    """Wait for so many steps."""
    wait_until(lambda: len(recorded(folder)) >= number)
    return recorded(folder)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/files?a=%20b&c"])
def test_bodies_pass_byte_by_byte_in_both_directions(path: str, tmp_path: Path) -> None:
    sent = gzip.compress(b'{ "model" :"m", "messages": [{"role":"user","content":"\\ud83d H\xc3\xa4?"}] }')
    reply = gzip.compress(b'{"model": "m",   "choices": []}' * 1000)
    seen: list[tuple[Request, bytes]] = []
    kept = (
        (b"Content-Encoding", b"gzip"),
        (b"Set-Cookie", b"a=1"),
        (b"Set-Cookie", b"b=2"),
        (b"X-Odd", b"\xe4"),
    )
    with echoing(seen, reply, *kept) as provider, proxied(provider, tmp_path) as (proxy, _):
        headers = {"Content-Encoding": "gzip", "Authorization": "Bearer a", "Connection": "close"}
        with (
            httpx.Client(trust_env=False) as client,
            client.stream("POST", proxy.server.url + path, content=sent, headers=headers) as response,
        ):
            assert b"".join(response.iter_raw()) == reply
            found = [
                each
                for each in response.headers.raw
                if not each[0].startswith((b"Timemachine", b"Connection"))
            ]
    ((request, body),) = seen
    assert (body, request.target) == (sent, path)
    assert found == [*kept, (b"Content-Length", b"%d" % len(reply))]
    names = {name.lower() for name, _ in request.headers}
    assert names == {
        b"host",
        b"accept",
        b"accept-encoding",
        b"user-agent",
        b"content-encoding",
        b"content-length",
        b"authorization",
    }


def test_a_body_that_is_too_large_to_be_recorded_passes(tmp_path: Path) -> None:
    seen: list[tuple[Request, bytes]] = []
    sent = b" " * (MOST_BYTES + 1_000_000)
    with echoing(seen, b"{}") as provider, proxied(provider, tmp_path) as (proxy, _):
        assert httpx.post(f"{proxy.server.url}/messages", content=sent, trust_env=False).content == b"{}"
        (call,) = until(tmp_path, 1)
    assert seen[0][1] == sent
    assert (call.get("input"), call["output"]) == (None, {})
    assert f"{len(sent):,} bytes" in call["metadata"]["not_recorded"]


def test_calls_at_the_same_time_share_no_connection_and_later_ones_use_them_again(tmp_path: Path) -> None:
    opened, waiting_calls = [], threading.Barrier(20)

    class Provider(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            opened.append(self)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            waiting_calls.wait(30)
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: Any) -> None:
            pass

    async def ask_all(url: str) -> set[int]:
        async with httpx.AsyncClient(trust_env=False, timeout=30) as client:
            calls = (client.post(f"{url}/v1/chat/completions", json=ASKED) for _ in range(20))
            return {each.status_code for each in await asyncio.gather(*calls)}

    class Server(ThreadingHTTPServer):
        request_queue_size = 100

    with (
        Server(("127.0.0.1", 0), Provider) as server,
        proxied(f"http://127.0.0.1:{server.server_port}", tmp_path) as (proxy, _),
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert [asyncio.run(ask_all(proxy.server.url)) for _ in range(3)] == [{200}] * 3
        server.shutdown()
    assert 20 <= len(opened) < 40


def test_the_sdks_stream_and_calls_succeed_if_nothing_can_be_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "a file"
    blocked.touch()
    with StubModelServer() as stub, proxied(stub.url, blocked) as (proxy, recorder):
        url = proxy.server.url
        with (
            OpenAI(base_url=f"{url}/v1", api_key="none") as openai,
            Anthropic(base_url=url, api_key="none") as claude,
        ):
            asked: Any = ASKED
            with openai.chat.completions.stream(**asked) as stream:
                assert stream.get_final_completion().choices[0].message.content
            with claude.messages.stream(**asked, max_tokens=9) as message:
                assert "".join(message.text_stream)
            monkeypatch.setattr(recorder, "_session", None)  # a fault of the recorder
            assert openai.chat.completions.create(**asked).choices
            assert openai.embeddings.create(model="e", input=["a"]).data
            assert openai.models.list().data
        assert (recorder.calls, recorder.lost) == (2, 2)
        assert httpx.get(url, trust_env=False).json()["lost"] == 2


def test_failures_of_the_provider_pass_with_their_status_and_are_recorded(tmp_path: Path) -> None:
    with StubModelServer() as stub, proxied(stub.url, tmp_path) as (proxy, _):
        stub.script(Script(mode="429_then_ok"))
        with OpenAI(base_url=f"{proxy.server.url}/v1", api_key="none", max_retries=1) as client:
            asked: Any = ASKED
            assert client.chat.completions.create(**asked).choices
        first, second = until(tmp_path, 2)
    assert (first["metadata"]["status"], first["error"]["type"]) == (429, "stub_error")
    assert (second["metadata"]["retry"], second.get("error")) == (1, None)


def test_a_provider_that_is_away_is_an_error_of_the_vendor(tmp_path: Path) -> None:
    with proxied(NOWHERE, tmp_path) as (proxy, _):
        with (
            OpenAI(base_url=f"{proxy.server.url}/v1", api_key="none", max_retries=0) as client,
            pytest.raises(InternalServerError, match="did not respond"),
        ):
            client.chat.completions.create(**ASKED)  # type: ignore[call-overload]
        assert httpx.get(f"{proxy.server.url}/v1/files", trust_env=False).status_code == 502
        (call,) = until(tmp_path, 1)
    assert call["error"]["type"] == "provider_failed"


@pytest.mark.parametrize("leaves", ["program", "provider"])
def test_an_answer_without_its_end_is_recorded_as_such(leaves: str, tmp_path: Path) -> None:
    held = threading.Event()
    mode: Any = "closed" if leaves == "provider" else "ok"
    with StubModelServer() as stub, proxied(stub.url, tmp_path) as (proxy, _):
        stub.script(Script(answer="one two", mode=mode, held=None if leaves == "provider" else held))
        url = f"{proxy.server.url}/v1/chat/completions"
        with httpx.Client(trust_env=False) as client:
            with client.stream("POST", url, json={**ASKED, "stream": True}) as response:
                parts = response.iter_raw()
                while b"one" not in next(parts):
                    pass
                if leaves == "provider":
                    with pytest.raises(httpx.TransportError):
                        list(parts)
            (call,) = until(tmp_path, 1)
        held.set()
    kind = {"program": "client_disconnected", "provider": "provider_failed"}[leaves]
    assert call["error"]["type"] == kind
    assert call["output"]["choices"][0]["message"]["content"].startswith("one")


def test_what_is_not_for_the_proxy_is_refused(tmp_path: Path) -> None:
    with proxied(NOWHERE, tmp_path) as (proxy, _), httpx.Client(trust_env=False) as client:
        url = f"{proxy.server.url}/v1/models"
        assert client.get(url, headers={"Host": "attacker.example"}).status_code == 403
        for foreign in ("https://attacker.example", "http://localhost.attacker.example:80", "null"):
            assert client.get(url, headers={"Origin": foreign}).status_code == 403
        for own in ("http://localhost:3000", "app://desk"):
            assert client.get(url, headers={"Origin": own}).status_code == 502
        assert client.get(url, headers={"Upgrade": "websocket", "Connection": "upgrade"}).status_code == 501
    assert recorded(tmp_path) == []


def test_the_variables_of_the_sdks_name_the_providers_unless_they_lead_to_the_proxy() -> None:
    set_to = {"OPENAI_BASE_URL": "http://localhost:8787/v1", "ANTHROPIC_BASE_URL": "https://gateway.example/"}
    found = Providers.of(openai=None, anthropic=None, name=None, own_port=8787, environment=set_to)
    assert (found.openai.url, found.openai.name) == ("https://api.openai.com/v1", "openai")
    assert (found.anthropic.url, found.anthropic.name) == ("https://gateway.example", None)
