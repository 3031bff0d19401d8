"""Frameworks that speak OpenTelemetry lose no span while the server is away, because these wait in the spool."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from tests.client.frameworks.conftest import COUNTED, USAGE, Example
from tests.stub_model_server import Script

pytestmark = pytest.mark.frameworks
SCRIPTS = (
    Script(tools=(("weather", {"city": "Rome"}), ("weather", {"city": "Atlantis"})), answer="", usage=USAGE, times=1),
    Script(answer="It is sunny in Rome.", usage=USAGE),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Spans:
    """What a framework's spans say: around calls and tools, and about calls."""

    name: str
    calls: list[str]
    tools: list[str]
    counted: tuple[int | None, ...] = COUNTED
    provider: str = "openai:"
    environment: dict[str, str] = field(default_factory=dict)


DESK = "invoke_agent Desk"
FRAMEWORKS = (
    Spans(
        name="autogen",
        calls=["talk", DESK, "Desk.on_messages_stream", "OpenAIChatCompletionClient.create"],
        tools=["talk", DESK, "Desk.on_messages_stream"],
    ),
    Spans(
        name="crewai",
        calls=["Weather.kickoff", "Desk._execute_core"],
        tools=["Weather.kickoff", "Desk._execute_core"],
        environment={"CREWAI_DISABLE_TELEMETRY": "true"},
    ),
    Spans(
        name="llamaindex",
        calls=["FunctionAgent.run", "BaseWorkflowAgent.run_agent_step"],
        tools=["FunctionAgent.run", "BaseWorkflowAgent.call_tool"],
    ),
    Spans(name="pydantic_ai", calls=[DESK], tools=[DESK]),
    Spans(
        name="strands",
        calls=[DESK, "execute_event_loop_cycle"],
        tools=[DESK, "execute_event_loop_cycle"],
        counted=(*COUNTED[:3], None),  # its spans have neither reasoning tokens nor the provider
        provider="",
        environment={
            "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental,gen_ai_tool_definitions",
        },
    ),
)


@pytest.mark.parametrize("spans", FRAMEWORKS, ids=[each.name for each in FRAMEWORKS])
def test_spans_are_recorded_once_although_the_server_goes_away(
    spans: Spans, example: Callable[..., Example]
) -> None:
    agent = example(spans.name, *SCRIPTS, **spans.environment)
    assert agent.run(away_after=2).count("sunny") == 2
    assert agent.session().key == "talk-1"
    agent.check_calls(3, spans.counted, spans.provider)
    (atlantis, rome) = agent.tools()
    assert atlantis[:2] == ("weather", {"city": "Atlantis"})
    assert rome[:2] == ("weather", {"city": "Rome"})
    assert "Sunny in Rome" in str(rome[2])
    assert [agent.path(each) for each in agent.calls()] == [spans.calls] * 3
    around = [agent.path(each) for each in agent.steps() if each.kind == "tool_call"]
    assert [path[: len(spans.tools)] for path in around] == [spans.tools] * 2
    assert agent.audit() == ["verified done"] * 3
