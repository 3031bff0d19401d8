"""The request of a model call on its step's page."""

import pytest
from django.test import Client

from tests.web.timelines import HOSTILE, get, recorded, words
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage

pytestmark = pytest.mark.django_db
TOOL = {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}


def call(**others: object) -> ActionDraft:
    return ActionDraft(kind="llm_call", model="openai:gpt-4o", **others)  # type: ignore[arg-type]


def user(text: str) -> ActionDraft:
    return ActionDraft(kind="message", role="user", output=text)


def context(client: Client, step: int, *, more: bool = False) -> str:
    return get(client, f"/sessions/s/?step={step}&tab=context" + "&more=1" * more)


def test_a_recorded_request_is_shown_as_the_model_saw_it(operator: Client, project: Project) -> None:
    asked = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Read it."},
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": "a",
                    "type": "function",
                    "function": {"name": "read_file", "arguments": '{"path": "x"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "text of x"},
    ]
    recorded(
        project,
        [
            call(
                input=asked,
                parameters={"temperature": 0.5, "tools": [TOOL]},
                output="Done.",
                usage=Usage(input_tokens=40),
            )
        ],
    )
    shown = words(context(operator, 1))
    for phrase in (
        "Request as the model saw it, about",
        "tokens of 40 counted",
        "verified",
        "temperature 0.5",
        "System prompt",
        "Be brief.",
        "Tools 1",
        "1 · user",
        "calls read_file",
        "path",
        "result of a",
        "text of x",
    ):
        assert phrase in shown
    assert "Not recorded" not in shown
    assert "No passages were saved" not in shown


def test_a_request_that_was_put_together_says_from_what_and_what_is_absent(
    operator: Client, project: Project
) -> None:
    recorded(project, [user("How many?"), call(output="Three."), user("Sure?"), call()])
    shown = words(context(operator, 4))
    assert "reconstructed" in shown
    assert "Put together from 3 earlier steps." in shown
    assert "Not recorded: system prompt, tool definitions, parameters." in shown
    assert "Messages 3" in shown


def test_only_the_latest_messages_are_shown_at_first(operator: Client, project: Project) -> None:
    recorded(project, [*(user(f"Line {number}.") for number in range(60)), call()])
    page = context(operator, 61)
    assert "the latest 50 of 60" in words(page)
    assert "Show more messages" in page
    assert "Line 9." not in page
    assert "Line 10." in page
    assert "Line 0." in context(operator, 61, more=True)


def test_only_the_beginnings_of_long_messages_are_shown_at_first(operator: Client, project: Project) -> None:
    recorded(project, [user("x" * 3_000), call()])
    assert "The first 2,000 of 3,000 characters. Show more" in words(context(operator, 2))
    assert "x" * 3_000 in context(operator, 2, more=True)


def test_a_page_never_shows_more_than_500_messages(operator: Client, project: Project) -> None:
    recorded(project, [*(user(f"Line {number}.") for number in range(510)), call()])
    page = context(operator, 511, more=True)
    assert "the latest 500 of 510" in words(page)
    assert "The API returns all messages." in page
    assert "Line 9." not in page


def test_a_call_with_nothing_before_it_says_so(operator: Client, project: Project) -> None:
    recorded(project, [call(output="Three.")])
    assert "no earlier step says what the model was asked" in words(context(operator, 1))


def test_hostile_requests_are_harmless(operator: Client, project: Project) -> None:
    recorded(project, [user(HOSTILE), call(parameters={"tools": [{"type": HOSTILE}], "system": HOSTILE})])
    page = context(operator, 2)
    assert HOSTILE not in page
