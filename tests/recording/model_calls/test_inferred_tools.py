"""Tools without recorded definitions: their names and arguments are inferred from the calls."""

from typing import Any

import pytest

from timemachine.llm.pure.requests.neutral import Message, Request, Tool, ToolCall
from timemachine.recording.model_calls.pure.inferred_tools import inferred_tools
from timemachine.recording.model_calls.pure.requests import TOOLS, FrozenRequest


def call(name: str, arguments: object = None, **fields: Any) -> ToolCall:
    return ToolCall(id="c", name=name, arguments=arguments, **fields)


def test_each_called_tool_has_the_arguments_of_its_calls() -> None:
    read = (
        call("read", {"path": "a", "lines": [1, 2], "whole": True}),
        call("read", {"path": "b", "depth": 1.5}),
    )
    assert inferred_tools([*read, call("list", {})]) == (
        Tool(name="list", schema={"type": "object", "properties": {}}),
        Tool(
            name="read",
            schema={
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "lines": {"type": "array", "items": {"type": "number"}},
                    "whole": {"type": "boolean"},
                    "depth": {"type": "number"},
                },
                "required": ["path"],
            },
        ),
    )


@pytest.mark.parametrize(
    ("values", "schema"),
    [
        ([1, "1"], {}),
        ([None], {}),
        ([1, True], {}),
        ([{"a": 1}, {}], {"type": "object"}),
        ([[], []], {"type": "array", "items": {}}),
        ([["a"], ["b", 1]], {"type": "array", "items": {}}),
    ],
)
def test_an_argument_has_a_type_only_if_all_its_values_have_it(
    values: list[object], schema: dict[str, object]
) -> None:
    (tool,) = inferred_tools(call("run", {"value": value}) for value in values)
    assert tool.schema is not None
    assert tool.schema["properties"] == {"value": schema}


def test_a_tool_that_was_called_with_a_text_takes_it_as_input() -> None:
    (patch,) = inferred_tools([call("patch", raw="*** Begin", free_text=True), call("patch", "*** End")])
    assert patch.schema == {
        "type": "object",
        "properties": {"input": {"type": "string"}},
        "required": ["input"],
    }
    (empty,) = inferred_tools([call("ping")])
    assert empty.schema == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("absent", "names"),
    [
        ((), ["read"]),
        (("system prompt",), ["read"]),
        ((f"{TOOLS} of list, run",), ["read", "list", "run"]),
        ((TOOLS,), ["read", "list", "run", "write"]),
    ],
)
def test_only_tools_whose_definitions_are_absent_are_added(absent: tuple[str, ...], names: list[str]) -> None:
    request = Request(messages=(Message(role="user", parts=()),), tools=(Tool(name="read"),))
    frozen = FrozenRequest(request=request, model=None, verdict="reconstructed", absent=absent)
    added = tuple(Tool(name=name) for name in ("list", "run", "write"))
    assert [tool.name for tool in frozen.with_tools(added).tools if isinstance(tool, Tool)] == names
    assert frozen.lacks_tools is (len(names) > 1)
