"""Prompts typed while Claude Code worked are messages of the user, exactly once."""

from typing import Any

import pytest

from tests.recording.importing.claude_code.lines import actions_of, answer, line, result, text, user

WORKING = answer(text("Working."))
NOTED = answer(text("Noted."), uuid="a2", message={"id": "m2"})
PROMPT = "Also stop at noon."


def queue(operation: str, content: Any = None, **fields: Any) -> dict[str, Any]:
    return line("queue-operation", operation=operation, **({"content": content} if content else {}), **fields)


def attached(prompt: Any = PROMPT, uuid: str = "q1", **fields: Any) -> dict[str, Any]:
    return line("attachment", uuid=uuid, attachment={"type": "queued_command", "prompt": prompt, **fields})


def said(*records: dict[str, Any]) -> list[Any]:
    """What the user said, in order."""
    return [
        each.output
        for each in actions_of(*records)
        if (each.kind, each.role) == ("message", "user") and "meta" not in each.tags
    ]


ENQUEUED = queue("enqueue", PROMPT)


@pytest.mark.parametrize(
    "records",
    [
        [ENQUEUED, WORKING, queue("remove"), attached(), NOTED],
        [ENQUEUED, WORKING, queue("remove", PROMPT, reason="absorbed_mid_turn"), attached(), NOTED],
        [ENQUEUED, WORKING, attached(), queue("remove", PROMPT), NOTED],
        [ENQUEUED, WORKING, attached(), queue("remove"), NOTED],
        [ENQUEUED, WORKING, attached(commandMode="prompt", origin={"kind": "human"}), NOTED],
        [WORKING, attached(), NOTED],
        [ENQUEUED, WORKING, queue("dequeue"), user(PROMPT, "u2"), NOTED],
        [ENQUEUED, WORKING, queue("dequeue"), user([text(PROMPT)], "u2"), NOTED],
        [ENQUEUED, WORKING, queue("dequeue"), user(f"{PROMPT}\n", "u2"), NOTED],
        [ENQUEUED, WORKING, queue("remove"), attached(), user(PROMPT, "u2"), NOTED],
        [ENQUEUED, WORKING, queue("dequeue"), user(PROMPT, "u2"), attached(), NOTED],
        [ENQUEUED, WORKING, queue("remove"), NOTED],
        [ENQUEUED, WORKING, queue("dequeue"), NOTED],
        [ENQUEUED, WORKING, queue("remove", PROMPT, reason="absorbed_mid_turn"), NOTED],
        [queue("enqueue", [text(PROMPT)]), WORKING, queue("remove"), NOTED],
        [ENQUEUED, WORKING, attached([text(PROMPT)]), NOTED],
    ],
)
def test_a_queued_prompt_is_said_once(records: list[dict[str, Any]]) -> None:
    found = said(user("Start."), *records)

    assert [words.strip() for words in found] == ["Start.", PROMPT]


@pytest.mark.parametrize(
    "records",
    [
        [ENQUEUED, WORKING],
        [ENQUEUED, WORKING, queue("popAll"), NOTED],
        [ENQUEUED, WORKING, queue("remove", PROMPT, reason="cancelled"), NOTED],
        [queue("enqueue", "<task-notification>done"), queue("remove"), NOTED],
        [queue("remove"), queue("remove", "unknown"), NOTED],
        [ENQUEUED, queue("remove", "another"), queue("odd"), NOTED],
        [attached("<task-notification>done"), NOTED],
        [attached(commandMode="task-notification"), NOTED],
        [attached(origin={"kind": "peer"}), NOTED],
        [attached(None), attached(""), attached([]), NOTED],
        [line("attachment", uuid="q1", attachment={"type": "skill_listing", "content": PROMPT}), NOTED],
        [{**ENQUEUED, "isSidechain": True}, queue("remove"), NOTED],
    ],
)
def test_what_the_agent_was_not_given_by_a_person_is_no_message(records: list[dict[str, Any]]) -> None:
    assert said(user("Start."), *records) == ["Start."]


def test_the_same_prompt_typed_twice_is_said_twice() -> None:
    taken = [queue("remove"), attached(uuid="q1"), WORKING, queue("remove"), attached(uuid="q2"), NOTED]

    assert said(ENQUEUED, ENQUEUED, *taken) == [PROMPT, PROMPT]
    assert said(ENQUEUED, queue("remove"), attached(), NOTED, user(PROMPT, "u2")) == [PROMPT, PROMPT]
    assert said(user(PROMPT, "u1"), user(PROMPT, "u2")) == [PROMPT, PROMPT]


def test_queued_prompts_are_tagged_and_leave_the_lines_of_the_queue_as_events() -> None:
    picture = {"type": "image", "source": {}}
    found = actions_of(
        queue("enqueue", [text(PROMPT), picture], uuid="e1"),
        queue("remove", uuid="e2"),
        NOTED,
        attached("Now."),
    )

    assert [
        (each.id, each.kind, each.role, each.tags, each.output) for each in found if each.role != "agent"
    ] == [
        ("e1", "event", "system", (), [text(PROMPT), picture]),
        ("e2", "event", "system", (), {"operation": "remove"}),
        ("e2/prompt-1", "message", "user", ("queued",), PROMPT),
        ("e2/prompt-2", "message", "user", ("queued",), picture),
        ("q1", "message", "user", ("queued",), "Now."),
    ]


def test_inserted_text_does_not_answer_the_queue() -> None:
    assert said(ENQUEUED, queue("remove"), user(PROMPT, "u3", isMeta=True), NOTED) == [PROMPT]


def test_a_prompt_that_is_handed_over_with_results_is_said_once() -> None:
    assert said(ENQUEUED, queue("remove"), user([result(PROMPT), text(PROMPT)], "u2"), NOTED) == [PROMPT]
    assert said(ENQUEUED, queue("remove"), user([result(PROMPT)], "u2"), NOTED) == [PROMPT]


def test_a_queued_command_is_said_once() -> None:
    tags = "<command-name>/model</command-name><command-args>opus</command-args>"
    found = actions_of(queue("enqueue", "/model opus"), queue("dequeue"), user(tags, "u2"), NOTED)
    assert [each.output for each in found if each.role == "user"] == [tags]


def test_a_notification_is_not_by_the_user() -> None:
    (found,) = actions_of(user("<task-notification>done</task-notification>"))
    assert (found.kind, found.tags) == ("message", ("meta",))
