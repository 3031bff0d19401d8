"""Codex lines as actions."""

from typing import Any

import pytest

from tests.recording.importing.sample_files import codex_line, lines
from tests.recording.importing.transcript_samples import CODEX_RECORDS, TOKENS
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.importing.pure.report import SessionDraft
from timemachine.recording.sessions.commands import start_session
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage


def session(*records: dict[str, Any]) -> SessionDraft:
    (found,) = FORMATS["codex"].read(lines(*records)).sessions
    return found


def actions(*records: dict[str, Any]) -> tuple[ActionDraft, ...]:
    return session(*records).actions


def item(kind: str, **payload: Any) -> dict[str, Any]:
    return codex_line("response_item", 1, type=kind, **payload)


def message(role: str, text: str) -> dict[str, Any]:
    return item("message", role=role, content=[{"type": "text", "text": text}])


def tokens(**info: Any) -> dict[str, Any]:
    return codex_line("event_msg", 3, type="token_count", info=info)


def test_a_rollout_becomes_calls_with_their_items_under_them() -> None:
    found = actions(*CODEX_RECORDS)
    assert [(each.kind, each.role, each.name or each.tool) for each in found] == [
        ("event", "system", "session_meta"),
        ("message", "user", None),
        ("message", "user", None),
        ("llm_call", "agent", None),
        ("message", "agent", "thinking"),
        ("tool_call", "agent", "shell"),
        ("tool_result", "tool", "shell"),
        ("llm_call", "agent", None),
        ("message", "agent", None),
        ("event", "system", "turn_aborted"),
        ("event", "system", "compacted"),
    ]
    call, thought, called, returned = found[3:7]
    assert (thought.parent, called.parent, returned.parent) == (call.id, call.id, called.id)
    assert call.usage == Usage(
        input_tokens=120, output_tokens=9, total_tokens=129, cached_tokens=100, reasoning_tokens=4
    )
    assert (call.model, call.parameters) == ("openai:gpt-5-codex", {"effort": "high"})
    assert call.source == [CODEX_RECORDS[4], CODEX_RECORDS[6]]
    assert thought.source == [CODEX_RECORDS[7], CODEX_RECORDS[5]]
    assert called.input == {"command": ["ls"]}
    assert (returned.duration_ms, returned.error_type) == (500, None)
    assert found[1].tags == ("meta",)


def test_a_rollout_is_named_after_the_request_and_knows_its_fork_origin() -> None:
    found = session(*CODEX_RECORDS)
    assert (found.key, found.name, found.agent, found.forked_from) == ("c1", "Mend it", "codex", "c0")
    assert found.metadata["cwd"] == "/app"
    request_line = codex_line(
        "event_msg", type="user_message", message="# Tabs\n\n## My request for Codex:\nMend\nit  "
    )
    assert session(request_line).name == "Mend it"
    assert session(codex_line("compacted", message="x")).name.startswith("codex-")


def test_token_counts_belong_to_the_items_before_them() -> None:
    found = actions(
        codex_line("turn_context", model="o3"),
        message("assistant", "one"),
        item("function_call", name="shell", arguments="x", call_id="k"),
        item("function_call_output", call_id="k", output="y"),
        tokens(last_token_usage={"input_tokens": 1}),
        message("assistant", "two"),
        tokens(last_token_usage={"input_tokens": 2}),
        tokens(rate_limits={}),
    )
    calls = [each for each in found if each.kind == "llm_call"]
    assert [(each.usage, each.model) for each in calls] == [
        (Usage(input_tokens=1), "openai:o3"),
        (Usage(input_tokens=2), "openai:o3"),
    ]
    assert (found[-1].kind, found[-1].name) == ("event", "token_count")


def counted(total: int, last: int) -> dict[str, Any]:
    return tokens(total_token_usage={"input_tokens": total}, last_token_usage={"input_tokens": last})


def test_tokens_without_items_are_a_call_of_their_own_and_of_no_other() -> None:
    found = actions(
        codex_line("session_meta", id="x", model_provider="openai"),
        codex_line("turn_context", model="gpt-5"),
        message("assistant", "a"),
        counted(100, 100),
        counted(100, 100),
        counted(300, 200),
        codex_line("compacted", message="short"),
        codex_line("turn_context", model="gpt-6-sol"),
        counted(700, 400),
        message("assistant", "b"),
        counted(710, 10),
    )
    calls = [each for each in found if each.kind == "llm_call"]
    used = [(each.model, each.usage.input_tokens) for each in calls if each.usage]
    assert used == [
        ("openai:gpt-5", 100), ("openai:gpt-5", 200), ("openai:gpt-6-sol", 400), ("openai:gpt-6-sol", 10),
    ]  # fmt: skip
    assert [each.output is None for each in calls] == [False, True, True, False]
    assert calls[1].source == counted(300, 200)


def test_settings_name_the_model_if_no_turn_does() -> None:
    settings = {"model": "gpt-5", "service_tier": "flex"}
    found = actions(
        codex_line("session_meta", id="x", model_provider="openai"),
        codex_line("event_msg", type="thread_settings_applied", thread_settings=settings),
        message("assistant", "a"),
        codex_line("turn_context", model="gpt-5-codex"),
        codex_line("event_msg", type="thread_settings_applied", thread_settings=settings),
        message("assistant", "b"),
    )
    assert [each.model for each in found if each.kind == "llm_call"] == ["openai:gpt-5", "openai:gpt-5-codex"]


def test_a_line_that_belongs_to_no_call_is_an_event() -> None:
    found = actions(codex_line("turn_context", model="x"), tokens(**TOKENS))
    assert [(each.kind, each.name) for each in found] == [("event", "turn_context"), ("event", "token_count")]


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [("azure", "gpt-5", "azure:gpt-5"), (None, "gpt-5", "openai:gpt-5"), (None, "gpt-oss:20b", "gpt-oss:20b"),
     (None, "llama3", "llama3"), (None, None, None)],
)  # fmt: skip
def test_a_model_has_its_provider_if_known(provider: Any, model: Any, expected: Any) -> None:
    meta = codex_line("session_meta", id="c", model_provider=provider)
    found = actions(meta, codex_line("turn_context", model=model), message("assistant", "x"))
    assert [each.model for each in found if each.kind == "llm_call"] == [expected]


@pytest.mark.parametrize(
    ("output", "took", "error"),
    [
        (
            '{"output":"no","metadata":{"exit_code":2,"duration_seconds":1.5}}',
            1500,
            ("exit_code", "exit code 2"),
        ),
        ("Exit code: 1\nWall time: 0.5 seconds\nOutput:\nno", 500, ("exit_code", "exit code 1")),
        (
            "Chunk ID: 0b401a\nWall time: 0.2500 seconds\nProcess exited with code 2\nOutput:\nno",
            250,
            ("exit_code", "exit code 2"),
        ),
        ("Wall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\n", 10_000, (None, None)),
        ("Wall time: 10.0 seconds\nOutput:\n", None, (None, None)),
        ("Exit code: 0\nWall time: 1.2.3 seconds\nOutput:\n", None, (None, None)),
        ({"success": False, "content": "refused"}, None, ("tool_error", "refused")),
        ("plain", None, (None, None)),
        (None, None, (None, None)),
    ],
)
def test_a_result_has_its_duration_and_error(output: Any, took: Any, error: Any) -> None:
    (found,) = actions(item("function_call_output", call_id="k", output=output))
    assert (found.duration_ms, (found.error_type, found.error_message)) == (took, error)


def test_every_item_and_event_becomes_an_action() -> None:
    found = actions(
        item("web_search_call", id="w1", action={"query": "x"}),
        item("message", role="developer", content="Be short."),
        item("message", role="user", content=[{"type": "input_image", "image_url": "data:"}]),
        item("reasoning", summary=[], encrypted_content="gAAA"),
        item("ghost_snapshot", ghost=1),
        codex_line("event_msg", type="user_message", message="unmatched"),
        codex_line("event_msg", type="agent_message", message="unmatched"),
        codex_line("event_msg", type="agent_reasoning", text="unmatched"),
        codex_line("event_msg", type="error", message="The model is overloaded."),
        item("reasoning", content=[{"type": "reasoning_text", "text": "raw"}, {"no": "text"}]),
        codex_line("event_msg", type="agent_reasoning_raw_content", text="raw"),
    )
    assert [(each.kind, each.role, each.tool or each.name) for each in found if each.kind != "llm_call"] == [
        ("tool_call", "agent", "web_search"),
        ("message", "system", None),
        ("message", "user", None),
        ("message", "agent", "thinking"),
        ("event", "system", "ghost_snapshot"),
        ("message", "user", None),
        ("message", "agent", None),
        ("message", "agent", "thinking"),
        ("event", "system", "error"),
        ("message", "agent", "thinking"),
    ]
    assert [each.error_message for each in found if each.error_type] == ["The model is overloaded."]


def test_lines_of_other_kinds_are_skipped_with_a_reason() -> None:
    report = (
        FORMATS["codex"]
        .read(lines(CODEX_RECORDS[0], {"type": "session_meta"}, {"payload": {}}) + b"{half")
        .report
    )
    assert [(each.line, each.reason[:24]) for each in report.skipped] == [
        (2, "It does not have the `ty"),
        (3, "It does not have the `ty"),
        (4, "It is truncated or not J"),
    ]
    with pytest.raises(InvalidInput, match="it is empty"):
        FORMATS["codex"].read(b"")


@pytest.mark.django_db
def test_a_grown_rollout_adds_its_new_actions_and_keeps_its_fork_parent(
    project: Project,
) -> None:
    import_file(project, lines(codex_line("session_meta", id="c0")), by="test")
    complete = lines(*CODEX_RECORDS)
    first = import_file(project, lines(*CODEX_RECORDS[:9]), by="test").sessions[0]
    grown = import_file(project, complete, by="test").sessions[0]
    second = import_file(project, complete, by="test").sessions[0]
    assert (grown.session.id, grown.already_there, grown.actions) == (first.session.id, 6, 11)
    assert second.already_there == second.actions == Action.objects.filter(session=first.session).count()
    assert grown.session.parent is not None
    assert grown.session.parent.key == "c0"
    assert grown.session.parent_sequence is None


@pytest.mark.django_db
def test_a_fork_of_an_unknown_session_has_no_parent(project: Project) -> None:
    done = import_file(project, lines(*CODEX_RECORDS), by="test")
    assert [each.session.parent for each in done.sessions] == [None]
    odd = lines(codex_line("session_meta", id="odd", forked_from_id="not a key " * 30))
    assert import_file(project, odd, by="test").sessions[0].session.parent is None
    done = import_file(project, lines(codex_line("session_meta", id="me", forked_from_id="me")), by="test")
    assert [each.session.parent for each in done.sessions] == [None]


@pytest.mark.django_db
@pytest.mark.parametrize("how", ["imported", "recorded"])
def test_a_fork_imported_before_its_parent_is_linked_later(project: Project, how: str) -> None:
    other = Project.objects.create(name="Other")
    elsewhere = import_file(other, lines(*CODEX_RECORDS), by="test").sessions[0].session
    fork = import_file(project, lines(*CODEX_RECORDS), by="test").sessions[0].session
    if how == "imported":
        import_file(project, lines(codex_line("session_meta", id="c0")), by="test")
    else:
        start_session(project, name="First", key="c0", by="test")
    fork.refresh_from_db()
    elsewhere.refresh_from_db()
    assert fork.parent is not None
    assert (fork.parent.key, fork.parent.project, fork.parent_key) == ("c0", project, None)
    assert elsewhere.parent is None


def test_records_of_responses_are_the_tokens_of_their_items_and_counts_repeat_them() -> None:
    def record(response: str, **usage: int) -> dict[str, Any]:
        return codex_line("token_usage_record", 3, response_id=response, usage=usage)

    found = actions(
        codex_line("turn_context", model="gpt-5"),
        message("assistant", "one"),
        codex_line("world_state", full=True),
        record("r1", input_tokens=7, cache_write_input_tokens=3),
        tokens(last_token_usage={"input_tokens": 7}),
        message("assistant", "two"),
        record("r2", input_tokens=0),
        record("compaction", input_tokens=9),
        tokens(last_token_usage={"input_tokens": 9}),
    )
    calls = [each for each in found if each.kind == "llm_call"]
    assert [(each.model, each.usage) for each in calls] == [
        ("openai:gpt-5", Usage(input_tokens=7, cache_write_tokens=3)),
        ("openai:gpt-5", None),
        ("openai:gpt-5", Usage(input_tokens=9)),
    ]
    assert [each.name for each in found if each.kind == "event"] == [
        "world_state", "token_count", "token_usage_record", "token_count",
    ]  # fmt: skip


def test_what_agents_write_to_each_other_is_a_message() -> None:
    said, sealed, again = actions(
        codex_line("inter_agent_communication", author="/root/helper", recipient="/root", content="Done."),
        codex_line("inter_agent_communication", author="/root", content="", encrypted_content="x"),
        item("agent_message", author="/root/helper", content=[{"type": "input_text", "text": "Done."}]),
    )
    assert (said.kind, said.role, said.agent, said.output) == ("message", "agent", "/root/helper", "Done.")
    assert (sealed.agent, sealed.output["encrypted_content"]) == ("/root", "x")
    assert (again.kind, again.output) == ("message", "Done.")


def test_a_search_for_tools_is_a_call_with_its_result() -> None:
    _, call, result = actions(
        item("tool_search_call", call_id="k", arguments={"query": "calendar"}),
        item("tool_search_output", call_id="k", tools=[{"name": "create"}]),
    )
    assert (call.kind, call.tool, call.input) == ("tool_call", "tool_search", {"query": "calendar"})
    assert (result.kind, result.parent, result.output) == ("tool_result", call.id, [{"name": "create"}])
