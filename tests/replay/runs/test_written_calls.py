"""Tool calls as texts that can be read and compared line by line."""

from typing import Any

import pytest

from timemachine.llm.pure.requests.answers import Answer
from timemachine.llm.pure.requests.neutral import Text, ToolCall
from timemachine.replay.runs.pure.written_calls import (
    answer_line,
    paired_calls,
    written_answer,
    written_arguments,
)


def call(name: str, arguments: object = None, raw: str | None = None) -> ToolCall:
    return ToolCall(id="c", name=name, arguments=arguments, raw=raw)


@pytest.mark.parametrize(
    ("arguments", "written"),
    [
        ({}, ""),
        ({"path": "a.txt", "limit": 3, "all": True}, "all: true\nlimit: 3\npath: a.txt"),
        ({"code": "one\n  two"}, "code:\n  one\n    two"),
        ({"edits": [{"old": "a", "new": "b"}], "none": []}, "edits:\n  -\n    new: b\n    old: a\nnone: []"),
        ("text", "text"),
        (None, "null"),
        ([1, 2], "- 1\n- 2"),
    ],
)
def test_arguments_have_a_line_for_each_name(arguments: object, written: str) -> None:
    assert written_arguments(call("f", arguments)) == written


def test_arguments_that_are_not_json_are_as_the_model_wrote_them() -> None:
    assert written_arguments(call("f", raw="{path: ")) == "{path: "


def test_an_answer_has_its_text_and_then_its_calls() -> None:
    answer = Answer(parts=(Text("I look."), call("read", {"path": "a"})))
    assert written_answer(answer) == "I look.\n\ncalls read\n  path: a"
    assert written_answer(Answer()) == ""


@pytest.mark.parametrize(
    ("parts", "line"),
    [
        ((), "answers nothing"),
        ((Text("The folder\nholds …"),), "answers: The folder holds …"),
        ((Text("I look."), call("Bash", {"command": "ls -la"}), call("ls", {})), "Bash {ls -la}, ls"),
        ((call("read", {"path": "a.py", "lines": [1, 2]}),), "read {path: a.py, lines: [1, 2]}"),
        ((call("read", raw="{path: "), call("list"), call("add", 2)), "read {{path:}, list, add {2}"),
        ((call("write", {"text": "x" * 100}),), f"write {{{'x' * 79}…}}"),
    ],
)
def test_what_a_model_did_fits_on_a_line(parts: Any, line: str) -> None:
    assert answer_line(Answer(parts=parts)) == line


def test_calls_are_paired_with_those_that_differ_first() -> None:
    recorded = (call("read", {"path": "a"}), call("write", {"path": "a"}), call("list", {}))
    new = (call("read", {"path": "a"}), call("write", {"path": "b"}), call("delete", {}))
    found = [(each.name, each.fate, each.recorded, each.new) for each in paired_calls(recorded, new)]
    assert found == [
        ("write", "other_arguments", "path: a", "path: b"),
        ("list", "only_recorded", "", None),
        ("delete", "only_new", None, ""),
        ("read", "same", "path: a", "path: a"),
    ]
