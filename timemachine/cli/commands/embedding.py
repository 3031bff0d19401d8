"""`reembed`: another embedding model for a collection."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.failure import Failure, Interrupted
from timemachine.cli.formatting import one_line
from timemachine.cli.group import OneEach
from timemachine.cli.terminal import Progress, show

if TYPE_CHECKING:
    from timemachine.client.client import Client

_PAUSE = 0.5  # seconds between two looks
_BAR = 24


@click.command(cls=OneEach)
@click.argument("collection")
@click.option("--model", required=True, metavar="M", help="wordllama, minilm, or server:MODEL.")
@click.option("--no-wait", is_flag=True, help="Ask for it, and do not wait until it is done.")
@options.as_json
def reembed(*, collection: str, model: str, no_wait: bool, as_json: bool) -> None:
    """Embed a collection with another model.

    It is searched with its own until the other has seen every frame. Run it again to go on watching; the server goes on by itself.

    A frame that the model's server refuses holds up nothing: it is counted, with the server's reason, and found by its words.
    The same command tries such frames again. The key needs the scope admin.
    """
    with connected() as client:
        asked = client.collections.reembed(collection, model)
        wanted = (asked["target"] or asked)["embedding_model"]
        found = asked if no_wait else _followed(client, collection, wanted)
        show(found, _lines(found), as_json=as_json)


def _followed(client: "Client", collection: str, wanted: str) -> dict[str, Any]:
    """The document once the collection has the model. Raises `Failure` where that is not going to be, or not soon."""
    try:
        with Progress() as progress:
            while True:
                found = client.collections.embedding(collection)
                if _is_over(found, wanted):
                    return found
                progress.tell(_bar(found))
                time.sleep(_PAUSE)
    except KeyboardInterrupt as why:
        raise Interrupted("The server goes on with it; run the same command again to watch.") from why


def _is_over(found: dict[str, Any], wanted: str) -> bool:
    if found["trouble"]:
        raise Failure(
            f"{one_line(found['trouble']['message'])} The server tries again by itself; run the same command again to watch."
        )
    target = found["target"]
    if wanted not in (found["embedding_model"], target and target["embedding_model"]):
        now_wanted = target["embedding_model"] if target else found["embedding_model"]
        raise Failure(f"Somebody asked for {now_wanted} meanwhile; ask again if {wanted} is right.")
    return target is None and found["embedded"] + _refused(found) >= found["frames"]


def _bar(found: dict[str, Any]) -> str:
    embedded, frames = (found["target"] or found)["embedded"], found["frames"]
    refused = _refused(found["target"] or found)
    full = _BAR * (embedded + refused) // frames if frames else _BAR
    told = f", {refused:,} refused" if refused else ""
    return f"[{'#' * full}{'.' * (_BAR - full)}] {embedded:,} of {frames:,} embedded{told}"


def _refused(found: dict[str, Any]) -> int:
    return found["refused"]["count"] if found["refused"] else 0


def _lines(found: dict[str, Any]) -> Iterator[str]:
    target = found["target"]
    name, model = one_line(found["collection"]), (target or found)["embedding_model"]
    counts = f"{(target or found)['embedded']:,} of {found['frames']:,} embedded"
    if target:
        yield f"{name} is being embedded with {model}: {counts}. It is searched with {found['embedding_model']} until then."
    else:
        yield f"{name} is searched with {model}: {counts}."
    refused = (target or found)["refused"]
    if refused:
        counted = f"{refused['count']:,} refused by the server (the latest is frame {refused['frame']})"
        yield f"{counted}: {one_line(refused['reason'])}"
        yield "What was refused has no vector and is found by its words; the same command tries it again."
