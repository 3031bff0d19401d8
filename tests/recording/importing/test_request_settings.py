"""System prompts and tools that files state once for all requests of a session."""

from typing import Any

import pytest

from tests.recording.importing.agents.samples import COPILOT
from tests.recording.importing.sample_files import document, lines, read
from tests.recording.importing.samples import ATIF
from timemachine.recording.model_calls.pure.conversation import Conversation, RecordedStep, conversations

TOOL = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}
SDK = {
    "kind": "SystemPromptEvent",
    "source": "agent",
    "system_prompt": {"text": "Be brief."},
    "tools": [TOOL],
}
RUN = {"action": "run", "source": "agent", "args": {"command": "ls"}}
STATED: dict[str, tuple[bytes, str | None, list[Any] | None]] = {
    "cline": (
        document({"sessionId": "c1", "system_prompt": "Be brief.", "messages": [{"role": "assistant", "ts": 1, "content": "Hi", "metrics": {}}]}),
        "Be brief.",
        None,
    ),
    "copilot_cli": (lines(*COPILOT), "You are Copilot.", None),
    "openhands": (
        document([{"action": "system", "source": "agent", "args": {"content": "Be brief.", "tools": [TOOL]}}, RUN]),
        "Be brief.",
        [TOOL],
    ),
    "openhands_sdk": (
        lines(SDK, {"kind": "MessageEvent", "source": "agent", "llm_response_id": "r", "llm_message": {"content": []}}),
        "Be brief.",
        [TOOL],
    ),
    "atif": (
        document({**ATIF, "agent": {"name": "a", "version": "1", "tool_definitions": [TOOL]}}),
        "Be brief.",
        [TOOL],
    ),
    "openai_chat": (
        document({"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hi"}], "tools": [TOOL]}),
        None,
        [TOOL],
    ),
}  # fmt: skip


def first_conversation(data: bytes) -> Conversation:
    """The conversation before the first model call of the first session."""
    drafts = read(data).sessions[0].actions
    steps = [
        RecordedStep(
            sequence=number, kind=each.kind, role=each.role, name=each.name, tags=each.tags, input=each.input, output=each.output
        )
        for number, each in enumerate(drafts, start=1)
    ]  # fmt: skip
    return next(conversations(steps, [each.sequence for each in steps if each.kind == "llm_call"]))[1]


@pytest.mark.parametrize("name", STATED)
def test_what_a_file_states_once_is_part_of_each_conversation(name: str) -> None:
    data, prompt, tools = STATED[name]
    found = first_conversation(data)
    prompts = [part for message in found.messages if message.role == "system" for part in message.parts]
    assert [getattr(part, "text", None) for part in prompts] == ([] if prompt is None else [prompt])
    assert found.tools == tools
