"""Claude Code writes each request down before its answer: its lines belong to the model call."""

import json

import pytest

from tests.recording.importing.claude_code.lines import (
    CALL,
    TOOL,
    WITH_REQUESTS,
    actions_of,
    answer,
    asked,
    line,
    result,
    shape,
    text,
    user,
)
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import import_file
from timemachine.recording.model_calls.queries import requests_of
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.vocabulary import SETTINGS


def test_the_lines_of_an_answered_request_are_part_of_its_call() -> None:
    actions = actions_of(*WITH_REQUESTS)
    first, second, third = [each for each in actions if each.kind == "llm_call"]
    assert first.source == WITH_REQUESTS[2:5]
    assert second.source == WITH_REQUESTS[9:13]
    assert third.source == WITH_REQUESTS[14:17]
    assert first.parameters == {"max_tokens": 32_000, "betas": ["context-management"]}
    unanswered = [each.source for each in actions if each.name in {"api-request", "api-request-blob"}]
    assert unanswered == [*WITH_REQUESTS[7:9], *WITH_REQUESTS[17:]]


def test_settings_are_stated_before_each_call_that_has_others_than_the_one_before() -> None:
    actions = actions_of(*WITH_REQUESTS)
    told = [(each.id, each.output) for each in actions if each.kind == "llm_call" or SETTINGS in each.tags]
    assert [output.get("tools", "no tools") for _, output in told if "system_prompt" in output] == [
        "no tools", [TOOL], "no tools",
    ]  # fmt: skip
    assert ["call" if "content" in output else "settings" for _, output in told] == ["settings", "call"] * 3
    assert told[-2][0] == "a4/settings"


@pytest.mark.django_db
def test_a_replay_has_the_system_prompt_the_tools_and_the_parameters_of_each_request(
    project: Project,
) -> None:
    import_file(project, "\n".join(map(json.dumps, WITH_REQUESTS)).encode(), by="test")
    session = Session.objects.get(project=project)
    calls = session.actions.filter(kind="llm_call").values_list("sequence", flat=True)
    first, second, third = [found for _, found in requests_of(session, list(calls))]
    assert second.absent == ()
    for each in (first, second, third):
        assert [getattr(part, "text", None) for part in each.request.system] == ["Be brief."]
        assert each.request.parameters.max_tokens == 32_000
        assert each.verdict == "reconstructed"
    assert [getattr(tool, "name", None) for tool in second.request.tools] == ["Read"]


def test_requests_of_a_sub_agent_are_under_the_call_that_started_it() -> None:
    start = {**CALL, "name": "Agent", "input": {"prompt": "Look."}}
    side = {"isSidechain": True, "agentId": "b7"}
    actions = actions_of(
        answer(start),
        user([result("Found.")], uuid="u2", toolUseResult={"agentId": "b7"}),
        user("Look.", uuid="u3", parentUuid=None, **side),
        shape("own", TOOL, agentId="b7"),
        *asked("r1", "own", agentId="b7"),
        answer(text("Found."), uuid="a2", message={"id": "m2"}, requestRef="r1", **side),
        *asked("r2", "own", agentId="b7"),
    )
    assert {each.parent for each in actions if each.agent == "agent-b7"} == {"a1/1", "a2"}
    assert [each.name for each in actions if each.agent == "agent-b7" and each.kind == "event"] == [
        "api-request-shape", "api-request-blob", "api-request",
    ]  # fmt: skip


def test_an_answer_whose_request_is_unknown_is_recorded_without_it() -> None:
    other = actions_of(*asked("r1", "s"), answer(text("Yes."), requestRef="r2"))
    assert [each.kind for each in other] == ["event", "event", "llm_call", "message"]
    without_message = actions_of(*asked("r1", "s"), line("assistant", requestRef="r1"))
    assert [each.kind for each in without_message] == ["event"] * 3
    empty = actions_of(line("api-request-shape", shape=None), *asked("r1", "s"), answer(requestRef="r1"))
    assert [each.kind for each in empty] == ["event", "llm_call"]
