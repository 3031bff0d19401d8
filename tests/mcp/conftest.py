"""Fixtures for MCP tests: a real server with two projects, and the official client over both transports."""

import json
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent
from pytest_django.live_server_helper import LiveServer

from tests.measuring import programs_unmeasured
from timemachine.core.accounts.commands.keys import make_api_key
from timemachine.core.accounts.models import SCOPES, Project

type Story = Callable[["Agent"], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent with a connected MCP client, which checks every answer against the schema of its tool."""

    client: Client

    async def call(self, tool: str, **arguments: Any) -> Any:
        """The structured answer, which is also the text."""
        found = await self.client.call_tool(tool, arguments)
        assert not found.is_error, found
        assert json.loads(text_of(found)) == found.structured_content
        return found.structured_content

    async def refused(self, tool: str, **arguments: Any) -> str:
        """Why the tool refused."""
        found = await self.client.call_tool(tool, arguments)
        assert found.is_error, found
        return text_of(found)


def text_of(found: CallToolResult) -> str:
    """The one text of a result."""
    (block,) = found.content
    assert isinstance(block, TextContent)
    return block.text


@dataclass(frozen=True, slots=True)
class Place:
    """A server with a project, and another one."""

    url: str
    folder: Path
    project: Project

    def key(self, *scopes: str, project: Project | None = None) -> str:
        """A new key, with all scopes by default."""
        return make_api_key(project or self.project, name="agent", scopes=scopes or SCOPES)[1]

    def over(self, transport: str, story: Story, key: str, mode: str = "auto") -> None:
        """Run a story of an agent that is connected with this key."""
        {"http": self._over_http, "stdio": self._over_stdio}[transport](story, key, mode)

    def _over_http(self, story: Story, key: str, mode: str) -> None:
        async def run() -> None:
            headers = {"Authorization": f"Bearer {key}"}
            async with httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
                transport = streamable_http_client(f"{self.url}/mcp", http_client=http)
                async with Client(transport, mode=mode) as client:
                    await story(Agent(client))

        anyio.run(run)

    def _over_stdio(self, story: Story, key: str, mode: str) -> None:
        environment = {
            "TIMEMACHINE_URL": self.url,
            "TIMEMACHINE_API_KEY": key,
            "TIMEMACHINE_HOME": str(self.folder),
        }
        server = StdioServerParameters(
            command=str(Path(sys.executable).with_name("timemachine")), args=["mcp"], env=environment
        )

        async def run() -> None:
            async with Client(server, mode=mode) as client:
                await story(Agent(client))

        anyio.run(run)


@pytest.fixture(scope="module", autouse=True)
def programs_measured_elsewhere() -> Iterator[None]:
    """The command has tests of its own."""
    with programs_unmeasured():
        yield


@pytest.fixture
def place(transactional_db: None, silent_queue: None, live_server: LiveServer, tmp_path: Path) -> Place:
    """A server with an empty project."""
    return Place(live_server.url, tmp_path, Project.objects.create(name="Agents"))
