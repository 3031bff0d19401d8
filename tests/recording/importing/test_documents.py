"""SWE-agent, tau-bench, Who&When and chats: how their records are imported."""

import copy
from typing import Any

import pytest

from tests.recording.importing.sample_files import document, lines
from tests.recording.importing.transcript_samples import CHAT, SWE_AGENT, TAU_BENCH, WHO_AND_WHEN
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.sessions.pure.draft import Usage


def read(name: str, value: Any) -> ParsedFile:
    return FORMATS[name].read(document(value))


def session(name: str, value: Any) -> SessionDraft:
    (found,) = read(name, value).sessions
    return found


def kinds(found: SessionDraft) -> list[tuple[str, str | None, str | None]]:
    return [(each.kind, each.role, each.tool) for each in found.actions]


def test_a_step_of_swe_agent_is_a_model_call_with_its_command_and_a_result() -> None:
    result = read("swe_agent", SWE_AGENT)
    (found,) = result.sessions
    assert kinds(found) == [
        ("message", "system", None),
        ("message", "user", None),
        ("message", "user", None),
        ("llm_call", "agent", None),
        ("message", "agent", None),
        ("tool_call", "agent", "bash"),
        ("tool_result", "tool", "bash"),
        ("llm_call", "agent", None),
        ("message", "agent", None),
        ("tool_call", "agent", "submit"),
        ("tool_result", "tool", "submit"),
        ("event", "system", None),
    ]
    turn, thought, call, returned = found.actions[3:7]
    assert (turn.model, turn.usage, turn.cost_usd) == (None, None, None)
    assert (thought.parent, call.parent) == (turn.id, turn.id)
    assert (thought.output, call.input, call.call_id) == ("Look.", "ls -F\n", "k1")
    assert (returned.parent, returned.duration_ms, returned.output) == (call.id, 250, "a.py")
    assert found.actions[1].tags == ("meta", "demo")
    end = found.actions[-1]
    assert (end.usage, float(end.cost_usd or 0)) == (Usage(input_tokens=1000, output_tokens=50), 1.25)
    assert found.name == "The parser fails"
    assert result.report.notes == [
        "2 messages of the history repeated a step. Each is stored in the source of that step.",
    ]


def test_a_step_of_swe_agent_has_the_messages_that_it_records() -> None:
    run: Any = copy.deepcopy(SWE_AGENT)
    run["trajectory"][0]["query"] = CHAT[:2]
    turn, _, call, returned = session("swe_agent", run).actions[3:7]
    assert (turn.input, call.tags) == ({"messages": CHAT[:2]}, ())
    assert returned.input == {"sent_to_model": "a.py\n(Open file: n/a)"}
    del run["history"][3]["tool_calls"]
    turn, _, call, _ = session("swe_agent", run).actions[3:7]
    assert (turn.output, call.tags) == ({"content": "Look.\n```\nls -F\n```"}, ("in_text",))


def test_a_failed_swe_agent_run_has_an_error_and_is_named_after_its_instance() -> None:
    run = copy.deepcopy(SWE_AGENT) | {
        "replay_config": '{"problem_statement": {"id": "x__y-1"}, "agent": {"model": {"name": "gpt-x"}}}'
    }
    run["info"] = {"exit_status": "exit_cost"}
    found = session("swe_agent", run)
    assert (found.name, found.metadata["model"], found.actions[-1].error_type) == (
        "x__y-1",
        "gpt-x",
        "exit_cost",
    )


def test_the_history_is_imported_if_the_trajectory_has_no_steps() -> None:
    run = copy.deepcopy(SWE_AGENT) | {"trajectory": [{"action": "other", "observation": "x"}, 7]}
    result = read("swe_agent", run)
    (found,) = result.sessions
    assert [kind for kind, _, _ in kinds(found)].count("message") == 5
    assert [each.reason for each in result.report.skipped] == ["It is not an object, so it is not a step."]
    assert result.report.notes == []
    with pytest.raises(InvalidInput, match="no `trajectory` and no `history`"):
        read("swe_agent", {"trajectory": []})
    with pytest.raises(InvalidInput, match="JSON but not an object"):
        read("swe_agent", [1])


def test_each_run_of_tau_bench_is_a_session() -> None:
    found = read("tau_bench", TAU_BENCH).sessions
    assert [each.name for each in found] == [
        "Task 3, trial 0: Ask who it is.",
        "Task 3, trial 1: Ask who it is.",
    ]
    assert kinds(found[0]) == [
        ("message", "system", None),
        ("message", "user", None),
        ("llm_call", "agent", None),
        ("tool_call", "agent", "find_user"),
        ("tool_result", "tool", "find_user"),
        ("llm_call", "agent", None),
        ("message", "agent", None),
        ("event", "system", None),
    ]
    assert [each.parent for each in found[0].actions[3:5]] == [each.id for each in found[0].actions[2:4]]
    assert found[0].metadata == {
        "task_id": 3, "trial": 0, "reward": 1.0, "user_id": "u7", "user_cost": 0.01, "expected_actions": 1,
    }  # fmt: skip


def test_a_duplicate_tau_bench_run_becomes_two_sessions() -> None:
    one, two = read("tau_bench", [TAU_BENCH[0], TAU_BENCH[0]]).sessions
    assert two.key == f"{one.key}.2"


def test_records_that_are_not_runs_are_skipped() -> None:
    report = read("tau_bench", [{"task_id": 1}, 7, {"traj": [7]}]).report
    assert [each.reason for each in report.skipped] == [
        "It has no `traj` (the messages of a run).",
        "It is not an object.",
        "It is not an object, so it is not a message.",
    ]
    for invalid in ([{"a": 1}], [], 7):
        with pytest.raises(InvalidInput, match=r"Found: (no record|it is JSON)"):
            read("tau_bench", invalid)


def test_the_labelled_mistake_is_tagged() -> None:
    found = session("who_and_when", WHO_AND_WHEN)
    assert [(each.kind, each.role, each.agent, each.significance, each.tags) for each in found.actions] == [
        ("message", "system", "Excel_Expert", None, ()),
        ("message", "agent", "Excel_Expert", "error", ("mistake",)),
        ("message", "tool", "Computer_terminal", None, ()),
        ("message", "user", "human", None, ()),
        ("event", "system", None, None, ()),
    ]
    assert (found.metadata["mistake_step"], found.metadata["is_correct"]) == ("0", False)


@pytest.mark.parametrize("step", ["first", 99, None, True])
def test_a_label_for_a_missing_message_is_reported(step: Any) -> None:
    report = read("who_and_when", WHO_AND_WHEN | {"mistake_step": step, "system_prompt": "You count."}).report
    assert report.notes[0].startswith("The labelled mistake is not a message")


def test_a_failure_without_a_history_is_refused() -> None:
    with pytest.raises(InvalidInput, match="it has no `history`"):
        read("who_and_when", WHO_AND_WHEN | {"history": []})
    report = read("who_and_when", WHO_AND_WHEN | {"history": [7, {"content": "x"}], "mistake_step": 1}).report
    assert (len(report.skipped), report.notes) == (1, [])


def test_each_line_of_a_chat_file_is_a_session() -> None:
    result = FORMATS["openai_chat"].read(
        lines({"messages": CHAT}, {"messages": CHAT[:2], "model": "m"}, {"no": 1})
    )
    one, two = result.sessions
    assert (one.name, len(one.actions), two.metadata) == ("Who is 7?", 7, {"model": "m"})
    assert two.actions[0].output == {"model": "m"}
    assert [each.reason for each in result.report.skipped] == ["It has no `messages`."]
    with pytest.raises(InvalidInput, match="none of its lines has `messages`"):
        FORMATS["openai_chat"].read(lines({"no": 1}))


def test_each_part_of_an_assistant_message_is_imported() -> None:
    chat = [
        {"role": "assistant", "reasoning_content": "Hm", "content": "Hi", "refusal": "No", "name": "bot"},
        {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "7"},
        {"role": "assistant"},
        {"role": "tool", "content": "x", "error": {"message": "It failed."}},
        {"role": "oracle", "content": "?"},
        {"role": "assistant", "tool_calls": ["odd"]},
        7,
    ]
    result = read("openai_chat", {"messages": chat})
    (found,) = result.sessions
    calls = [each for each in found.actions if each.kind == "llm_call"]
    assert [each.output for each in calls] == [
        {"content": "Hi", "refusal": "No", "reasoning_content": "Hm"},
        {"function_call": {"name": "f", "arguments": "{}"}},
        None,
        {"tool_calls": ["odd"]},
    ]
    parts = [each for each in found.actions if each.kind != "llm_call"]
    assert [(each.kind, each.name, each.tool, each.output) for each in parts] == [
        ("message", "thinking", None, "Hm"),
        ("message", "refusal", None, "No"),
        ("message", None, None, "Hi"),
        ("tool_call", None, "f", None),
        ("tool_result", None, "f", "7"),
        ("message", None, None, None),
        ("tool_result", None, None, "x"),
        ("event", "oracle", None, "?"),
        ("tool_call", None, None, None),
    ]
    assert [each.agent for each in parts[:4]] == ["bot", "bot", "bot", None]
    assert (parts[6].error_type, parts[6].error_message) == ("tool_error", "It failed.")
    assert len(result.report.skipped) == 1


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b'{"history": [', "it is truncated or not JSON: .* at line 1, character 14"),
        ("{}".encode("utf-16"), "it is not UTF-8 text: byte 1"),
        (b'{"a": NaN}', "NaN is not JSON"),
    ],
)
def test_an_unreadable_document_is_refused_with_the_location(data: bytes, found: str) -> None:
    with pytest.raises(InvalidInput, match=found):
        FORMATS["who_and_when"].read(data)
