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
        "tokens by estimate, 40 tokens recorded",
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


def turns(number: int, first: int = 0) -> list[ActionDraft]:
    """Turns of five steps: a call with its words, a tool call with its result, and the answer of the user."""
    made: list[ActionDraft] = []
    for place in range(first, first + number):
        asked = [{"id": f"c{place}", "function": {"name": "read", "arguments": "{}"}}]
        made += [
            call(id=f"m{place}", output={"content": f"Look {place}.", "tool_calls": asked}),
            ActionDraft(kind="message", role="agent", output=f"Look {place}.", parent=f"m{place}"),
            ActionDraft(
                kind="tool_call", id=f"t{place}", tool="read", call_id=f"c{place}", parent=f"m{place}"
            ),
            ActionDraft(
                kind="tool_result",
                tool="read",
                call_id=f"c{place}",
                output=f"Text {place}",
                parent=f"t{place}",
            ),
            user(f"Go on {place}."),
        ]
    return made


def test_of_a_long_session_only_the_latest_messages_are_read(operator: Client, project: Project) -> None:
    prompt = ActionDraft(kind="message", role="system", output="Be brief.")
    recorded(project, [prompt, *turns(150), call(output="Done.")])
    html = context(operator, 752)
    shown = words(html)
    assert (
        "Only the latest messages were put together, from step 502 on, and only these steps were checked"
        in shown
    )
    assert "Messages the latest 50, about" in shown
    assert "Be brief." in shown
    assert "Go on 149." in shown
    assert "Go on 130." not in shown.partition("Messages the latest")[2]
    assert "1 · system" not in shown


def test_after_a_compaction_the_whole_request_is_read(operator: Client, project: Project) -> None:
    summary = ActionDraft(kind="message", role="user", output="So far.", tags=("compaction",))
    recorded(project, [user("Begin."), *turns(120), summary, *turns(2, 120), call(output="Done.")])
    shown = words(context(operator, 613))
    assert "Only the latest messages" not in shown
    assert "1 · user" in shown
    assert "So far." in shown
    assert "Put together from 11 earlier steps" in shown


def test_the_compaction_of_a_sub_agent_is_not_that_of_the_session(operator: Client, project: Project) -> None:
    agent = ActionDraft(kind="tool_call", id="a", tool="agent", call_id="a")
    summary = ActionDraft(kind="message", role="user", output="So far.", tags=("compaction",), parent="a")
    recorded(project, [user("Begin."), *turns(120), agent, summary, call(output="Done.")])
    shown = words(context(operator, 604))
    assert "Only the latest messages were put together" in shown
    assert "Go on 119." in shown


def test_the_first_tab_reads_the_answer_and_the_last_message(operator: Client, project: Project) -> None:
    asked = [{"role": "user", "content": "Read x."}, {"role": "user", "content": "Quickly."}]
    function = {"name": "read_file", "arguments": '{"path": "x"}'}
    output = {
        "role": "assistant",
        "content": "I read it.",
        "tool_calls": [{"id": "a", "type": "function", "function": function}],
    }
    recorded(project, [call(input={"messages": asked, "tools": [TOOL]}, output=output)])
    shown = words(get(operator, "/sessions/s/?step=1"))
    assert "2 messages, 1 tool: the whole request . The last message: user Quickly. Answer" in shown
    assert "I read it. calls read_file" in shown
    assert "tool_calls[0]" not in shown


def test_what_is_no_known_answer_is_shown_field_by_field(operator: Client, project: Project) -> None:
    recorded(project, [call(input={"texts": ["x"]}, output={"vector": [1, 2]})])
    shown = words(get(operator, "/sessions/s/?step=1"))
    assert "texts[0] x" in shown
    assert "vector[1] 2" in shown
