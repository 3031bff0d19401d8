"""`proxy`, as a process that records: what agents of both vendors' SDKs did, and what is left after it was killed."""

import hashlib
import signal
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from openai import OpenAI

from tests.cli.terminal import Here
from tests.cli.test_proxy import on_the_server, running
from tests.client.playback.agents import AGENTS, QUESTION, SYSTEM
from tests.stub_answers import Script
from tests.stub_model_server import StubModelServer
from tests.waiting import wait_until
from timemachine.client.playback.server import PlaybackServer
from timemachine.core.payloads.queries import value
from timemachine.llm.pure.requests.neutral import Text
from timemachine.recording.model_calls.queries import request_of
from timemachine.recording.model_calls.results import followed_by
from timemachine.recording.sessions.models import Action, Session

WEATHER = (("weather", {"city": "Rome"}),)


@pytest.fixture
def stub() -> Iterator[StubModelServer]:
    """A provider for OpenAI's and Anthropic's SDK."""
    with StubModelServer() as server:
        yield server


def to(stub: StubModelServer, *words: str) -> list[str]:
    return ["--openai", f"{stub.url}/v1", "--anthropic", stub.url, *words]


def recorded(key: str) -> list[Action]:
    return list(Session.objects.get(key=key).actions.order_by("sequence"))


@pytest.mark.parametrize("agent", ["chat", "messages"])
def test_a_recorded_agent_can_be_replayed_continued_and_played_back(
    agent: str, tm: Here, stub: StubModelServer
) -> None:
    stub.script(Script(answer="Let me look.", tools=WEATHER, times=1))
    stub.script(Script(answer="Sunny."))
    with running(*to(stub, "--record", "rome", "--provider", "openai")) as (process, url):
        answered = AGENTS[agent](url, streamed=True)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "2 calls recorded.\n")
    steps = recorded("rome")
    assert [step.kind for step in steps] == ["llm_call", "tool_call", "tool_result", "llm_call"]
    call, made, result, last = steps
    assert (made.parent_id_given, result.parent_id_given) == (call.client_id, made.client_id)
    assert result.tool == "weather"
    assert (call.metadata or {})["time_to_first_token_ms"] < (call.duration_ms or 0)
    assert last.input_tokens
    for each in (call, last):
        frozen = request_of(each)
        assert (frozen.verdict, frozen.absent) == ("verified", ())
        assert frozen.request.system == (Text(SYSTEM),)
        assert [getattr(tool, "name", None) for tool in frozen.request.tools] == ["weather"]
    (found,) = followed_by(call).answered
    assert (found.call.name, found.called_in, found.sequence) == ("weather", 2, 3)
    with PlaybackServer(on_the_server("rome")) as playback:
        assert AGENTS[agent](playback.url, QUESTION, streamed=True) == answered
        assert not playback.unused


def test_requests_that_continue_a_stored_response_get_its_turns_from_the_record(
    tm: Here, stub: StubModelServer
) -> None:
    stub.script(Script(answer="Let me look.", tools=WEATHER, times=1))
    stub.script(Script(answer="Sunny."))
    with running(*to(stub, "--record", "stored", "--provider", "openai")) as (process, url):
        with OpenAI(base_url=f"{url}/v1", api_key="none") as client:
            asked: Any = {
                "model": "gpt-x",
                "tools": [{"type": "function", "name": "weather", "parameters": {}}],
            }
            first = client.responses.create(**asked, instructions=SYSTEM, input=QUESTION)
            (call,) = [each for each in first.output if each.type == "function_call"]
            result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}
            with client.responses.stream(**asked, previous_response_id=first.id, input=[result]) as stream:
                answer = stream.get_final_response()
            client.responses.create(**asked, previous_response_id=answer.id, input="And tomorrow?")
            client.responses.create(**asked, previous_response_id="resp_of_yesterday", input="And tomorrow?")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert err == "4 calls recorded.\n"
    steps = recorded("stored")
    made, brought, last, unknown = steps[1], steps[2], steps[4], steps[5]
    assert (brought.tool, brought.parent_id_given) == ("weather", made.client_id)
    whole = request_of(last)
    assert [(each.role, each.text) for each in whole.request.messages] == [
        ("user", QUESTION),
        ("assistant", "Let me look."),
        ("tool", ""),
        ("assistant", "Sunny."),
        ("user", "And tomorrow?"),
    ]
    assert (whole.verdict, whole.absent, whole.request.system) == ("reconstructed", (), ())
    (found,) = followed_by(steps[0]).answered
    assert (found.call.name, found.sequence) == ("weather", 3)
    part = request_of(unknown)
    assert (part.verdict, len(part.request.messages)) == ("not_recorded", 1)
    assert part.absent == ("what the provider stored (previous_response_id)",)


def test_calls_and_those_still_running_are_recorded_once_if_the_proxy_is_killed(
    tm: Here, stub: StubModelServer
) -> None:
    stub.script(Script(question="slow", answer="one two three", mode="slow_words", seconds=20))
    body = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
    with running(*to(stub, "--record", "killed")) as (process, url), httpx.Client(trust_env=False) as client:
        for _ in range(5):
            assert client.post(f"{url}/v1/chat/completions", json=body).status_code == 200
        slow = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "slow"}]}
        with client.stream("POST", f"{url}/v1/chat/completions", json=slow) as response:
            wait_until(lambda: client.get(url).json()["running"])
            process.kill()
            with pytest.raises(httpx.TransportError):
                response.read()
    with running(*to(stub, "--record", "killed")) as (process, url):
        assert AGENTS["chat"](url)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert err == "1 call recorded.\n"
    wait_until(lambda: len(recorded("killed")) >= 7)
    steps = recorded("killed")
    assert sorted(step.error_type or "" for step in steps) == [""] * 6 + ["interrupted"]
    (lost,) = [step for step in steps if step.error_type]
    assert (value(lost.input), lost.output, lost.duration_ms) == (slow, None, None)


def test_headers_and_api_keys_choose_the_session_and_no_key_is_stored(
    tm: Here, stub: StubModelServer
) -> None:
    key = "sk-of-a-person-0123456789"
    words = to(stub, "--by-api-key")
    with running(*words) as (process, url), OpenAI(base_url=f"{url}/v1", api_key=key) as client:
        ask = client.chat.completions.with_raw_response.create
        asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}]}
        named = {"Timemachine-Session": "desk-1", "Timemachine-Agent": "desk", "Timemachine-User": "ann"}
        assert ask(**asked, extra_headers=named).headers["timemachine-session"] == "desk-1"  # type: ignore[call-overload]
        by_key = ask(**asked).headers["timemachine-session"]  # type: ignore[call-overload]
        ignored = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN  # below `nohup`
        process.send_signal(signal.SIGINT if ignored else signal.SIGHUP)  # its terminal was closed
        process.communicate(timeout=60)
    assert by_key.endswith(hashlib.sha256(key.encode()).hexdigest()[:12])
    desk = Session.objects.get(key="desk-1")
    assert (desk.agent, desk.user, desk.status) == ("desk", "ann", "recording")
    one_key = Session.objects.get(key=by_key)
    assert (one_key.name, one_key.status) == ("Hi", "ended")
    sent = stub.calls()[0].headers
    assert sent["authorization"] == f"Bearer {key}"
    assert not [name for name in sent if name.startswith("timemachine")]
    stored = tm.run("session", "export", "desk-1").out + tm.run("session", "export", by_key).out
    assert key not in stored


def test_options_that_exclude_each_other_and_wrong_addresses_are_refused(tm: Here) -> None:
    assert tm.run("proxy", "--playback", "a", "--record", "b").code == 2
    assert tm.run("proxy", "--start-over").code == 2
    assert "is not a valid key" in tm.refused("proxy", "--record", "a b")
    assert "not the URL of a provider" in tm.refused("proxy", "--port", "0", "--openai", "nonsense")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    own = f"http://localhost:{port}/v1"
    assert "the proxy itself" in tm.refused("proxy", "--port", port, "--openai", own)
