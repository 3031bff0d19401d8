"""Agents of the Claude Agent SDK are recorded by `timemachine watch` from the transcripts that they write."""

import os
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.client.frameworks.conftest import ROOT, Example
from tests.stub_model_server import Script
from tests.waiting import wait_until
from timemachine.core.payloads.queries import value
from timemachine.llm.pure.requests.neutral import Tool
from timemachine.recording.model_calls.queries import request_of
from timemachine.recording.sessions.models import Action

pytestmark = pytest.mark.frameworks
WEATHER = "mcp__desk__weather"
USAGE = {
    "input_tokens": 21,
    "cache_read_input_tokens": 10,
    "cache_creation_input_tokens": 0,
    "output_tokens": 9,
}


def test_a_transcript_is_recorded_once_although_the_server_goes_away(
    example: Callable[..., Example], tmp_path: Path
) -> None:
    agent = example(
        "claude_agent_sdk",
        Script(tools=((WEATHER, {"city": "Rome"}), (WEATHER, {"city": "Atlantis"})), answer="", usage=USAGE, times=1),
        Script(answer="It is sunny in Rome.", usage=USAGE),
        CLAUDE_CONFIG_DIR=str(tmp_path),
        CLAUDE_CODE_DISABLE_TERMINAL_TITLE="1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
    )  # fmt: skip
    with watched(agent, tmp_path):
        assert agent.run(away_after=2).count("sunny") == 2
        recorded = Action.objects.filter(project=agent.served.project, kind="llm_call")
        wait_until(lambda: recorded.count() == 3)
    assert len(agent.stub.calls()) == 3
    for call in agent.calls():
        assert (call.input_tokens, call.output_tokens, call.cached_tokens) == (31, 9, 10)
        assert call.model == "anthropic:claude-sonnet-4-5"
        frozen = request_of(call)
        assert frozen.absent == ()
        assert [tool.name for tool in frozen.request.tools if isinstance(tool, Tool)] == [WEATHER]
    assert [each[:2] for each in agent.tools()] == [
        (WEATHER, {"city": "Atlantis"}),
        (WEATHER, {"city": "Rome"}),
    ]
    results = [each for each in agent.steps() if each.kind == "tool_result"]
    assert [(value(each.output), each.error_type) for each in results] == [
        ([{"type": "text", "text": "Sunny in Rome"}], None),
        ("There is no such city.", "tool_error"),
    ]
    assert [agent.path(each) for each in results] == [["llm_call", WEATHER]] * 2
    assert agent.audit() == ["reconstructed done"] * 3


@contextmanager
def watched(agent: Example, folder: Path) -> Generator[None]:
    """Run `timemachine watch` for the transcripts of a configuration of Claude Code."""
    transcripts = folder / "projects"
    transcripts.mkdir()
    environment = os.environ | {
        "TIMEMACHINE_URL": agent.served.gate.url,
        "TIMEMACHINE_API_KEY": agent.served.key,
        "TIMEMACHINE_HOME": str(folder / "home"),
    }
    program, options = str(ROOT / ".venv/bin/timemachine"), ["--interval", "0.2"]
    command = [program, "watch", "claude-code", "--from", str(transcripts), *options]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()
