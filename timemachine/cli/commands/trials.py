"""`session trial`: one step, one change, beside what was recorded."""

from typing import Any

import click

from timemachine.cli import options
from timemachine.cli.commands.replays import result_of
from timemachine.cli.connecting import connected
from timemachine.cli.group import OneEach


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.argument("sequence", metavar="STEP", type=int)
@click.option("--question", metavar="Q", help="Ask, or look for, this instead.")
@click.option(
    "--frames",
    metavar="NAMES",
    help="The passages in their order, by number or recorded name: 3,12,'rank 2'; none with ''.",
)
@options.use_model
@options.of_call
@options.top_k
@options.mode
@click.option(
    "--adaptive/--not-adaptive", default=None, help="Cut where the passages stop being relevant, or not."
)
@options.of_retrieval
@click.option("--reason", metavar="TEXT", help="Why it is tried; it is kept with the trial.")
@click.option("--diff", "with_diff", is_flag=True, help="Show word by word what differs between the answers.")
@options.as_json
def trial(
    *,
    session: str,
    sequence: int,
    frames: str | None,
    mode: str | None,
    with_diff: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Make one find or ask again with something changed.

    What is not changed is as it was recorded. An ask goes out over its frozen passages, or over those that --frames names, or
    over what is found again with --top-k and the like. Nothing is written into the session.
    """
    named = None if frames is None else [_name(each.strip()) for each in frames.split(",") if each.strip()]
    with connected() as client:
        changes = asked | {"frames": named, "search_mode": mode}
        launched = client.replays.try_step(session, sequence, changes)
        result_of(client, launched["replay_id"], with_diff=with_diff, as_json=as_json)


def _name(written: str) -> int | str:
    digits = written.removeprefix("#")
    return int(digits) if digits.isascii() and digits.isdigit() else written
