"""What becomes of the bytes of a call: the steps that are recorded."""

import gzip
import json
import sys
import zlib
from typing import Any

import pytest

from timemachine.client.proxy.pure.bodies import MOST_BYTES
from timemachine.client.proxy.pure.endpoints import EMBEDDINGS, Endpoint, endpoint_of, provider_of
from timemachine.client.proxy.pure.exchange import Body, Exchange
from timemachine.client.proxy.pure.headers import Caller, forwarded
from timemachine.client.proxy.pure.steps import steps_of

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

KEY = "sk-a-secret-of-somebody"
CHAT: dict[str, Any] = {
    "model": "gpt-x",
    "temperature": 0,
    "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
}
SAID = {"role": "assistant", "content": "Hello"}
COMPLETION = {
    "model": "gpt-x-2026",
    "choices": [{"index": 0, "message": SAID, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
}


def events(*values: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values)


def steps(
    answered: Any = COMPLETION, asked: Any = CHAT, *, with_tools: bool = True, **facts: Any
) -> list[dict[str, Any]]:
    """Return the steps of a call."""
    return steps_of(exchange_of(answered, asked, **facts), "a", with_tools=with_tools)


def exchange_of(
    answered: Any = COMPLETION,
    asked: Any = CHAT,
    *,
    path: str = "/v1/chat/completions",
    streamed: bool = False,
    cut: int = 7,
    encodings: tuple[str | None, str | None] = (None, None),
    **facts: Any,
) -> Exchange:
    """Return a call, whose response comes in parts of `cut` bytes, one in each second."""
    endpoint = endpoint_of("POST", path)
    assert endpoint
    request, response = Body(encodings[0]), Body(encodings[1])
    request.add(0, asked if isinstance(asked, bytes) else json.dumps(asked).encode())
    data = answered if isinstance(answered, bytes) else json.dumps(answered).encode()
    for second, start in enumerate(range(0, len(data), cut), start=1):
        response.add(second, data[start : start + cut])
    caller = Caller.of([(b"Authorization", b"Bearer " + KEY.encode())])
    usual: dict[str, Any] = {"provider": "openai", "status": 200, "caller": caller}
    kind = "text/event-stream; charset=utf-8" if streamed else "application/json"
    return Exchange(
        endpoint=endpoint,
        started_at=10**18,
        request=request,
        response=response,
        content_type=kind,
        took=1.5,
        **usual | facts,
    )


def test_a_call_has_its_whole_request_and_response_and_what_they_say() -> None:
    (call,) = steps(request_id="req_1")
    assert (call["input"], call["output"], call["error"]) == (CHAT, COMPLETION, None)
    assert (call["model"], call["parameters"]) == ("openai:gpt-x-2026", {"temperature": 0})
    assert call["usage"] == {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12}
    assert (call["duration_ms"], call["metadata"]) == (1500, {"status": 200, "request_id": "req_1"})
    assert steps(provider=None)[0]["model"] == "gpt-x-2026"


def test_a_stream_is_recorded_as_the_response_that_it_adds_up_to() -> None:
    chunk = {"object": "chat.completion.chunk", "model": "gpt-x-2026"}
    stream = events(
        {
            **chunk,
            "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}],
        },
        {**chunk, "choices": [{"index": 0, "delta": {"content": "Hel"}, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {"content": "lo"}, "finish_reason": "stop"}]},
        {**chunk, "choices": [], "usage": COMPLETION["usage"]},
    )
    stream += b"data: [DONE]\n\ndata: 1\n\n"
    (call,) = steps(stream, streamed=True)
    message = {"role": "assistant", "content": "Hello", "refusal": None}
    choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
    assert call["output"] == {**COMPLETION, "object": "chat.completion", "choices": choices}
    assert call["error"] is None
    first = stream.index(b"lo") // 7  # in the part after the role
    assert 1000 < call["metadata"]["time_to_first_token_ms"] < first * 1000
    (begun,) = steps(stream[: stream.index(b'"lo"')], streamed=True)
    assert begun["error"]["type"] == "incomplete_answer"
    assert begun["output"]["choices"][0]["message"]["content"] == "Hel"


def test_a_stream_with_another_media_type_is_one() -> None:
    (call,) = steps(events(COMPLETION | {"choices": [{"index": 0, "delta": SAID, "finish_reason": "stop"}]}))
    assert (call["output"]["choices"][0]["message"]["content"], call["error"]) == ("Hello", None)
    assert call["metadata"]["streamed"] is True


def test_a_message_and_a_response_are_read_from_their_streams() -> None:
    message = {"type": "message", "role": "assistant", "model": "claude-x", "usage": {"input_tokens": 5}}
    stream = events(
        {"type": "message_start", "message": message},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    )
    (call,) = steps(stream, path="/messages", streamed=True, provider="anthropic")
    assert call["output"]["content"] == [{"type": "text", "text": "Hi"}]
    assert call["usage"] == {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    whole = {"object": "response", "output": [], "usage": {"input_tokens": 1, "output_tokens": 2}}
    (call,) = steps(
        events({"type": "response.completed", "response": whole}), path="/responses", streamed=True
    )
    assert call["output"] == whole
    assert call["usage"] == {"input_tokens": 1, "output_tokens": 2}


@pytest.mark.parametrize("path", ["/chat/completions", "/messages", "/responses"])
def test_tools_are_steps_once(path: str) -> None:
    asked, answered = _with_tools(path)
    found = steps(answered, asked, path=path)
    assert [step["kind"] for step in found] == ["tool_result", "llm_call", "tool_call"]
    result, call, made = found
    assert (result["tool"], result["call_id"], result["output"]) == ("weather", "c1", "sunny")
    assert (made["parent"], made["tool"], made["call_id"], made["input"]) == (
        call["id"],
        "weather",
        "c2",
        {"city": "Bari"},
    )
    assert steps(answered, asked, path=path)[0]["id"] == result["id"]
    assert len(steps(answered, asked, path=path, with_tools=False)) == 1
    assert len(steps(answered, asked, path=path, outcome="client_disconnected")) == 2


def _with_tools(path: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a request with an old and a new result, and a response with a call."""
    old: Any
    new: Any
    if path == "/messages":
        old, new = (
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": each, "content": "sunny"},
                    {"type": "text"},
                ],
            }
            for each in ("c0", "c1")
        )
        used = {"type": "tool_use", "id": "c1", "name": "weather", "input": {}}
        body = {"messages": [old, {"role": "assistant", "content": [used]}, new]}
        return body, {"content": [{**used, "id": "c2", "input": {"city": "Bari"}}], "stop_reason": "tool_use"}
    if path == "/responses":
        old, new = (
            {"type": "function_call_output", "call_id": each, "output": "sunny"} for each in ("c0", "c1")
        )
        called = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"}
        made = {**called, "call_id": "c2", "arguments": '{"city": "Bari"}'}
        return {"input": [old, called, new]}, {"object": "response", "output": [made]}
    old, new = ({"role": "tool", "tool_call_id": each, "content": "sunny"} for each in ("c0", "c1"))
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Bari"}'}}
    answered = {"role": "assistant", "content": None, "tool_calls": [{**call, "id": "c2"}]}
    asked = {
        "messages": [old, {"role": "assistant", "tool_calls": [call]}, new, {"role": "user", "content": "?"}]
    }
    return asked, {"choices": [{"message": answered, "finish_reason": "tool_calls"}]}


def test_a_failed_tool_is_a_failed_step() -> None:
    block = {"type": "tool_result", "tool_use_id": "c1", "content": "no", "is_error": True}
    result, _ = steps({"content": []}, {"messages": [{"role": "user", "content": [block]}]}, path="/messages")
    assert (result["error"], result["tool"]) == ({"type": "tool_error"}, None)


def test_embeddings_are_calls_that_no_replay_repeats() -> None:
    answered = {"model": "e", "data": [], "usage": {"prompt_tokens": 4, "total_tokens": 4}}
    (call,) = steps(answered, {"model": "e", "input": "Hi"}, path="/embeddings")
    assert call["parameters"] == {"operation": "embeddings"}
    assert call["usage"] == {"input_tokens": 4, "output_tokens": 0, "total_tokens": 4}
    (call,) = steps({"usage": None}, {"input": "Hi"}, path="/embeddings")
    assert (call["usage"], call["model"]) == (None, None)


@pytest.mark.parametrize(
    ("answered", "error"),
    [
        ({"error": {"type": "rate_limit", "message": "Slow down."}}, ("rate_limit", "Slow down.")),
        ({"error": {"code": "busy"}}, ("busy", '{"code": "busy"}')),
        ({"error": "Slow down."}, ("HTTP 429", "Slow down.")),
        (b"<html>busy", ("HTTP 429", "<html>busy")),
        (b"", ("HTTP 429", "HTTP 429")),
    ],
)
def test_an_error_of_the_provider_is_recorded_with_its_status(answered: Any, error: tuple[str, str]) -> None:
    (call,) = steps(answered, status=429)
    assert (call["error"]["type"], call["error"]["message"]) == error
    assert call["metadata"]["status"] == 429


@pytest.mark.parametrize("answered", [b"<html>Sign in", b'{"choices": [', b""])
def test_a_response_that_is_not_json_is_an_error_with_what_came(answered: bytes) -> None:
    (call,) = steps(answered)
    assert (call["error"]["type"], call["output"]) == ("invalid_answer", answered.decode() or None)


def test_a_call_without_its_end_says_how_it_ended() -> None:
    (call,) = steps(b"", status=None, outcome="provider_failed", why="No route.")
    assert (call["error"], call["output"]) == ({"type": "provider_failed", "message": "No route."}, None)
    (call,) = steps(events({"error": {"message": "Overloaded"}}), streamed=True)
    assert call["error"]["message"] == "Overloaded"
    (call,) = steps(b"", outcome="client_disconnected")
    assert call["error"]["message"].startswith("The program closed")


def test_a_running_call_has_its_request_and_is_interrupted_if_nothing_follows() -> None:
    endpoint = endpoint_of("POST", "/v1/responses")
    assert endpoint
    exchange = Exchange(endpoint=endpoint, provider=None, caller=Caller(), started_at=10**18, status=200)
    exchange.request.add(0, b'{"model": "m", "input": "Hi"}')
    exchange.response.add(1, b"data: the begi")
    (call,) = steps_of(exchange.unanswered(), "a")
    assert (call["error"]["type"], call["duration_ms"], call["output"]) == ("interrupted", None, None)
    assert call["input"] == {"model": "m", "input": "Hi"}


@pytest.mark.parametrize("name", ["gzip", "deflate", "zstd", "X-Gzip"])
def test_compressed_bodies_are_read(name: str) -> None:
    packers: dict[str, Any] = {
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "zstd": zstd.compress,
        "X-Gzip": gzip.compress,
    }
    asked, answered = (packers[name](json.dumps(each).encode()) for each in (CHAT, COMPLETION))
    (call,) = steps(answered + b"", asked, encodings=(name, name))
    assert (call["input"], call["output"]) == (CHAT, COMPLETION)


def test_what_cannot_be_read_is_named_and_not_invented() -> None:
    (call,) = steps(b"this is no gzip", b"?", encodings=("br", "gzip"))
    assert (call["input"], call["output"], call["usage"]) == (None, None, None)
    assert call["metadata"]["not_recorded"] == (
        "The request was not recorded: its content encoding is br. The response was not read: it is not gzip."
    )
    (call,) = steps(asked=b"[")
    assert (call["input"], call["metadata"]["not_recorded"]) == ("[", "The request is not JSON.")
    (call,) = steps(b"\xff\n", streamed=True)
    assert "not read" in call["metadata"]["not_recorded"]
    zeros = zlib.compressobj()
    bomb = zeros.compress(bytes(MOST_BYTES + 1)) + zeros.flush()
    (call,) = steps(bomb, encodings=(None, "deflate"), cut=len(bomb))
    assert "has more than" in call["metadata"]["not_recorded"]
    for streamed in (True, False):
        (call,) = steps(bytes(MOST_BYTES + 1), cut=MOST_BYTES + 1, streamed=streamed)
        assert "33,554,433 bytes" in call["metadata"]["not_recorded"]


def test_api_keys_are_recorded_nowhere() -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": f"My key is {KEY}."}]}
    found = steps({"error": {"message": f"Wrong key {KEY}"}}, asked, status=401)
    found += steps(events({"error": {"message": f"Wrong key {KEY}"}}), asked, streamed=True)
    assert KEY not in json.dumps(found)
    assert "[withheld: secret]" in found[1]["error"]["message"]
    for headers, query in (([(b"X-Goog-Api-Key", KEY.encode())], ""), ([], f"a=%C4%80&key={KEY}")):
        (call,) = steps(
            {"error": {"message": f"Wrong key {KEY}"}}, caller=Caller.of(headers, query), status=400
        )
        assert call["error"]["message"] == "Wrong key [withheld: secret]"


def test_headers_name_the_session_and_are_not_forwarded() -> None:
    headers = [
        (b"Timemachine-Session", b"a"),
        (b"Timemachine-Session-Name", b"The first"),
        (b"Timemachine-Parent", b"b:3"),
        (b"X-Stainless-Retry-Count", b"2"),
        (b"Connection", b"keep-alive, X-Hop"),
        (b"X-Hop", b"1"),
        (b"Accept-Encoding", b"gzip, br;q=0.9"),
        (b"Idempotency-Key", b"stainless-1"),
        (b"x-api-key", KEY.encode()),
    ]
    caller = Caller.of(headers)
    assert (caller.session, caller.name, caller.agent, caller.retry) == ("a", "The first", None, 2)
    assert caller.parent_session == {"session": "b", "sequence": 3}
    assert Caller(parent="b").parent_session == {"session": "b"}
    assert Caller().parent_session is None
    assert caller.secrets == (KEY,)
    assert caller.key_hash is not None
    assert KEY not in repr(caller)
    assert Caller().key_hash is None
    assert dict(forwarded(headers, recorded=True)) == {
        b"X-Stainless-Retry-Count": b"2",
        b"Accept-Encoding": b"gzip",
        b"Idempotency-Key": b"stainless-1",
        b"x-api-key": KEY.encode(),
    }
    assert dict(forwarded(headers))[b"Accept-Encoding"] == b"gzip, br;q=0.9"
    assert forwarded([(b"accept-encoding", b"br")], recorded=True) == [(b"accept-encoding", b"identity")]
    assert steps(caller=Caller(retry=1))[0]["metadata"]["retry"] == 1


def test_addresses_and_hosts_are_known_by_name() -> None:
    found: Endpoint | None = endpoint_of("POST", "/v1/embeddings/")
    assert found is EMBEDDINGS
    assert endpoint_of("GET", "/v1/messages") is endpoint_of("POST", "/v1/messages/count_tokens") is None
    urls = {
        "https://api.groq.com/openai/v1": "groq",
        "https://eu.api.openai.com/v1": "openai",
        "http://localhost:11434/v1": "ollama",
        "http://127.0.0.1:4000": None,
    }
    assert {url: provider_of(url) for url in urls} == urls
