"""Frameworks that speak OpenTelemetry lose no span while the server is away, because these wait in the spool."""

from collections.abc import Callable

import pytest

from tests.client.frameworks.conftest import COUNTED, USAGE, Example
from tests.stub_model_server import Script

pytestmark = pytest.mark.frameworks
SCRIPTS = (
    Script(tools=(("weather", {"city": "Rome"}), ("weather", {"city": "Atlantis"})), answer="", usage=USAGE, times=1),
    Script(answer="It is sunny in Rome.", usage=USAGE),
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "counted", "provider", "environment"),
    [
        ("pydantic_ai", COUNTED, "openai:", {}),
        (
            "strands",
            (*COUNTED[:3], None),  # its spans have neither reasoning tokens nor the provider
            "",
            {"OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental,gen_ai_tool_definitions"},
        ),
    ],
)
def test_spans_are_recorded_once_although_the_server_goes_away(
    name: str,
    counted: tuple[int | None, ...],
    provider: str,
    environment: dict[str, str],
    example: Callable[..., Example],
) -> None:
    agent = example(name, *SCRIPTS, **environment)
    assert agent.run(away_after=2).count("sunny") == 2
    assert agent.session().key == "talk-1"
    agent.check_calls(3, counted, provider)
    assert [each[:2] for each in agent.tools()] == [
        ("weather", {"city": "Atlantis"}),
        ("weather", {"city": "Rome"}),
    ]
    assert agent.audit() == ["verified done"] * 3
