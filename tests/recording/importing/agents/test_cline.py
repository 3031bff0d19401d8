"""Tasks of Cline and Roo Code."""

import copy
import time
from typing import Any

import pytest

from tests.recording.importing.agents.samples import CLINE, CLINE_HISTORY, CLINE_SCREEN, MS
from tests.recording.importing.sample_files import archive, document, read
from tests.recording.importing.totals import totals
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.pure.formats.cline.tags import calls_in
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft


def actions_of(value: Any) -> tuple[ActionDraft, ...]:
    (session,) = read(document(value)).sessions
    return session.actions


def history(*messages: dict[str, Any]) -> tuple[ActionDraft, ...]:
    return actions_of([CLINE_HISTORY[0], *messages])[2:]


def task(messages: Any, shown: Any) -> tuple[ActionDraft, ...]:
    members = {
        "1772359200000/api_conversation_history.json": messages,
        "1772359200000/ui_messages.json": shown,
    }
    (session,) = read(archive({**members, "1772359200000/task_metadata.json": {}})).sessions
    assert session.key == "1772359200000"
    return session.actions


def test_a_session_of_the_sdk_has_calls_with_tokens_and_cost() -> None:
    session, _, call, thinking, said, asked, answered = actions_of(CLINE)
    assert session.output["system_prompt"] == "You are Cline."
    assert (call.kind, call.model, float(call.cost_usd or 0)) == (
        "llm_call",
        "cline:anthropic/claude-x",
        0.25,
    )
    assert call.usage is not None
    assert (call.usage.input_tokens, call.usage.cached_tokens) == (100, 80)
    assert (thinking.name, said.output, asked.tool) == ("thinking", "I read it.", "read_files")
    assert (answered.parent, answered.output) == (
        asked.id,
        [{"query": "a.py", "result": "x = 1", "success": True}],
    )


def test_tagged_calls_are_tool_calls_with_their_results() -> None:
    user, meta, call, said, asked, answered, more = actions_of(CLINE_HISTORY)
    assert (user.output, meta.tags) == ("<task>\nMend it\n</task>", ("meta",))
    assert (call.model, call.usage) == ("anthropic:claude-x", None)
    assert said.output.startswith("I look.")
    assert (asked.tool, asked.input, asked.call_id) == ("read_file", {"path": "a.py"}, None)
    assert (answered.kind, answered.parent, answered.output) == ("tool_result", asked.id, "x = 1")
    assert more.tags == ("meta",)
    (session,) = read(document(CLINE_HISTORY)).sessions
    assert session.name == "Mend it"


def test_a_result_can_follow_in_the_same_text_and_without_a_call() -> None:
    (result,) = history({"role": "user", "content": "[list_files for '.'] Result:\na.py", "ts": MS})
    assert (result.kind, result.parent, result.output) == ("tool_result", None, "a.py")
    (said,) = history({"role": "user", "content": "[something] Result: none", "ts": MS})
    assert said.kind == "message"
    first, second = history(
        {
            "role": "user",
            "content": [{"type": "text", "text": "[condense] Result:"}, {"type": "image"}],
            "ts": MS,
        }
    )
    assert (first.output, second.output) == ([{"type": "image"}], None)


def test_an_unfinished_tag_is_not_a_call() -> None:
    assert list(calls_in("<read_file><path>a")) == []
    assert list(calls_in("<read_file>" * 3 + "<path>a</path><b></read_file>")) == [
        ("read_file", {"path": "a"})
    ]
    assert list(calls_in("<execute_command><command>echo <a> <a></command></execute_command>")) == [
        ("execute_command", {"command": "echo <a> <a>"})
    ]
    assert list(calls_in("<new_task><a><a>x</new_task>")) == [("new_task", {})]


def test_long_texts_full_of_tags_are_read_in_linear_time() -> None:
    text = "<read_file>" + "<path><b>" * 200_000
    began = time.process_time()
    assert list(calls_in(text * 2)) == list(calls_in(text)) == []
    assert list(calls_in(text + "</read_file>")) == [("read_file", {})]
    assert time.process_time() - began < 10


def test_an_archive_of_a_task_gives_each_answer_its_request() -> None:
    actions = task(CLINE_HISTORY, CLINE_SCREEN)
    paid, failed = [action for action in actions if action.kind == "llm_call"]
    assert (float(paid.cost_usd or 0), paid.model) == (0.5, "anthropic:claude-x")
    assert paid.usage is not None
    assert (paid.usage.input_tokens, paid.usage.cache_write_tokens) == (107, 7)
    assert paid.source == [CLINE_HISTORY[1], CLINE_SCREEN[2]]
    assert (failed.error_type, failed.error_message) == ("streaming_failed", "Overloaded")
    assert float(failed.cost_usd or 0) == 0.01
    assert actions[-1].name == "screen"
    assert len(actions[-1].source) == len(CLINE_SCREEN) - 3
    assert (actions[-2].name, float(actions[-2].cost_usd or 0)) == ("subagent_usage", 0.125)


def test_without_times_requests_and_answers_are_paired_if_there_are_as_many() -> None:
    untimed = [{name: value for name, value in each.items() if name != "ts"} for each in CLINE_HISTORY]
    assert [
        float(each.cost_usd or 0) for each in task(untimed, CLINE_SCREEN[2:3]) if each.kind == "llm_call"
    ] == [0.5]
    calls = [each for each in task(untimed, CLINE_SCREEN[1:3]) if each.kind == "llm_call"]
    assert [each.cost_usd and float(each.cost_usd) for each in calls] == [None, 0.01, 0.5]
    assert (
        len([each for each in task(untimed, [{**CLINE_SCREEN[2], "ts": "now"}]) if each.kind == "llm_call"])
        == 1
    )


def test_the_screen_alone_is_a_session() -> None:
    found = read(document(CLINE_SCREEN))
    assert {name: totals(found)[name] for name in ("from_user", "from_agent", "model_calls", "tool_calls", "tool_results", "unlinked", "errors", "cost")} == {
        "from_user": 1, "from_agent": 1, "model_calls": 2, "tool_calls": 2, "tool_results": 1, "unlinked": 0, "errors": 2, "cost": 0.635
    }  # fmt: skip
    tools = {action.tool: action.output for action in found.sessions[0].actions if action.tool}
    assert tools == {"readFile": None, "execute_command": "a.py"}


def test_tokens_of_an_earlier_version_follow_the_request() -> None:
    started = {"ts": MS, "type": "say", "say": "api_req_started", "text": '{"request": "x"}'}
    finished = {
        "ts": MS + 1,
        "type": "say",
        "say": "api_req_finished",
        "text": '{"tokensIn": 7, "tokensOut": 1, "cost": 0.5}',
    }
    (call,) = actions_of([started, finished])
    assert call.usage is not None
    assert (call.usage.input_tokens, call.source) == (7, [started, finished])
    lone, odd = actions_of([finished, {**started, "text": "half {"}])
    assert (lone.kind, odd.kind, odd.usage) == ("event", "llm_call", None)


@pytest.mark.parametrize(
    ("stated", "expected"),
    [("", 110), (', "apiProtocol": "anthropic"', 100), (', "apiProtocol": "x", "cacheWrites": 100', 210)],
)
def test_later_versions_of_roo_code_include_cached_tokens(stated: str, expected: int) -> None:
    text = '{"tokensIn": 100, "tokensOut": 1, "cacheReads": 10' + stated + "}"
    (call,) = actions_of([{"ts": MS, "type": "say", "say": "api_req_started", "text": text}])
    assert call.usage is not None
    assert call.usage.input_tokens == expected


def test_messages_of_the_ai_sdk_are_read() -> None:
    value: dict[str, Any] = {
        "version": 2,
        "messages": [
            {"role": "user", "content": "Read", "ts": MS},
            {"type": "reasoning", "encrypted_content": "x", "summary": [{"type": "summary_text", "text": "Look"}], "ts": MS},
            {"type": "reasoning", "encrypted_content": "x"},
            {"role": "assistant", "ts": MS, "reasoning_content": "Hm", "content": [{"type": "reasoning", "text": "So"},
             {"type": "tool-call", "toolCallId": "k1", "toolName": "ls", "input": {}}, {"type": "file"}, {"type": "text", "text": ""}]},
            {"role": "tool", "ts": MS, "content": [{"type": "tool-result", "toolCallId": "k1", "toolName": "ls", "output": {"type": "text", "value": "a"}}]},
            {"role": "system", "content": "Be brief.", "isSummary": True},
            {"role": "odd", "content": 7},
        ],
    }  # fmt: skip
    actions = actions_of(value)[1:]
    assert [(each.kind, each.role) for each in actions] == [
        ("message", "user"), ("message", "agent"), ("message", "agent"),
        ("llm_call", "agent"), ("message", "agent"), ("message", "agent"),
        ("tool_call", "agent"), ("message", "agent"), ("tool_result", "tool"), ("message", "system"), ("message", "system"),
    ]  # fmt: skip
    assert [each.output for each in (*actions[1:3], *actions[4:6])] == [
        "Look",
        value["messages"][2],
        "Hm",
        "So",
    ]
    assert (actions[8].parent, actions[8].output) == (actions[6].id, "a")
    assert actions[9].tags == ("meta",)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"content": "No", "is_error": True}, ("No", "tool_error", "No")),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, ("a\nb", None, None)),
        (
            {"content": [{"query": "a", "success": False, "error": "gone"}]},
            ([{"query": "a", "success": False, "error": "gone"}], "tool_error", "gone"),
        ),
        ({}, (None, None, None)),
    ],
)
def test_a_result_has_its_error(block: dict[str, Any], expected: Any) -> None:
    (result,) = history(
        {"role": "user", "ts": MS, "content": [{"type": "tool_result", "tool_use_id": "t9", **block}]}
    )
    assert (result.output, result.error_type, result.error_message) == expected


def test_two_tasks_in_an_archive_are_two_sessions() -> None:
    files = {f"{name}/ui_messages.json": CLINE_SCREEN[:1] for name in ("1", "2")}
    assert [session.key for session in read(archive(files)).sessions] == ["1", "2"]


def test_a_file_without_messages_is_refused() -> None:
    values: list[Any] = [[], {"messages": 7}, 7]
    for value in values:
        with pytest.raises(InvalidInput, match="no messages"):
            read(document(value), "cline")


def test_a_grown_task_keeps_its_key_and_the_ids_of_its_steps() -> None:
    grown = [*copy.deepcopy(CLINE_HISTORY), {"role": "assistant", "content": "Done.", "ts": MS + 9000}]
    (before,), (after,) = read(document(CLINE_HISTORY)).sessions, read(document(grown)).sessions
    assert before.key == after.key
    assert [each.id for each in after.actions][: len(before.actions)] == [each.id for each in before.actions]


def sdk_session(name: str, *messages: dict[str, Any]) -> bytes:
    """A session of the SDK."""
    return document({"version": 1, "sessionId": name, "messages": list(messages)})


def answer_of_the_sdk(name: str, ms: int, *content: dict[str, Any]) -> dict[str, Any]:
    metrics = {"inputTokens": 100, "outputTokens": 10, "cost": 0.25}
    return {"id": name, "role": "assistant", "ts": MS + ms, "content": list(content), "metrics": metrics}


@pytest.mark.django_db
@pytest.mark.parametrize("backwards", [False, True])
def test_the_messages_of_a_fork_of_the_sdk_count_once(project: Project, backwards: bool) -> None:
    asked = {"id": "m1", "role": "user", "ts": MS, "content": [{"type": "text", "text": "List."}]}
    called = answer_of_the_sdk("m2", 1, {"type": "tool_use", "id": "t1", "name": "ls", "input": {}})
    returned = {
        "id": "m3",
        "role": "user",
        "ts": MS + 2,
        "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a"}],
    }
    said = answer_of_the_sdk("m4", 3, {"type": "text", "text": "One."})
    more = answer_of_the_sdk("m5", 9_000, {"type": "text", "text": "Two."})
    fork = [asked, called, {**returned, "id": "m3_tool_t1"}, said, more]  # the SDK lengthens ids of results
    files = [sdk_session("first", asked, called, returned, said), sdk_session("second", *fork)]
    for each in reversed(files) if backwards else files:
        import_file(project, each, by="test")

    own = Action.objects.filter(copied_from__isnull=True)
    assert [own.filter(kind=kind).count() for kind in ("llm_call", "tool_call", "tool_result")] == [3, 1, 1]
    parents = {each.key: each.parent and each.parent.key for each in Session.objects.select_related("parent")}
    assert parents == {"first": None, "second": "first"}
