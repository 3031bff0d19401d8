"""Files recorded by other people with tools of which `recordings/more` has a single file, against counts made without
this project."""

from pathlib import Path
from typing import Any

import pytest

from tests.recording.importing.sample_files import read
from tests.recording.importing.totals import totals
from timemachine.recording.importing.pure.registry import detect_format

pytestmark = pytest.mark.recordings
FILES: dict[str, tuple[str, dict[str, Any]]] = {
    # Claude Code counts what it read from and wrote to the cache apart from its 93 input tokens
    "15-claude-code/1af7fc5e-8455-4414-9ccd-011d40f70b2a.jsonl": (
        "claude_code",
        {"from_user": 2, "model_calls": 7, "tool_calls": 12, "tool_results": 12, "unlinked": 0,
         "input_tokens": 93 + 103219 + 12698, "output_tokens": 953, "cached_tokens": 103219, "cache_write_tokens": 12698,
         "cost": None, "skipped": 0},
    ),
    # Gemini counts thoughts (2,141) apart from its output (2,152) and bills both as output
    "01-gemini-cli/gemini.jsonl": (
        "gemini_cli",
        {"from_user": 3, "model_calls": 6, "tool_calls": 12, "tool_results": 12, "unlinked": 0, "input_tokens": 202586,
         "output_tokens": 2152 + 2141, "reasoning_tokens": 2141, "cost": None, "skipped": 0},
    ),
    # a voice run with timing only: none of its 973 ticks has text or tool calls
    "06-tau2-bench/experiment/simulations/49b22f0c-4a56-41c5-922f-bc2a56e53a23.json": (
        "tau2_bench",
        {"sessions": 1, "from_user": 0, "from_agent": 0, "tool_calls": 0, "input_tokens": None, "cost": None, "skipped": 0},
    ),
    # the 150 printed costs are $5.84122; 8 calls have none, and are priced when they are recorded
    "07-aider/chat-history-first-part.aider.chat.history.md": (
        "aider",
        {"sessions": 294, "from_user": 434, "model_calls": 158, "input_tokens": 1565938, "output_tokens": 66655,
         "skipped": 0},
    ),
    "16-codex/codex_exec-json.jsonl": (
        "codex_exec",
        {"from_user": 0, "from_agent": 1, "tool_calls": 0, "input_tokens": 12154, "output_tokens": 5, "cost": None},
    ),
    # of its two messages from the user, one is the context that Codex put in
    "16-codex/rollout-codex-0.39.0.jsonl": (
        "codex",
        {"from_user": 2, "from_agent": 9, "tool_calls": 19, "tool_results": 19, "input_tokens": 270530,
         "output_tokens": 12551, "cached_tokens": 136832, "cost": None},
    ),
    # of the 16 user messages 11 have only tool results, and one has a file as its second block
    "03-cline/session.messages.json": (
        "cline",
        {"from_user": 5, "model_calls": 16, "tool_calls": 11, "tool_results": 11, "unlinked": 0, "input_tokens": 630254,
         "output_tokens": 4395, "cost": 2.036023, "skipped": 0},
    ),
    "18-langsmith/langsmith_py_wrap_openai_stream.json": (
        "langsmith",
        {"sessions": 1, "model_calls": 1, "input_tokens": 9, "output_tokens": 9, "cost": None,
         "skipped": 0},
    ),
    # each answer is graded by another call
    "19-inspect-ai/security-guide.json": (
        "inspect",
        {"sessions": 3, "from_user": 3, "model_calls": 6, "tool_calls": 0, "input_tokens": 959, "output_tokens": 1033},
    ),
    "19-inspect-ai/log_read_sample.eval": (
        "inspect",
        {"sessions": 1, "from_user": 1, "model_calls": 1, "tool_calls": 0, "input_tokens": 66, "output_tokens": 3},
    ),
    "11-autogen/who-when-alg-1.json": ("who_and_when", {"sessions": 1, "input_tokens": None, "cost": None, "skipped": 0}),
    "11-autogen/who-when-magentic-1.json": (
        "who_and_when",
        {"sessions": 1, "from_user": 1, "from_agent": 28, "input_tokens": None, "cost": None, "skipped": 0},
    ),
    # 11 of its 13 calls are requests of messages, too; the end states 2,848 tokens written, which the messages add up to
    "04-copilot-cli/events-copilot-1.0.34.jsonl": (
        "copilot_cli",
        {"from_user": 2, "model_calls": 6, "tool_calls": 13, "tool_results": 13, "unlinked": 0, "input_tokens": 186809,
         "output_tokens": 2848, "cost": None, "skipped": 0},
    ),
    "05-openhands/resolver-output.jsonl": (
        "openhands",
        {"sessions": 2, "from_user": 2, "from_agent": 0, "tool_calls": 26, "tool_results": 24, "unlinked": 0,
         "input_tokens": None, "cost": 1.223646, "skipped": 0},
    ),
    # Pi counts tokens of the cache apart from its input (1,049)
    "13-pi/large-session.jsonl": (
        "pi",
        {"from_user": 88, "model_calls": 453, "tool_calls": 391, "tool_results": 373, "unlinked": 0,
         "input_tokens": 1049 + 43229469 + 4296232, "output_tokens": 83156, "cached_tokens": 43229469,
         "cache_write_tokens": 4296232, "cost": 30.330198, "skipped": 0},
    ),
    # of its 11 user messages the first is the task and the others are outputs
    "14-mini-swe-agent/github_issue.traj.json": (
        "mini_swe_agent",
        {"from_user": 1, "from_agent": 10, "model_calls": 10, "tool_calls": 10, "tool_results": 10, "unlinked": 0, "input_tokens": None,
         "cost": None, "skipped": 0},
    ),
    "12-openai-agents/langfuse-export-openai-agents-2025-09-30.json": (
        "langfuse",
        {"model_calls": 2, "tool_calls": 1, "input_tokens": 140, "output_tokens": 44, "cost": 0.000632, "skipped": 0},
    ),
    # The sums of all three observations (76, 128, 0.001375) count one call twice. `ai.generateText` is around
    # `ai.generateText.doGenerate`: both name the response `resp_0971…` and the tool call `call_DgKA…` as their output, and the
    # attributes of both state 62 and 85 tokens. Its 14 and 43 are Langfuse's own count of its shorter texts, because Langfuse
    # takes no usage from a span around a call.
    "17-vercel-ai-claude-otel/langfuse-export-vercel-aisdk-2025-11-17.trace.json": (
        "langfuse",
        {"model_calls": 1, "tool_calls": 1, "input_tokens": 62, "output_tokens": 85, "cost": 0.000927499999, "skipped": 0},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_has_what_was_counted_in_it(recordings: Path, name: str) -> None:
    if not (recordings / "more").is_dir():
        pytest.skip("RECORDINGS_DIR has no folder `more`")
    data = (recordings / "more" / name).read_bytes()
    format_name, expected = FILES[name]
    assert detect_format(data, name) == format_name
    found = totals(read(data))
    assert {each: found[each] for each in expected} == pytest.approx(expected, abs=1e-6)
