"""Turns that the user went back behind are marked."""

from typing import Any

import pytest

from tests.recording.importing.claude_code.lines import (
    CALL,
    actions_of,
    answer,
    line,
    result,
    session_of,
    text,
    user,
)


def said(words: Any, uuid: str, parent: str | None, **fields: Any) -> dict[str, Any]:
    return user(words, uuid, parentUuid=parent, **fields)


def answered(uuid: str, parent: str | None, *content: Any, message: str | None = None) -> dict[str, Any]:
    blocks = content or (text(f"Answer {uuid}"),)
    return answer(*blocks, uuid=uuid, message={"id": message or f"m-{uuid}"}, parentUuid=parent)


def rewound(*records: dict[str, Any]) -> list[str | None]:
    return [each.id for each in actions_of(*records) if "rewound" in each.tags]


START = [said("Begin", "u1", None), answered("a1", "u1")]


def test_the_turn_that_was_replaced_by_another_one_is_marked() -> None:
    old = [said("Paint it red", "u2", "a1"), answered("a2", "u2")]
    new = [said("Paint it blue", "u3", "a1"), answered("a3", "u3")]

    assert rewound(*START, *old, *new) == ["u2", "a2", "a2/1"]
    assert rewound(*START, *old, new[0]) == ["u2", "a2", "a2/1"]


def test_a_replaced_turn_is_marked_where_other_lines_stand_between() -> None:
    hook = line("system", uuid="s1", parentUuid="a1", content="hook")
    old = [hook, said("Paint it red", "u2", "s1"), answered("a2", "u2"), said("More", "u3", "a2")]

    assert rewound(*START, *old, said("Paint it blue", "u4", "a1")) == ["u2", "a2", "a2/1", "u3"]


def test_a_conversation_that_began_again_leaves_its_first_beginning() -> None:
    again = [said("Begin better", "u2", None), answered("a2", "u2")]

    assert rewound(*START, *again) == ["u1", "a1", "a1/1"]
    assert session_of(*START, *again).name == "Begin better"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("<command-name>/init</command-name>",), "/init"),
        (
            ("<command-name>/review</command-name>\n<command-args>the parser</command-args>",),
            "/review the parser",
        ),
        (("<command-name>/init</command-name>", "Begin"), "Begin"),
        (("<local-command-stdout>done</local-command-stdout>",), "s1"),
    ],
)
def test_a_session_without_a_prompt_is_named_by_its_command(words: tuple[str, ...], name: str) -> None:
    session = session_of(*(user(each, f"u{place}", sessionId="s1") for place, each in enumerate(words)))
    assert session.name == name


def test_going_back_to_the_older_turn_leaves_the_newer() -> None:
    turns = [said("Red", "u2", "a1"), answered("a2", "u2"), said("Blue", "u3", "a1"), answered("a3", "u3")]

    assert rewound(*START, *turns, said("Go on", "u4", "a2")) == ["u3", "a3", "a3/1"]


@pytest.mark.parametrize(
    "records",
    [
        START,
        [*START, said("Go on", "u2", "a1")],
        # two tools at the same time: the answer hangs under one result, the next prompt under the other
        [
            *START,
            answered("b1", "a1", {**CALL, "id": "t1"}, message="m"),
            answered("b2", "b1", {**CALL, "id": "t2"}, message="m"),
            said([result("one", "t1")], "r1", "b1"),
            said([result("two", "t2")], "r2", "b2"),
            answered("a3", "r1"),
            said("Go on", "u3", "a3"),
        ],
        # lines that do not speak
        [*START, line("system", uuid="s1", parentUuid="u1"), said("Go on", "u2", "a1")],
        [*START, said("Inserted", "u2", "a1", isMeta=True), said("Go on", "u3", "a1")],
        [*START, said("<local-command-stdout>", "u2", "a1"), said("Go on", "u3", "a1")],
        [*START, said([], "u2", "a1"), said("Go on", "u3", "a1")],
        [*START, said("Done", "u2", "a1", origin={"kind": "task-notification"}), said("Go on", "u3", "a1")],
        # a compacted context
        [*START, said("Summary", "c1", None, isCompactSummary=True), said("Go on", "u2", "c1")],
        [
            *START,
            line("system", uuid="c1", parentUuid=None, logicalParentUuid="a1"),
            said("Go on", "u2", "c1"),
        ],
        # no tree
        [user("a", "u1"), user("b", "u2")],
        [said("a", "u1", None), said("b", "u2", None), answered("a1", None)],
        [said("a", "u1", "gone"), said("b", "u2", "u1"), answered("a1", "lost")],
        [said("a", "u1", "u2"), said("b", "u2", "u1"), answered("a1", None)],
        [line("system", uuid="s1"), {"type": "summary", "summary": "x", "sessionId": "s1"}],
        [said("Side", "s1", None, isSidechain=True), *START, said("Side", "s2", None, isSidechain=True)],
    ],
)
def test_what_was_not_left_is_not_marked(records: list[dict[str, Any]]) -> None:
    assert rewound(*records) == []


def test_a_repeated_uuid_counts_where_it_first_stands() -> None:
    assert rewound(*START, said("Red", "u2", "a1"), said("Blue", "u3", "a1"), said("Red", "u2", "a1")) == [
        "u2"
    ]
