"""The HTTP API for the tools of `timemachine mcp`, and the server over stdio."""

import os
import secrets
from collections.abc import Callable, Mapping
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server

from timemachine.client.connection import Connection, segment
from timemachine.client.errors import ClientError
from timemachine.client.server import find_server
from timemachine.core.pure.home import home
from timemachine.core.pure.json_types import JsonObject
from timemachine.mcp.api import Refused, SavedExport
from timemachine.mcp.server import server_for

_PATIENCE = 60.0  # seconds for an answer; clients give up at about that time
_ENDINGS = {"zip": "zip", "timemachine": "json", "atif": "json", "otlp_json": "json"}


class ServerApi:
    """The API of the server that the environment names or that runs on this machine, which need not run yet."""

    def __init__(self) -> None:
        self.current: str | None = None
        self._connection: Connection | None = None

    async def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: JsonObject | None = None,
    ) -> JsonObject:
        """Send a request and return its document. Raises `Refused`."""

        def send() -> JsonObject:
            connection = self._connected()
            found: JsonObject = (
                connection.post(path, body) if method == "POST" else connection.get(path, query)
            )
            return found

        return await _in_thread(send)

    async def save_export(self, session: str, format_name: str) -> SavedExport | None:
        """Write the export into the folder `exports` of this machine's data folder, under a name of its own. Raises `Refused`."""
        return await _in_thread(lambda: self._save(session, format_name))

    def _save(self, session: str, format_name: str) -> SavedExport:
        folder = home() / "exports"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        target = folder / f"{session}-{secrets.token_hex(4)}.{_ENDINGS[format_name]}"
        path = f"/api/sessions/{segment(session, 'session')}/export"
        self._connected().download(path, target, {"format": format_name})
        return SavedExport(file=target, bytes=target.stat().st_size)

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = Connection(find_server(os.environ), patience=_PATIENCE)
        return self._connection


async def _in_thread[T](send: Callable[[], T]) -> T:
    try:
        return await anyio.to_thread.run_sync(send)
    except ClientError as why:
        raise Refused(why.message, code=why.code) from why
    except OSError as why:
        raise Refused(f"The file could not be written: {why.strerror}.") from why


def serve() -> None:
    """Answer an MCP client over standard input and output until it closes them."""
    anyio.run(_serve)


async def _serve() -> None:
    server = server_for(ServerApi())
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())
