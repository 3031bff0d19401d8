"""The request of a model call over HTTP."""

from typing import Any

import pytest

from tests.api.conftest import Program

pytestmark = pytest.mark.django_db
CALL = {"kind": "llm_call", "model": "openai:gpt-4o", "output": "Three."}
ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How many?"}]


def recorded(api: Program, *actions: dict[str, Any], **session: Any) -> str:
    id_ = api.post("/sessions", {"name": "Calls", **session}).json()["id"]
    api.post(f"/sessions/{id_}/actions", {"actions": list(actions)})
    return str(id_)


def request_of(api: Program, session: str, sequence: int, **query: Any) -> Any:
    return api.get(f"/sessions/{session}/actions/{sequence}/request", **query).json()


def test_a_recorded_request_is_returned_in_the_form_of_each_api(api: Program) -> None:
    session = recorded(api, CALL | {"input": ASKED, "parameters": {"temperature": 0.5, "max_tokens": 9}})
    found = request_of(api, session, 1)
    assert (found["context"], found["absent"], found["model"]) == ("verified", [], "openai:gpt-4o")
    assert found["form"] == "openai_chat"
    assert found["body"] == {"messages": ASKED, "temperature": 0.5, "max_completion_tokens": 9}
    anthropic = request_of(api, session, 1, form="anthropic_messages")
    assert anthropic["body"]["system"] == "Be brief."
    assert anthropic["body"]["messages"] == [{"role": "user", "content": "How many?"}]
    responses = request_of(api, session, 1, form="openai_responses")
    assert responses["body"]["max_output_tokens"] == 9
    assert found["sha256"] == anthropic["sha256"] == responses["sha256"]


def test_a_request_is_put_together_from_the_steps_before_and_names_what_is_absent(api: Program) -> None:
    session = recorded(
        api,
        {"kind": "message", "role": "user", "output": "How many?"},
        CALL,
        {"kind": "message", "role": "user", "output": "Sure?"},
        CALL | {"output": "Yes."},
    )
    found = request_of(api, session, 4)
    assert (found["context"], found["steps"]) == ("reconstructed", [1, 2, 3])
    assert found["absent"] == ["system prompt", "tool definitions", "parameters"]
    assert found["body"]["messages"] == [
        {"role": "user", "content": "How many?"},
        {"role": "assistant", "content": "Three."},
        {"role": "user", "content": "Sure?"},
    ]


def test_a_branch_continues_the_conversation_of_its_parent(api: Program) -> None:
    parent = recorded(
        api,
        {"kind": "message", "role": "user", "output": "How many?"},
        CALL,
        {"kind": "message", "role": "user", "output": "Never mind."},
    )
    branch = recorded(
        api,
        {"kind": "message", "role": "user", "output": "Sure?"},
        CALL,
        parent={"session": parent, "sequence": 2},
    )
    found = request_of(api, branch, 2)
    assert [each["content"] for each in found["body"]["messages"]] == ["How many?", "Three.", "Sure?"]
    assert (found["steps"], found["inherited_steps"]) == ([1], 2)


def test_only_a_model_call_has_a_request(api: Program) -> None:
    session = recorded(api, {"kind": "message", "role": "user", "output": "Hi"})
    answer = api.get(f"/sessions/{session}/actions/1/request")
    assert (answer.status_code, answer.json()["code"]) == (422, "not_a_model_call")
    assert api.get(f"/sessions/{session}/actions/2/request").status_code == 404


def test_a_call_with_nothing_before_it_says_that_its_request_was_not_recorded(api: Program) -> None:
    session = recorded(api, CALL)
    assert request_of(api, session, 1)["context"] == "not_recorded"


def test_a_form_that_no_api_has_is_refused(api: Program) -> None:
    session = recorded(api, CALL | {"input": ASKED})
    assert api.get(f"/sessions/{session}/actions/1/request", form="gemini").status_code == 422


def test_what_the_earlier_session_copied_from_this_one_is_not_repeated(api: Program) -> None:
    copies: list[dict[str, Any]] = [
        {
            "kind": "message",
            "role": "user",
            "output": "How many?",
            "copied_from": {"session": "later", "step": 1},
        },
        CALL | {"copied_from": {"session": "later", "step": 2}},
    ]
    earlier = recorded(api, *copies)
    later = recorded(
        api,
        {"kind": "message", "role": "user", "output": "How many?"},
        CALL,
        key="later",
        parent={"session": earlier, "sequence": 2},
    )
    found = request_of(api, later, 2)
    assert [each["content"] for each in found["body"]["messages"]] == ["How many?"]
    assert found["inherited_steps"] == 0


def test_an_agent_states_system_prompt_and_tools_for_the_calls_inside_it(api: Program) -> None:
    tool = {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}
    stated = {"tools": [tool], "system_instructions": [{"type": "text", "content": "Be brief."}]}
    session = recorded(
        api,
        {"kind": "message", "role": "user", "output": "How many?", "parent": "step"},
        CALL | {"parent": "step"},
        CALL | {"parent": "step", "input": [{"role": "user", "content": "How many?"}]},
        {"kind": "event", "id": "step", "parent": "agent"},
        {"kind": "event", "id": "agent", "parameters": stated},
    )
    for sequence, steps in ((2, [1, 5]), (3, [5])):
        found = request_of(api, session, sequence)
        assert found["body"]["messages"] == ASKED
        assert ([each["function"]["name"] for each in found["body"]["tools"]], found["steps"]) == (
            ["read"],
            steps,
        )
