"""Runs of a LangGraph thread are one session with its nodes, tools and checkpoints, also while the server is away."""

from collections.abc import Callable

import pytest

from tests.client.frameworks.conftest import USAGE, Example
from tests.stub_model_server import Script
from timemachine.core.payloads.queries import value

pytestmark = pytest.mark.frameworks


def test_a_thread_is_recorded_once_although_the_server_goes_away(example: Callable[..., Example]) -> None:
    graph = example(
        "langgraph",
        Script(tools=(("weather", {"city": "Rome"}), ("weather", {"city": "Atlantis"})), answer="", usage=USAGE, times=1),
        Script(answer="It is sunny in Rome.", usage=USAGE),
    )  # fmt: skip
    assert graph.run(away_after=2).count("sunny") == 2
    graph.check_calls(3)
    assert (graph.session().key, graph.session().status) == ("talk-1", "recording")
    assert [graph.path(each) for each in graph.calls()] == [["Weather", "desk"]] * 3
    (atlantis, rome) = graph.tools()
    assert rome == ("weather", {"city": "Rome"}, "Sunny in Rome", None)
    assert (atlantis[1], atlantis[3]) == ({"city": "Atlantis"}, "ValueError")
    assert [graph.path(each) for each in graph.steps() if each.tool] == [["Weather", "tools"]] * 2
    saved = [value(each.output) for each in graph.steps() if each.kind == "checkpoint"]
    assert [len(each.get("messages", ())) for each in saved] == [0, 1, 2, 4, 5, 5, 6, 7]
    assert graph.audit() == ["verified done"] * 3
