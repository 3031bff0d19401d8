"""`proxy`: a local address for an agent that answers from a recorded session."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.connection import connected
from timemachine.cli.failure import Failure
from timemachine.cli.terminal import flush, print_error, show
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.client.playback.recordings import Recording

PORT = 8787


class ProxyStarted(TypedDict):
    """Where the proxy listens: `base_url` for OpenAI's SDK, `url` for Anthropic's; and what it plays back."""

    playback: str
    calls: int
    base_url: str
    url: str


@click.command(cls=OneEach)
@click.option(
    "--playback",
    "session",
    required=True,
    metavar="SESSION",
    help="The session to answer from: a file of `session export` or `evidence export`, or an id or key on the server.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    metavar="N",
    help="The port on 127.0.0.1; 0 for any free one.",
)
@click.option(
    "--start-over", is_flag=True, help="After the last answer to equal requests, begin with the first."
)
@options.as_json
def proxy(*, session: str, port: int, start_over: bool) -> None:
    """Answer an agent from a recorded session, without a model.

    An address like OpenAI's (/v1/chat/completions, /v1/responses) and Anthropic's (/v1/messages), streamed or not. Each recorded
    answer is used once, in order; a request that is not in the record is refused with 409 and the first difference to the nearest one.
    Nothing is sent to a provider. Playback is all that this command can do so far: it does not record. Ctrl-C stops it.
    """
    from timemachine.client.playback.server import PlaybackServer  # only this command needs it

    found = _recording(session)
    if not found.calls:
        raise Failure(f"{found.key} has no model calls to answer from.")
    try:
        server = PlaybackServer(found, port=port, start_over=start_over)
    except OSError as why:
        raise Failure(f"Cannot listen on port {port} ({why.strerror}). Choose another with --port.") from why
    with closing(server), suppress(KeyboardInterrupt):
        started: ProxyStarted = {
            "playback": found.key,
            "calls": len(found.calls),
            "base_url": server.base_url,
            "url": server.url,
        }
        where = f"at {server.base_url} for OpenAI's SDK and {server.url} for Anthropic's"
        calls = counted(len(found.calls), "model call")
        show(started, [f"{calls} of {found.key}, {where}.", "Ctrl-C stops it."])
        flush()
        server.run()
    used = len(found.calls) - len(server.unused)
    print_error(f"{used:,} of {counted(len(found.calls), 'recorded call')} used.")


def _recording(session: str) -> Recording:
    """The recording in the file with that name, or on the server. Raises `Failure`."""
    from timemachine.client.playback.recordings import read_recording, recording_on

    file = Path(session)
    if not file.is_file():
        return recording_on(connected(), session)
    try:
        return read_recording(file)
    except OSError as why:
        raise Failure(f"Cannot read {file} ({why.strerror}).") from why
