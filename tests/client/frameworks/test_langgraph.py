"""Runs of a LangGraph thread are one session with its nodes, tools and checkpoints, also while the server is away."""

import os
import subprocess
from collections.abc import Callable

import pytest

from tests.client.frameworks.conftest import ROOT, USAGE, Example, interpreter
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
    assert graph.session().name == "How is the weather in Rome and Atlantis?"
    assert [graph.path(each) for each in graph.calls()] == [["LangGraph", "desk"]] * 3
    (atlantis, rome) = graph.tools()
    assert rome == ("weather", {"city": "Rome"}, "Sunny in Rome", None)
    assert (atlantis[1], atlantis[3]) == ({"city": "Atlantis"}, "ValueError")
    assert [graph.path(each) for each in graph.steps() if each.tool] == [["LangGraph", "tools"]] * 2
    saved = [value(each.output) for each in graph.steps() if each.kind == "checkpoint"]
    assert [len(each.get("messages", ())) for each in saved] == [0, 1, 2, 4, 5, 5, 6, 7]
    assert graph.audit() == ["verified done"] * 3


_AT_ONCE = """
import asyncio
from types import SimpleNamespace
from timemachine.client.integrations import langchain

class Saver:
    waiting = 0

    async def aput(self, *checkpoint):
        self.waiting += 1
        while self.waiting < 2:  # until both are inside
            await asyncio.sleep(0)
        await asyncio.sleep(0.01 * checkpoint[1]["id"])
        return self.put(*checkpoint)

    def put(self, *checkpoint):
        return checkpoint

async def main():
    await asyncio.gather(*(saver.aput({}, {"id": each}, None, 0) for each in (1, 2)))
    saver.put({}, {"id": 3}, None, 0)

names = []
session = SimpleNamespace(add=lambda step: names.append(step["id"]))
saver = langchain.checkpoints(Saver(), langchain.Recorder(session=session))
asyncio.run(main())
print(*sorted(names))
"""


def test_checkpoints_that_are_saved_at_the_same_time_are_each_recorded_once() -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [interpreter("langgraph"), "-c", _AT_ONCE]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["checkpoint:1", "checkpoint:2", "checkpoint:3"]
