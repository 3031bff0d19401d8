"""An agent of the Claude Agent SDK that calls two tools at the same time. `timemachine watch claude-code` records it."""

import asyncio
from typing import Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ResultMessage,
    create_sdk_mcp_server,
    tool,
)


@tool("weather", "Look up the weather.", {"city": str})
async def weather(given: dict[str, Any]) -> dict[str, Any]:
    if given["city"] == "Atlantis":
        raise ValueError("There is no such city.")
    return {"content": [{"type": "text", "text": f"Sunny in {given['city']}"}]}


OPTIONS = ClaudeAgentOptions(
    model="claude-sonnet-4-5",
    system_prompt="Answer with the tools.",
    mcp_servers={"desk": create_sdk_mcp_server("desk", tools=[weather])},
    tools=[],
    allowed_tools=["mcp__desk__weather"],
    setting_sources=[],
)


async def main() -> None:
    async with ClaudeSDKClient(OPTIONS) as client:
        for question in ("How is the weather in Rome and Atlantis?", "And tomorrow?"):
            await client.query(question)
            async for message in client.receive_response():
                if isinstance(message, ResultMessage):
                    print(message.result)


asyncio.run(main())
