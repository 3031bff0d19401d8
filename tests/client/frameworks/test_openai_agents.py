"""A run of the OpenAI Agents SDK is a session: parallel tools, an error, a handoff and streams, also while the server is away."""

from collections.abc import Callable

import pytest

from tests.client.frameworks.conftest import USAGE, Example
from tests.stub_model_server import Script

pytestmark = pytest.mark.frameworks


def test_a_run_is_recorded_once_although_the_server_goes_away(example: Callable[..., Example]) -> None:
    agents = example(
        "openai_agents",
        Script(tools=(("weather", {"city": "Rome"}), ("weather", {"city": "Atlantis"})), answer="", usage=USAGE, times=1),
        Script(tools=(("transfer_to_writer", {}),), answer="", usage=USAGE, times=1),
        Script(answer="It is sunny in Rome.", usage=USAGE),
    )  # fmt: skip
    assert "sunny" in agents.run(away_after=2)
    agents.check_calls(3)
    assert agents.session().status == "ended"
    assert [(each.agent, agents.path(each)) for each in agents.calls()] == [
        ("Desk", ["Desk"]),
        ("Desk", ["Desk"]),
        ("Writer", ["Writer"]),
    ]
    (atlantis, rome) = agents.tools()
    assert rome == ("weather", {"city": "Rome"}, "Sunny in Rome", None)
    assert atlantis[:2] == ("weather", {"city": "Atlantis"})
    assert atlantis[3]
    assert [each.name for each in agents.steps() if each.kind == "event"] == ["Desk", "handoff", "Writer"]
    assert agents.audit() == ["verified done"] * 3
