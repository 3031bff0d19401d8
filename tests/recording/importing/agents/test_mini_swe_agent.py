"""Trajectories of mini-swe-agent."""

import copy
from typing import Any

import pytest

from tests.recording.importing.agents.samples import MINI_MESSAGES, MINI_RUN, SECOND
from tests.recording.importing.sample_files import document, read
from tests.recording.importing.totals import totals
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.values import moment_after_1970
from timemachine.recording.sessions.pure.draft import ActionDraft


def run(*messages: dict[str, Any], **info: Any) -> tuple[ActionDraft, ...]:
    stats = {
        "model_stats": {"instance_cost": 0.12, "api_calls": 1},
        "config": {"model": {"model_name": "openai/gpt-x"}},
    }
    (session,) = read(
        document({"info": {**stats, **info}, "messages": [*MINI_MESSAGES[:2], *messages]})
    ).sessions
    return session.actions[2:]


def test_the_only_bash_block_of_an_answer_is_a_tool_call() -> None:
    found = totals(read(document(MINI_MESSAGES)))
    assert {name: found[name] for name in ("from_user", "from_agent", "model_calls", "tool_calls", "tool_results", "unlinked", "cost")} == {
        "from_user": 2, "from_agent": 3, "model_calls": 3, "tool_calls": 2, "tool_results": 2, "unlinked": 0, "cost": None
    }  # fmt: skip


def test_calls_have_their_model_tokens_cost_and_times() -> None:
    (session,) = read(document(MINI_RUN)).sessions
    _, _, call, said, asked, answered, end = session.actions
    assert (call.model, float(call.cost_usd or 0)) == ("anthropic:claude-x", 0.5)
    assert call.usage is not None
    assert (call.usage.input_tokens, call.usage.cached_tokens, call.usage.reasoning_tokens) == (100, 80, 4)
    assert (said.output, asked.tool, asked.input, asked.call_id) == (
        "I look.",
        "bash",
        {"command": "ls"},
        "k1",
    )
    assert (answered.parent, answered.output, answered.started_at) == (
        asked.id,
        "a.py",
        moment_after_1970(SECOND + 1),
    )
    assert (float(end.cost_usd or 0), end.usage, end.error_type) == (0.25, None, None)
    assert session.metadata["api_calls"] == 3


def test_the_cost_of_the_run_is_counted_once() -> None:
    answer = {
        "role": "assistant",
        "content": "Done.",
        "extra": {"response": {"usage": {"prompt_tokens": 10, "completion_tokens": 1}}},
    }
    call, _, end = run(answer, exit_status="LimitsExceeded", submission="")
    assert (call.kind, call.model, call.usage) == ("llm_call", None, None)
    assert end.usage is not None
    assert (float(end.cost_usd or 0), end.usage.input_tokens, end.error_type) == (0.12, 10, "LimitsExceeded")


def test_a_cost_of_zero_is_unknown() -> None:
    answer = {
        "role": "assistant",
        "content": "Done.",
        "extra": {
            "cost": 0.0,
            "response": {
                "usage": {"prompt_tokens": 10, "completion_tokens": 1, "cache_read_input_tokens": 3}
            },
        },
    }
    call, _, end = run(answer, model_stats={"instance_cost": 0.0})
    assert call.usage is not None
    assert (call.model, call.cost_usd, call.usage.cached_tokens, end.cost_usd) == (
        "openai:gpt-x",
        None,
        3,
        None,
    )


def test_answers_of_the_responses_api_are_read() -> None:
    response = {
        "object": "response",
        "output": [
            {"type": "reasoning", "summary": [{"text": "Look."}]},
            {"type": "message", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "k1", "name": "bash", "arguments": '{"command": "ls"}'},
            {"type": "function_call", "call_id": "k2", "name": "bash", "arguments": "pwd"},
        ],
        "usage": {"input_tokens": 10, "output_tokens": 2},
        "extra": {"cost": 0.12},
    }
    outputs = [{"type": "function_call_output", "call_id": name, "output": name} for name in ("k2", "k1")]
    call, thought, said, first, second, *results, _ = run(response, *outputs)
    assert (thought.name, said.output, first.input, second.input) == (
        "thinking",
        "I look.",
        {"command": "ls"},
        {"command": "pwd"},
    )
    assert [(each.parent, each.output) for each in results] == [(second.id, "k2"), (first.id, "k1")]
    assert call.usage is not None


def test_errors_interrupts_and_the_exit() -> None:
    answer = {
        "role": "assistant",
        "content": [{"type": "text", "text": "```bash\nls\n```"}],
        "reasoning_content": "Hm",
    }
    failed = {"role": "user", "content": "", "extra": {"exception_info": "timed out"}}
    interrupt = {"role": "user", "content": "One action!", "extra": {"interrupt_type": "FormatError"}}
    ended = {"role": "exit", "content": "diff", "extra": {"exit_status": "Submitted"}}
    call, thought, _, asked, result, told, last, _ = run(answer, failed, interrupt, ended)
    assert (call.kind, asked.parent, asked.tags) == ("llm_call", call.id, ("in_text",))
    assert (thought.output, asked.input) == ("Hm", {"command": "ls"})
    assert (result.error_type, result.error_message) == ("tool_error", "timed out")
    assert (told.tags, last.kind, last.name) == (("meta",), "event", "exit")


def test_what_the_model_was_sent_of_an_output_is_kept() -> None:
    answer = {"role": "assistant", "content": "```bash\nls\n```"}
    output = {"role": "user", "content": "<output>a.py</output>", "extra": {"raw_output": "a.py"}}
    *_, result, _ = run(answer, output)
    assert (result.output, result.input) == ("a.py", {"sent_to_model": "<output>a.py</output>"})


def test_an_empty_answer_and_odd_outputs_are_kept() -> None:
    value = copy.deepcopy(MINI_RUN)
    value["messages"].append({"role": "assistant", "content": "", "output": [{"type": "web_search"}]})
    (session,) = read(document(value)).sessions
    assert session.actions[-2].output == {"output": [{"type": "web_search"}]}
    only = read(document([*MINI_MESSAGES[:4], {"role": "assistant", "content": ""}])).sessions[0].actions[-1]
    assert (only.kind, only.output) == ("llm_call", None)


def test_a_file_without_messages_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no messages"):
        read(document({"messages": []}), "mini_swe_agent")
