"""`proxy`: a local address for agents that records their model calls, or answers from a recorded session."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
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
    from timemachine.client.machine import TimeMachine
    from timemachine.client.playback.recordings import Recording
    from timemachine.client.proxy.recording import CallRecorder
    from timemachine.client.proxy.server import ProxyServer

PORT = 8787
_SWITCH_SECONDS = 0.0005
"""How soon a thread that forwards gets its turn while another one records."""


class ProxyStarted(TypedDict):
    """Where the proxy listens: `base_url` for OpenAI's SDK, `url` for Anthropic's; and what it plays back, or the session that
    it records into.
    """

    playback: str | None
    session: str | None
    calls: int
    base_url: str
    url: str


@click.command(cls=OneEach)
@click.option(
    "--record",
    "key",
    metavar="KEY",
    help="Record into the session with this key, continuing it if it is open. [default: a new session for each run]",
)
@click.option(
    "--playback",
    "session",
    metavar="SESSION",
    help="The session to answer from: a file of `session export` or `evidence export`, or an id or key on the server.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    metavar="N",
    help="The port on 127.0.0.1; 0 for any free port.",
)
@click.option(
    "--openai",
    envvar="TIMEMACHINE_PROXY_OPENAI",
    metavar="URL",
    help="Where OpenAI-style requests go. [default: OPENAI_BASE_URL if it points elsewhere, else OpenAI]",
)
@click.option(
    "--anthropic",
    envvar="TIMEMACHINE_PROXY_ANTHROPIC",
    metavar="URL",
    help="Where Anthropic-style requests go. [default: ANTHROPIC_BASE_URL if it points elsewhere, else Anthropic]",
)
@click.option(
    "--provider",
    metavar="NAME",
    help="The provider behind --openai, such as groq or ollama, for models and prices. Not needed for known hosts.",
)
@click.option(
    "--by-api-key", is_flag=True, help="Use a separate session for each API key, named by the key's hash."
)
@click.option(
    "--no-tool-steps",
    is_flag=True,
    help="Do not record steps for tool calls, because your program records them itself.",
)
@click.option(
    "--start-over",
    is_flag=True,
    help="With --playback: after the last answer to identical requests, start again with the first.",
)
@options.as_json
def proxy(
    *,
    key: str | None,
    session: str | None,
    port: int,
    openai: str | None,
    anthropic: str | None,
    provider: str | None,
    by_api_key: bool,
    no_tool_steps: bool,
    start_over: bool,
) -> None:
    """Record every model call of any program, or answer it from a recorded session.

    An address that speaks OpenAI's API (/v1/chat/completions, /v1/responses, /v1/embeddings) and Anthropic's (/v1/messages), streamed or
    not. Set OPENAI_BASE_URL or ANTHROPIC_BASE_URL of your program to it. It forwards everything to the provider and records the model
    calls; API keys pass through and are never stored. Everything else passes unrecorded. If a call cannot be recorded, it still succeeds.

    With --playback nothing is sent or recorded: each recorded answer is used once, in order, and a request that is not in the record is
    refused with 409 and the first difference to the nearest one. Ctrl-C stops it.
    """
    if session is None:
        if start_over:
            raise click.UsageError("--start-over needs --playback.")
        _record(
            key,
            port,
            {"openai": openai, "anthropic": anthropic, "name": provider},
            by_api_key,
            not no_tool_steps,
        )
    elif key or by_api_key or no_tool_steps or provider:
        raise click.UsageError("--playback does not record. Leave out the recording options.")
    else:
        _play_back(session, port, start_over=start_over)


def _record(
    key: str | None, port: int, addresses: dict[str, str | None], by_api_key: bool, with_tools: bool
) -> None:
    from timemachine.client.machine import TimeMachine
    from timemachine.client.proxy.recording import CallRecorder
    from timemachine.client.recording.recorder import KEY

    if key is not None and not KEY.fullmatch(key):
        raise Failure(f"{key[:60]!r} is not a valid key. Use 1–200 letters, digits, and . _ : @ -.")
    sys.setswitchinterval(_SWITCH_SECONDS)
    machine = TimeMachine()
    recorder = CallRecorder(machine, key=key, by_api_key=by_api_key, with_tools=with_tools)
    running = _forwarding(recorder, port, addresses)
    _show_recording(running, recorder.key, _page(machine, None if by_api_key else recorder.key))
    with closing(running.server), suppress(KeyboardInterrupt):
        running.server.run()
    recorder.close()
    delivered = machine.close()
    lost = f" {counted(recorder.lost, 'call')} could not be recorded." if recorder.lost else ""
    waits = "" if delivered else " Some wait for the server: see `timemachine spool list`."
    print_error(f"{counted(recorder.calls, 'call')} recorded.{lost}{waits}")


def _forwarding(recorder: CallRecorder, port: int, addresses: dict[str, str | None]) -> ProxyServer:
    """Listen on the port for calls to these providers. Raises `Failure`."""
    from timemachine.client.errors import ClientError
    from timemachine.client.proxy.server import ProxyServer
    from timemachine.client.proxy.upstream import Providers

    with _listening(port):
        made = ProxyServer(recorder, port=port)
    try:
        made.providers = Providers.of(
            openai=addresses["openai"],
            anthropic=addresses["anthropic"],
            name=addresses["name"],
            own_port=made.server.port,
        )
    except ClientError as why:
        made.server.close()
        raise Failure(why.message) from why
    return made


def _show_recording(running: ProxyServer, key: str, page: Iterator[str]) -> None:
    url, providers = running.server.url, running.providers
    started: ProxyStarted = {
        "playback": None,
        "session": key,
        "calls": 0,
        "base_url": f"{url}/v1",
        "url": url,
    }
    show(
        started,
        [
            f"Recording into {key}, at {url}/v1 for the OpenAI SDK and {url} for the Anthropic SDK.",
            *page,
            f"Forwarding to {providers.openai.url} and {providers.anthropic.url}. Ctrl-C stops it.",
        ],
    )
    flush()


def _page(machine: TimeMachine, key: str | None) -> Iterator[str]:
    from timemachine.client.errors import NoServer

    if key is not None:
        with suppress(NoServer):
            yield f"The session's page, once the first call is recorded: {machine.url}/sessions/{key}/"


def _play_back(session: str, port: int, *, start_over: bool) -> None:
    from timemachine.client.playback.server import PlaybackServer  # only this command needs it

    found = _recording(session)
    if not found.calls:
        raise Failure(f"{found.key} has no model calls to answer from.")
    with _listening(port):
        server = PlaybackServer(found, port=port, start_over=start_over)
    with closing(server), suppress(KeyboardInterrupt):
        started: ProxyStarted = {
            "playback": found.key,
            "session": None,
            "calls": len(found.calls),
            "base_url": server.base_url,
            "url": server.url,
        }
        where = f"at {server.base_url} for the OpenAI SDK and {server.url} for the Anthropic SDK"
        calls = counted(len(found.calls), "model call")
        show(started, [f"{calls} of {found.key}, {where}.", "Ctrl-C stops it."])
        flush()
        server.run()
    used = len(found.calls) - len(server.unused)
    print_error(f"{used:,} of {counted(len(found.calls), 'recorded call')} used.")


@contextmanager
def _listening(port: int) -> Iterator[None]:
    """Raise `Failure` if the port is taken."""
    try:
        yield
    except OSError as why:
        raise Failure(f"Cannot listen on port {port} ({why.strerror}). Choose another with --port.") from why


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
