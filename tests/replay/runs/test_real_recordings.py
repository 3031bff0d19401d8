"""Real recordings are replayed with two models: every model call is sent again, with the tools that the recorded answer
called, or the step says why it is not."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from tests.builders import replayed
from tests.replay.continuation.conftest import stubbed
from tests.stub_model_server import StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.queries import value
from timemachine.llm.pure.requests.neutral import ToolCall
from timemachine.llm.pure.requests.recorded_answers import read_answer
from timemachine.recording.importing.commands import import_file
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.pure.options import ReplayOptions

pytestmark = pytest.mark.recordings
MODELS = "openai:gpt-4o", "anthropic:claude-sonnet-4-5"
CALLS = {
    "claude_code/session_a.jsonl": 10,
    "claude_code/session_b.jsonl": 11,
    "codex/rollout_a.jsonl": 35,
    "codex/rollout_b.jsonl": 58,
    "more/05-openhands/resolver-output.jsonl": 26,
    "more/12-openai-agents/langfuse-export-openai-agents-2025-09-30.json": 2,
    "more/14-mini-swe-agent/github_issue.traj.json": 10,
    "more/15-claude-code/1af7fc5e-8455-4414-9ccd-011d40f70b2a.jsonl": 7,
    "more/16-codex/rollout-codex-0.39.0.jsonl": 19,
    "more/17-vercel-ai-claude-otel/langfuse-export-vercel-aisdk-2025-11-17.trace.json": 1,
    "swe_agent/marshmallow-1867.traj": 11,
    "swe_agent/pydicom-1458.traj": 12,
}

CALLS_IN_TEXT = {"more/14-mini-swe-agent/github_issue.traj.json", "swe_agent/pydicom-1458.traj"}


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[StubModelServer]:
    with stubbed(monkeypatch, settings) as server:
        yield server


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("file", CALLS)
def test_every_model_call_is_replayed_or_says_why_not(
    file: str, model: str, project: Project, stub: StubModelServer, recordings: Path
) -> None:
    data = (recordings / file).read_bytes()
    for imported in import_file(project, data, filename=file, by="test").sessions:
        replayed(imported.session, ReplayOptions(audit=True, reason="Would it do the same?", use_model=model))
    steps = ReplayStep.objects.filter(replay__project=project, kind="llm_call")
    counts = Counter(what_became_of(step) for step in steps)
    assert sum(counts.values()) == CALLS[file]
    assert None not in counts, counts
    assert counts["replayed"] == len(stub.calls())
    for step, sent in zip(steps.order_by("id"), stub.calls(), strict=True):
        assert {call.name for call in calls_of(step)} <= set(offered(sent.body)), (file, step.sequence)
        assert (file in CALLS_IN_TEXT) is (step.evidence or {})["request"].get("calls_in_text", False)
        assert not (file in CALLS_IN_TEXT and offered(sent.body)), "no tool was sent with it"


def calls_of(step: ReplayStep) -> Sequence[ToolCall]:
    """Return the calls of tools in the recorded answer."""
    answer = read_answer(value(step.action.output))
    return () if answer is None else answer.calls


def offered(body: dict[str, Any]) -> list[str]:
    """Return the names of the tools in a request to OpenAI or Anthropic."""
    return [
        tool["function"]["name"] if "function" in tool else tool["name"] for tool in body.get("tools", [])
    ]


def what_became_of(step: ReplayStep) -> str | None:
    """Return `replayed` for a step with a new answer and a verdict, else the reason that it gives, None without one."""
    if step.status == "done" and step.verdict and step.output_id:
        return "replayed"
    return step.error_message or (step.evidence or {}).get("not_asked")
