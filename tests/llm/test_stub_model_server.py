"""The stub model server itself, as a process that outlives a killed worker."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from tests.llm.asking import request_to
from tests.stub_model_server import Script, StubModelServer
from timemachine.llm.calling import complete
from timemachine.llm.pure.catalogue import Connection


@pytest.fixture
def url() -> Iterator[str]:
    """Return the address of a stub in a separate process."""
    program = [sys.executable, "-m", "tests.stub_model_server", "0"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


def http(method: str, url: str, value: Any = None) -> Any:
    data = None if value is None else json.dumps(value).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data=data, method=method)) as answer:
        return json.load(answer)


def test_another_process_can_script_call_and_count_calls(url: str) -> None:
    http("POST", f"{url}/script", {"question": "How long", "answer": "14 days."})
    connection = Connection(protocol="openai", base_url=f"{url}/v1", api_key="key")
    assert complete(request_to(connection)).text == "14 days."
    (call,) = http("GET", f"{url}/calls")
    assert (call["id"], call["model"], call["status"]) == (1, "stub-model", 200)
    assert "How long do refunds take?" in call["prompt"]
    assert call["at"] <= call["answered_at"]
    http("DELETE", f"{url}/calls")
    assert http("GET", f"{url}/calls") == []


def test_it_lists_its_model(url: str) -> None:
    assert [model["id"] for model in http("GET", f"{url}/v1/models")["data"]] == ["stub-model"]


def test_a_call_whose_caller_disconnected_stays_on_record() -> None:
    with StubModelServer() as stub:
        stub.script(Script(mode="slow", seconds=3.0))
        with pytest.raises(TimeoutError):
            urllib.request.urlopen(f"{stub.url}/v1/messages", data=b'{"model": "m"}', timeout=0.6)
        stub.wait_for_calls(1)
        assert [(call.id, call.model, call.answered_at) for call in stub.calls()] == [(1, "m", None)]


def test_the_longest_matching_question_wins_and_counted_scripts_come_first_in_order() -> None:
    with StubModelServer() as stub:
        for script in (
            Script(answer="any"),
            Script(question="refunds", answer="about refunds"),
            Script(question="refunds", answer="first", times=1),
            Script(question="refunds", answer="second", times=1),
            Script(question="refunds", answer="for another", model="other"),
        ):
            stub.script(script)
        connection = Connection(protocol="anthropic", base_url=stub.url, api_key="key")
        answers = [complete(request_to(connection)).text for _ in range(3)]
        assert answers == ["first", "second", "about refunds"]
