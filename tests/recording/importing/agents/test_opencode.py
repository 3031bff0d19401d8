"""Sessions of OpenCode."""

from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest

from tests.recording.importing.agents.samples import MS, OPENCODE
from tests.recording.importing.sample_files import document, read
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.pure.report import SessionDraft
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft


def session_of(*messages: dict[str, Any]) -> SessionDraft:
    (session,) = read(document({"info": {"id": "ses_2"}, "messages": list(messages)})).sessions
    return session


def answer(info: dict[str, Any], *parts: dict[str, Any]) -> tuple[ActionDraft, ...]:
    return session_of(
        {"info": {"id": "m", "role": "assistant", "modelID": "x", **info}, "parts": list(parts)}
    ).actions[1:]


def tokens_of(info: dict[str, Any], *parts: dict[str, Any]) -> tuple[int | None, ...]:
    usage = answer(info, *parts)[0].usage
    assert usage is not None
    return usage.input_tokens, usage.output_tokens, usage.total_tokens, usage.reasoning_tokens


def test_an_export_has_messages_calls_and_what_they_cost() -> None:
    (session,) = read(document(OPENCODE)).sessions
    assert (session.key, session.name, session.forked_from) == ("ses_2", "List files", "ses_1")
    _, user, injected, file, call, thinking, asked, answered, said = session.actions
    assert (user.output, injected.tags, file.output["mime"]) == ("List the files", ("meta",), "image/png")
    assert (call.model, float(call.cost_usd or 0), call.agent, call.duration_ms) == (
        "anthropic:claude-x",
        0.25,
        "build",
        None,
    )
    assert call.usage is not None
    assert (call.usage.input_tokens, call.usage.output_tokens, call.usage.cache_write_tokens) == (120, 15, 10)
    assert (thinking.output, said.output) == ("Look.", "a.py")
    assert (asked.input, answered.output, answered.parent, answered.duration_ms) == (
        {"command": "ls"},
        "a.py",
        asked.id,
        250,
    )


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        ({"input": 10, "output": 8, "reasoning": 5}, (10, 8, None, 5)),
        ({"input": 10, "output": 3, "reasoning": 5}, (10, 8, None, 5)),
        ({"total": 18, "input": 10, "output": 8, "reasoning": 5}, (10, 8, 18, 5)),
        ({"total": 23, "input": 10, "output": 8, "reasoning": 5}, (10, 13, 23, 5)),
        ({"output": 8, "reasoning": 0}, (None, 8, None, 0)),
    ],
)
def test_reasoning_is_part_of_the_output(tokens: dict[str, Any], expected: tuple[int | None, ...]) -> None:
    assert tokens_of({"tokens": tokens}) == expected


def test_the_tokens_of_several_requests_in_one_message_are_added() -> None:
    steps = [{"type": "step-finish", "tokens": {"input": 10, "output": count}} for count in (1, 2)]
    assert tokens_of({"tokens": {"input": 10, "output": 2}}, *steps) == (20, 3, None, None)
    assert tokens_of({"tokens": {"input": 10, "output": 2}}, steps[0]) == (10, 2, None, None)


def test_an_answer_without_tools_has_a_duration_and_its_error() -> None:
    (call,) = answer(
        {
            "time": {"created": MS, "completed": MS + 500},
            "cost": 0,
            "error": {"name": "MessageAbortedError", "data": {"message": "Stopped"}},
        }
    )
    assert (call.duration_ms, call.cost_usd, call.usage) == (500, Decimal(0), None)
    assert (call.error_type, call.error_message) == ("MessageAbortedError", "Stopped")


def test_failed_and_running_tools_and_other_parts() -> None:
    _, failed, result, running, retry, other = answer(
        {},
        {
            "type": "tool",
            "callID": "k1",
            "tool": "bash",
            "state": {"status": "error", "input": {}, "error": "denied"},
        },
        {"type": "tool", "callID": "k2", "tool": "bash", "state": {"status": "running", "input": {}}},
        {
            "type": "retry",
            "error": {"name": "APIError", "data": {"message": "Overloaded"}},
            "time": {"created": MS},
        },
        {"type": "compaction", "auto": True},
    )
    assert (result.parent, result.error_type, result.error_message) == (failed.id, "tool_error", "denied")
    assert running.kind == "tool_call"
    assert (retry.kind, retry.name, retry.error_type, retry.error_message) == (
        "event",
        "retry",
        "APIError",
        "Overloaded",
    )
    assert (other.name, other.error_type) == ("compaction", None)


def test_a_message_that_is_not_an_object_is_skipped() -> None:
    found = read(document({**OPENCODE, "messages": [*OPENCODE["messages"], 7]}))
    assert [each.reason for each in found.report.skipped] == ["It is not an object, so it is not a message."]


def test_a_file_without_messages_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no `messages`"):
        read(document({"info": {}, "messages": []}), "opencode")


def turn(place: int, prefix: str) -> list[dict[str, Any]]:
    """A prompt and its answer, which cost $0.01, with ids that begin with the prefix."""
    at = MS + 10_000 * place
    call = {
        "type": "tool",
        "callID": f"c{place}",
        "tool": "bash",
        "state": {"status": "completed", "output": "a.py"},
    }
    about = {
        "modelID": "claude-sonnet-4-5",
        "providerID": "anthropic",
        "cost": 0.01,
        "tokens": {"input": 10, "output": 5},
    }
    return [
        {"info": {"id": f"{prefix}u{place}", "role": "user", "time": {"created": at}}, "parts": [{"type": "text", "text": f"Step {place}"}]},
        {"info": {"id": f"{prefix}a{place}", "role": "assistant", "time": {"created": at + 900}, **about}, "parts": [call, {"type": "text", "text": "Done."}]},
    ]  # fmt: skip


def session(name: str, *places: int) -> bytes:
    return document(
        {"info": {"id": name}, "messages": [each for place in places for each in turn(place, name)]}
    )


@pytest.mark.django_db
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_messages_of_a_fork_count_once(project: Project, order: tuple[int, ...]) -> None:
    files = [session("ses_1", 1, 2), session("ses_2", 1, 2, 3), session("ses_3", 1, 4)]
    for place in order:
        import_file(project, files[place], by="test")
    own = Action.objects.filter(copied_from__isnull=True)
    assert sum(each.cost_usd or 0 for each in own) == Decimal("0.04")
    assert own.filter(kind="message").count() == 8
    assert own.filter(kind="tool_result").count() == 4
    parents = {each.key: each.parent and each.parent.key for each in Session.objects.select_related("parent")}
    assert (parents["ses_1"], parents["ses_2"]) == (None, "ses_1")
    assert parents["ses_3"] in {"ses_1", "ses_2"}


@pytest.mark.django_db
def test_a_sub_agent_is_a_branch_without_a_common_step(project: Project) -> None:
    sub = document({"info": {"id": "ses_2", "parentID": "ses_1"}, "messages": turn(2, "x")})
    for each in (sub, session("ses_1", 1)):
        import_file(project, each, by="test")
    found = Session.objects.get(key="ses_2")
    assert found.parent is not None
    assert (found.parent.key, found.parent_sequence) == ("ses_1", None)
