"""`mcp`: a Model Context Protocol server over standard input and output."""

from __future__ import annotations

import click

from timemachine.cli.command import OneEach
from timemachine.cli.failure import Failure


@click.command(cls=OneEach)
def mcp() -> None:
    """Let an agent ask its own past: an MCP server over stdio, which MCP clients start.

    Claude Code, for example: claude mcp add --scope user timemachine -- timemachine mcp. The server's address /mcp offers the
    same tools over HTTP.
    """
    try:
        from timemachine.mcp.stdio import serve  # 60 MB that only this command needs
    except ModuleNotFoundError as why:
        raise Failure(
            f"The package {why.name} is not installed. Install the client with its extra: pip install 'timemachine-client[mcp]'. Or let your "
            "agent use the server's /mcp URL, which needs nothing on this machine."
        ) from why
    serve()
