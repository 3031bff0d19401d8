import json
from typing import Any

import pytest

from tests.web.payloads.test_images import PNG, base64_of
from timemachine.web.payloads.pure.pieces import (
    Field,
    Fields,
    Message,
    Part,
    Patch,
    Picture,
    Piece,
    Plain,
    Prose,
    Table,
    Terminal,
    Todo,
    Todos,
)
from timemachine.web.payloads.pure.shapes import MOST_LEAVES, Reading, leaves, reading

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64_of(PNG)}}
PICTURE = Picture(number=0, media_type="image/png", shape=(640, 480))
PATCH = "*** Begin Patch\n*** Add File: a.md\n+x\n*** End Patch"


def of(value: Any, reads: str = "plain") -> Reading:
    return reading("application/json", json.dumps(value), reads=reads)


def of_json(text: str, reads: str = "plain", *, cut: bool = False) -> Reading:
    return reading("application/json", text, cut=cut, reads=reads)


def fields(*found: tuple[str, str] | tuple[str, str, bool]) -> list[Piece]:
    return [Fields([Field(path=each[0], pieces=[Plain(each[1])], literal=len(each) == 3) for each in found])]


def test_a_text_is_prose_only_where_a_person_reads_it() -> None:
    assert reading("text/plain", "**a**", reads="prose").pieces == [Prose("**a**")]
    assert reading("text/plain", "**a**").pieces == [Plain("**a**")]


def test_json_is_its_fields_with_every_digit() -> None:
    found = of_json(
        '{"a":1.10,"b":[{"text":"x\\ny"}],"n":null,"e":{},"l":[],"t":true,"big":12345678901234567890}'
    )
    assert found.json
    assert found.pieces == fields(
        ("a", "1.10", True),
        ("b[0].text", "x\ny"),
        ("n", "null", True),
        ("e", "{}", True),
        ("l", "[]", True),
        ("t", "true", True),
        ("big", "12345678901234567890", True),
    )
    assert of_json("42").pieces == fields(("", "42", True))


def test_a_number_and_a_text_that_looks_like_one_are_distinguished() -> None:
    assert of([1, "1"]).pieces == fields(("[0]", "1", True), ("[1]", "1"))


@pytest.mark.parametrize(("count", "kind"), [(MOST_LEAVES, Fields), (MOST_LEAVES + 1, Plain)])
def test_too_many_leaves_are_indented_instead(count: int, kind: type) -> None:
    assert isinstance(of(list(range(count))).pieces[0], kind)


def test_a_print_has_all_fields_by_path_with_every_digit() -> None:
    found = leaves("application/json", '{"a":1.10,"b":[{"x":"y"},[]],"todos":[{"step":"z"}],"n":null}')
    assert found == [("a", "1.10"), ("b[0].x", "y"), ("b[1]", "[]"), ("todos[0].step", "z"), ("n", "null")]
    assert leaves("application/json", '"alone"') == [("", "alone")]
    assert len(leaves("application/json", json.dumps([0] * (MOST_LEAVES + 1))) or []) == MOST_LEAVES + 1
    assert leaves("application/json", "[" * 600 + "]" * 600) in (None, [("[0]" * 599, "[]")])
    assert leaves("application/json", "no json") is leaves("text/plain", "{}") is None


def test_the_beginning_of_json_is_what_it_says_so_far() -> None:
    assert of_json('{"a":["b","unfin', cut=True).pieces == fields(("a[0]", "b"), ("a[1]", "unfin"))
    assert of_json("nojson").pieces == [Plain("nojson")]


@pytest.mark.parametrize(
    ("value", "pieces"),
    [
        ([IMAGE], [PICTURE]),
        ([{"type": "text", "text": "a"}, IMAGE], [Plain("a"), PICTURE]),
        (f"data:image/png;base64,{base64_of(PNG)}", [PICTURE]),
        ({"shot": IMAGE}, [Fields([Field(path="shot", pieces=[PICTURE])])]),
        (
            {"todos": [{"content": "a", "status": "in_progress"}], "note": "x"},
            [Todos([Todo(text="a", state="in_progress")]), *fields(("note", "x"))],
        ),
        ([{"step": "a", "status": "done"}], [Todos([Todo(text="a", state="done")])]),
        ({"todos": ["a", {"status": "done"}]}, fields(("todos[0]", "a"), ("todos[1].status", "done"))),
        ({"todos": [{"status": "done"}]}, fields(("todos[0].status", "done"))),
        ([{"a": "x"}, {"a": "y"}], [Table(columns=["a"], rows=[["x"], ["y"]], more=0)]),
        ({"command": ["ls", "a b"]}, fields(("command", "ls 'a b'"))),
        (
            {"command": ["bash", "-lc", "ls"]},
            [Fields([Field(path="command", pieces=[Plain("bash -lc"), Plain("ls")])])],
        ),
        ({"a": [{"b": "x"}]}, fields(("a[0].b", "x"))),
    ],
)
def test_a_value_is_what_its_shape_says(value: Any, pieces: list[Piece]) -> None:
    assert of(value).pieces == pieces


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        ({"file_path": "a", "old_string": "a", "new_string": "b", "replace_all": True}, [Patch, Fields]),
        ({"a.go": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b"}}, [Patch]),
        ([{"role": "user", "content": "a"}], [Message]),
        ([{"role": "nobody", "content": {"a": 1}}], [Fields]),
        ("\u001b[31mred", [Terminal]),
        (PATCH, [Patch]),
    ],
)
def test_the_kinds_of_pieces_of_a_value(value: Any, kinds: list[type]) -> None:
    assert [type(each) for each in of(value).pieces] == kinds


def test_the_patch_that_a_command_applies_is_a_patch() -> None:
    (found,) = of({"command": ["apply_patch", PATCH]}).pieces
    assert isinstance(found, Fields)
    assert [type(each) for each in found.fields[0].pieces] == [Plain, Patch]


def test_json_in_a_text_is_read_and_csv_is_a_table() -> None:
    assert reading("text/plain", '{"a":"b"}').pieces == fields(("a", "b"))
    assert reading("text/plain", "[not json").pieces == [Plain("[not json")]
    assert reading("text/plain", "[]").pieces == [Plain("[]")]
    assert [type(each) for each in reading("text/plain", "a,b\n1,2\n3,4").pieces] == [Table]
    assert [type(each) for each in reading("text/plain", "a,b\n1,2\n3,4", cut=True).pieces] == [Plain]
    assert reading("text/plain", "data:nothing").pieces == [Plain("data:nothing")]


REQUEST = {
    "messages": [
        {"role": "user", "content": "first"},
        {"role": "assistant", "content": "second"},
    ],
    "tools": [{"name": "t", "description": "", "input_schema": {}}],
}


def test_of_a_whole_request_only_the_last_message_is_shown() -> None:
    found = of(REQUEST, "request")
    assert found.pieces == [Message(role="assistant", pieces=[Prose("second")])]
    assert (found.messages, found.tools) == (2, 1)


def test_of_the_beginning_of_a_request_what_is_known_is_shown() -> None:
    found = of_json(json.dumps(REQUEST)[:104], "request", cut=True)
    assert [type(each) for each in found.pieces] == [Message, Message]
    assert found.messages == 0


def test_an_answer_is_its_text_its_thinking_and_its_calls_by_name() -> None:
    found = of(
        {
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "done"},
                {"type": "text", "text": ""},
                {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "ls"}},
            ]
        },
        "answer",
    )
    assert found.pieces == [
        Part(words="thinking", name=None, pieces=[Prose("hm")]),
        Prose("done"),
        Part(words="calls", name="Bash", pieces=fields(("command", "ls"))),
    ]


def test_a_request_and_an_answer_in_no_known_form_are_fields() -> None:
    assert [type(each) for each in of({"a": 1}, "request").pieces] == [Fields]
    assert [type(each) for each in of({"stop_reason": "stop"}, "answer").pieces] == [Fields]
    assert [type(each) for each in of({"messages": []}, "request").pieces] == [Fields]


def test_every_part_of_a_message_says_what_it_is() -> None:
    found = of(
        [
            {
                "role": "user",
                "content": [
                    IMAGE,
                    {
                        "type": "tool_result",
                        "tool_use_id": "1",
                        "content": [{"type": "text", "text": "r"}, IMAGE],
                    },
                    {"type": "tool_result", "tool_use_id": "2", "is_error": True, "content": "no"},
                    {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
                    {"type": "container_upload", "file_id": "f"},
                ],
            },
            {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x"}]},
        ],
        "prose",
    )
    parts = [piece for message in found.pieces if isinstance(message, Message) for piece in message.pieces]
    assert {each.words for each in parts if isinstance(each, Part)} >= {
        "image",
        "result of",
        "error of",
        "document",
        "thinking",
    }


def test_a_refusal_and_arguments_that_are_no_json_are_shown() -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "run", "arguments": "not {json"}}]
    found = of(
        {
            "choices": [
                {"message": {"role": "assistant", "refusal": "no", "content": None, "tool_calls": calls}}
            ]
        },
        "answer",
    )
    assert [(each.words, each.pieces) for each in found.pieces if isinstance(each, Part)] == [
        ("refuses", [Prose("no")]),
        ("calls", [Plain("not {json")]),
    ]


def test_an_image_that_is_only_in_a_part_of_the_payload_is_described() -> None:
    inner = json.dumps([IMAGE])
    assert [type(each) for each in reading("text/plain", inner).pieces] == [Picture]
    (found,) = of({"nested": inner}).pieces
    assert isinstance(found, Fields)
    assert isinstance(found.fields[0].pieces[0], Plain)
