"""All tools, by name."""

from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.mcp.api import Api, Refused
from timemachine.mcp.finding import FINDING
from timemachine.mcp.reading import READING
from timemachine.mcp.recorder import RECORDER
from timemachine.mcp.tool import Tool
from timemachine.mcp.writing import WRITING

TOOLS: Final[dict[str, Tool[Any]]] = {tool.name: tool for tool in (*FINDING, *READING, *WRITING, *RECORDER)}


async def call(api: Api, name: str, given: JsonObject) -> JsonObject:
    """Return the answer of a tool. Raises `Refused`."""
    tool = TOOLS.get(name)
    if tool is None:
        raise Refused(f"There is no tool {name[:80]!r}. The tools are {', '.join(TOOLS)}.")
    return await tool.call(api, given)
