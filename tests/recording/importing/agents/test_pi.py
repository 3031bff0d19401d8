"""Sessions of the Pi coding agent."""

import json
from typing import Any

import pytest

from tests.recording.importing.agents.samples import AT, PI
from tests.recording.importing.sample_files import lines, read
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.pure.values import moment
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft


def message(**given: Any) -> dict[str, Any]:
    return {"type": "message", "timestamp": AT(5), "message": given}


def after_the_head(*records: dict[str, Any]) -> tuple[ActionDraft, ...]:
    (session,) = read(lines(PI[0], *records)).sessions
    return session.actions[1:]


def test_a_session_has_messages_calls_tokens_and_cost() -> None:
    (session,) = read(lines(*PI)).sessions
    assert (session.key, session.name) == ("pi1", "List the files")
    _, user, call, thinking, said, asked, answered = session.actions
    assert (user.output, call.model, float(call.cost_usd or 0)) == (
        "List the files",
        "anthropic:claude-x",
        0.25,
    )
    assert call.usage is not None
    assert (call.usage.input_tokens, call.usage.output_tokens, call.usage.cached_tokens) == (157, 20, 100)
    assert call.usage.cache_write_tokens == 50
    assert (thinking.output, said.output, asked.input) == ("Look.", "I look.", {"command": "ls"})
    assert (answered.parent, answered.output, answered.started_at) == (asked.id, "a.py", moment(AT(4)))


def test_failures_are_errors() -> None:
    call, result, command, output = after_the_head(
        message(
            role="assistant", content=[], model="x", stopReason="aborted", errorMessage="Request was aborted"
        ),
        message(role="toolResult", toolCallId="k9", content=[{"type": "text", "text": "No"}], isError=True),
        message(role="bashExecution", command="ls", output="a", exitCode=2, cancelled=False),
    )
    assert (call.error_type, call.error_message) == ("aborted", "Request was aborted")
    assert (result.error_type, result.error_message) == ("tool_error", "No")
    assert (command.role, command.input, output.parent, output.error_type) == (
        "user",
        {"command": "ls"},
        command.id,
        "exit_code",
    )


def test_other_lines_and_roles_are_kept() -> None:
    call, said, _, part, cancelled, output, fine, ok, custom, injected, named, compaction = after_the_head(
        message(role="assistant", content="Hi"),
        message(role="assistant", content=[{"type": "image"}]),
        message(role="bashExecution", command="ls", cancelled=True),
        message(role="bashExecution", command="ls", output="a", exitCode=0),
        message(role="hookMessage", customType="x"),
        {"type": "custom_message", "content": "Context", "timestamp": AT(6)},
        {"type": "session_info", "name": "Files"},
        {"type": "compaction", "summary": "So far"},
    )
    assert (call.kind, said.parent) == ("llm_call", call.id)
    assert (said.kind, said.output, part.output) == ("message", "Hi", {"type": "image"})
    assert (output.error_type, ok.error_type) == ("cancelled", None)
    assert (custom.kind, custom.name, injected.tags) == ("event", "hookMessage", ("meta",))
    assert (named.output, compaction.output) == ({"name": "Files"}, {"summary": "So far"})
    assert cancelled.tool == fine.tool == "bash"
    (session,) = read(lines(*PI, {"type": "session_info", "name": "Files"})).sessions
    assert session.name == "Files"


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (["/mode", "Port the selector"], "Port the selector"),
        (["/review the selector"], "/review the selector"),
        (["/mode", "/help"], "/mode"),
        ([" "], "pi-1"),
    ],
)
def test_a_bare_command_is_no_name_if_there_is_a_prompt(
    project: Project, texts: list[str], name: str
) -> None:
    head = {"type": "session", "id": "pi-1", "timestamp": AT(0), "cwd": "/"}
    said = [message(role="user", content=[{"type": "text", "text": each}]) for each in texts]
    for number in range(len(said) + 1):  # the file grows
        imported = import_file(project, lines(head, *said[:number]), by="test") if number else None
    assert imported is not None
    assert imported.sessions[0].session.name == name


def test_branches_that_were_left_are_marked() -> None:
    again = {**PI[1], "id": "b1", "message": {**PI[1]["message"], "content": "Again"}}
    tags = {action.id: action.tags for action in after_the_head(*PI[1:], again)}
    assert (tags["a1"], tags["a3"], tags["b1"]) == (("branch",), ("branch",), ())
    loop = {**PI[1], "parentId": "a1"}
    assert [action.tags for action in after_the_head(loop)] == [()]


def test_lines_of_a_forked_session_are_copies() -> None:
    head = {
        **PI[0],
        "id": "pi2",
        "timestamp": AT(4),
        "parentSession": "/x/2026-03-01T10-00-00-000Z_0a1b2c3d-aaaa.jsonl",
    }
    (session,) = read(lines(head, *PI[1:])).sessions
    assert session.forked_from == "0a1b2c3d-aaaa"
    copied = {action.id: action.copied_from for action in session.actions}
    assert copied["a1"] == {"session": "0a1b2c3d-aaaa", "step": "a1"}
    assert copied["a2/3"] == {"session": "0a1b2c3d-aaaa", "step": "a2/3"}
    assert (copied["a3"], copied["pi2"]) == (None, None)


@pytest.mark.django_db
@pytest.mark.parametrize("parent_first", [True, False])
def test_a_fork_branches_off_after_the_last_copied_step(project: Project, parent_first: bool) -> None:
    parent = [{**PI[0], "id": "0a1b2c3d-aaaa"}, *PI[1:3]]
    head = {**PI[0], "id": "pi2", "timestamp": AT(4), "parentSession": "/x/y_0a1b2c3d-aaaa.jsonl"}
    files = [parent, [head, *PI[1:]]]
    for records in files if parent_first else reversed(files):
        import_file(project, lines(*records), by="test")
    found = Session.objects.get(key="pi2")
    assert found.parent is not None
    assert (found.parent.key, found.parent_sequence) == ("0a1b2c3d-aaaa", found.parent.last_sequence)


def test_a_long_session_is_read_in_linear_time() -> None:
    many = [{**PI[1], "id": f"n{place}", "parentId": f"n{place - 1}"} for place in range(20_000)]
    assert (
        len(read(b"".join(json.dumps(each).encode() + b"\n" for each in [PI[0], *many])).sessions[0].actions)
        == 20_001
    )
