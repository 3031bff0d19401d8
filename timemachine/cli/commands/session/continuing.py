"""`session continue`: run a session on from a model call, with tools answered from the record."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.commands.session.replays import wait_for_replay
from timemachine.cli.connection import connected
from timemachine.cli.failure import Failure, Unreadable
from timemachine.cli.formatting import one_line
from timemachine.cli.output.timeline import action_lines
from timemachine.cli.source import read_any_text
from timemachine.cli.terminal import checked_when_shown, show
from timemachine.client.errors import Refused

if TYPE_CHECKING:
    from timemachine.client.client import Client
    from timemachine.client.generated import types


@click.command("continue", cls=OneEach)
@click.argument("id_", metavar="ID")
@click.option(
    "--from", "from_", type=click.IntRange(min=1), metavar="N", help="The model call to continue from."
)
@options.use_model
@options.system_prompt
@click.option(
    "--messages",
    metavar="FILE",
    help="Send the messages in this JSON file instead of the recorded ones.",
)
@click.option(
    "--max-calls", type=click.IntRange(min=1), metavar="K", help="Make at most K model calls (default 50)."
)
@options.spend_limit
@options.several(
    "--repeatable",
    "repeatable_tools",
    metavar="TOOL",
    help="A tool that only reads and always gives the same result, so a recorded result can be used again",
)
@options.several(
    "--result", "results", metavar="TOOL=TEXT", help="The result of a call that was not recorded"
)
@options.several("--result-file", "files", metavar="TOOL=FILE", help="Like --result, but read from a file")
@options.several("--empty-result", "empty", metavar="TOOL", help="The call had an empty result")
@click.option(
    "--user-messages",
    type=click.Choice(["agreed", "recorded", "none"]),
    help="Send the user's next recorded message after an answer that agrees with the recorded one (default), after any answer in the same place, "
    "or never.",
)
@click.option(
    "--message", metavar="TEXT", help="The user's next message, for a continuation that is waiting for one."
)
@click.option("--recorded-message", is_flag=True, help="Like --message, but send the recorded message.")
@click.option("--reason", metavar="TEXT", help="Why; stored with the replay.")
@options.as_json
def continue_(
    *,
    id_: str,
    from_: int | None,
    use_model: str | None,
    messages: str | None,
    results: tuple[str, ...],
    files: tuple[str, ...],
    empty: tuple[str, ...],
    max_calls: int | None,
    spend_limit_usd: float | None,
    message: str | None,
    recorded_message: bool,
    **chosen: Any,
) -> None:
    """Run a session on from a model call, and wait for the end.

    ID is the session, and the model of --use-model goes on at step N. Tool calls get the recorded results and are never executed. The
    run ends when the model stops, at the first call that the record cannot answer, or at a limit. It becomes a branch of the session.
    Where the user wrote next, that message is sent if the run did what was recorded.

    A continuation that stopped goes on if ID is its own: with --result, --result-file or --empty-result for each call that waits for a
    result, with --message or --recorded-message where the user wrote next, or with a higher limit.
    """
    given = [*map(_result, results), *map(_result_in_file, files)]
    for each in given:
        if not each["result"]:
            raise click.UsageError(
                f"The result of {each['tool']} is empty. If that is correct, use: --empty-result {each['tool']}"
            )
    given += [{"tool": tool, "result": ""} for tool in empty]
    limits: dict[str, Any] = {"max_calls": max_calls, "spend_limit_usd": spend_limit_usd}
    client = connected()
    if from_ is None:
        _refuse({"use_model": use_model, "messages": messages, **chosen})
        next_message = {"message": message, "recorded_message": recorded_message}
        launched = _gone_on(client, id_, given, limits | next_message)
    elif use_model is None or given or message is not None or recorded_message:
        raise click.UsageError(
            "With --from, name the model to continue with (--use-model); --result and --message are for a continuation that stopped."
        )
    else:
        read = None if messages is None else _messages(messages)
        launched = client.replays.continue_from(id_, from_, use_model, messages=read, **limits, **chosen)
    done = wait_for_replay(client, launched["replay_id"], f"{client.url}/replays/{launched['replay_id']}/")
    with checked_when_shown(lambda: _check(done)):
        show(done, _lines(client, done))


def _gone_on(
    client: Client, id_: str, results: Sequence[types.ResultIn], changes: dict[str, Any]
) -> types.ReplayLaunched:
    """Resume a continuation. Raises `UsageError` if the ID is that of a session."""
    try:
        return client.replays.go_on(id_, results=results, **changes)
    except Refused as why:
        if why.code != "replay_not_found":
            raise
        with suppress(Refused):
            session = client.sessions.get(id_)
            raise click.UsageError(
                f"{session['key']} is a session. Give --from N, the model call to continue from, and --use-model M."
            ) from why
        raise


def _refuse(chosen: dict[str, Any]) -> None:
    context = click.get_current_context()
    options = {each.name: each.opts[0] for each in context.command.params}
    named = [options[name] for name, value in chosen.items() if value]
    if named:
        raise click.UsageError(
            f"Name the model call with --from N. Without it, ID is a continuation, and {', '.join(named)} cannot change."
        )


def _result(written: str) -> types.ResultIn:
    tool, equals, text = written.partition("=")
    if not equals or not tool:
        raise click.UsageError(f"{written!r} is not a result. Write it as TOOL=TEXT.")
    return {"tool": tool, "result": text}


def _result_in_file(written: str) -> types.ResultIn:
    found = _result(written)
    return {**found, "result": read_any_text(found["result"])}


def _messages(file: str) -> Sequence[Any]:
    try:
        found = json.loads(read_any_text(file))
    except ValueError as why:
        raise Unreadable(file, "it is not JSON") from why
    if not isinstance(found, list):
        raise Unreadable(file, "it is not a JSON list of messages")
    return found


def _lines(client: Client, done: types.ReplayOut) -> Iterator[str]:
    about = done["continuation"]
    branch = about and about["branch"]
    if branch is not None:
        last = client.sessions.get(branch)["actions"]
        yield from action_lines(client.sessions.actions(branch), last=last)
        yield ""
    yield f"Continuation {done['id']} is {done['status']}: {one_line(done['summary'])}"
    if branch is not None:
        yield f"{client.url}/compare/?a={done['session']}&b={branch}"


def _check(done: types.ReplayOut) -> None:
    if done["status"] != "done":
        raise Failure(f"The continuation is {done['status']}. See its page, or retry it there.")
