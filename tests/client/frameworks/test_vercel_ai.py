"""Agents of Vercel's AI SDK are recorded through OpenTelemetry's exporter for Node, which retries while the server is away."""

import shutil
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.client.frameworks.conftest import USAGE, Example
from tests.client.frameworks.product import web_server
from tests.client.gate import Gate
from tests.stub_model_server import Script

pytestmark = [
    pytest.mark.frameworks,
    pytest.mark.skipif(not shutil.which("npm"), reason="Node and npm are missing"),
]


def test_spans_are_recorded_once_although_the_server_goes_away(example: Callable[..., Example]) -> None:
    agent = example(
        "vercel-ai",
        Script(tools=(("weather", {"city": "Rome"}), ("weather", {"city": "Atlantis"})), answer="", usage=USAGE, times=1),
        Script(answer="It is sunny in Rome.", usage=USAGE),
    )  # fmt: skip
    with web_server() as port, Gate(port) as gate:
        gate.plan(["no request", "no answer"])
        recorded = replace(agent, served=replace(agent.served, gate=gate))
        assert recorded.run_with_node().count("sunny") == 2
    assert agent.session().key == "talk-1"
    agent.check_calls(3)
    steps = [agent.path(each) for each in agent.calls()]
    run = ["talk", "invoke_agent gpt-4o-mini"]
    assert steps == [[*run, "step 1"], [*run, "step 2"], [*run, "step 1"]]
    assert agent.tools() == [
        ("weather", {"city": "Atlantis"}, None, "Error"),
        ("weather", {"city": "Rome"}, '"Sunny in Rome"', None),  # as JSON, as the SDK sends it
    ]
    assert [agent.path(each) for each in agent.steps() if each.tool] == [steps[0]] * 2
    assert agent.audit() == ["verified done"] * 3
