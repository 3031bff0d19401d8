"""Definitions of tools are recognised in the forms in which tools record them."""

import json
from typing import Any

import pytest

from timemachine.llm.pure.requests.neutral import Tool
from timemachine.llm.pure.requests.recorded import read_tools

SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    "recorded",
    [
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}},
        {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA},
        {"name": "f", "description": "d", "input_schema": SCHEMA},
        {"name": "f", "description": "d", "inputSchema": {"jsonSchema": SCHEMA}},
        {"functionDeclarations": [{"name": "f", "description": "d", "parametersJsonSchema": SCHEMA}]},
        {"tool": {"json_schema": json.dumps({"name": "f", "description": "d", "parameters": SCHEMA})}},
        {"tool.json_schema": {"name": "f", "description": "d", "parameters": SCHEMA}},
    ],
)
def test_definitions_of_tools_are_read(recorded: Any) -> None:
    tool = Tool(name="f", description="d", schema=SCHEMA)
    assert read_tools([recorded]) == (tool,)
    assert read_tools(json.dumps(recorded)) == (tool,)


def test_what_is_not_a_tool_is_unknown() -> None:
    assert read_tools([{"name": "f", "strict": True}]) == (Tool(name="f", strict=True),)
    unknown: list[Any] = ["{", 5, [{}], {"functionDeclarations": [1]}, [{"name": "f"}, None]]
    for value in unknown:
        assert read_tools(value) is None
