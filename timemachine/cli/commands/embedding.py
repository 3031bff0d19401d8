"""`reembed`: change the embedding model of a collection."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.connection import connected
from timemachine.cli.failure import Failure
from timemachine.cli.formatting import bar, one_line
from timemachine.cli.terminal import show, waiting

if TYPE_CHECKING:
    from timemachine.client.client import Client
    from timemachine.client.generated import types

_PAUSE = 0.5  # seconds between two requests


@click.command(cls=OneEach)
@click.argument("collection")
@click.option("--model", required=True, metavar="M", help="wordllama, minilm, or server:MODEL.")
@click.option("--no-wait", is_flag=True, help="Start it and do not wait.")
@options.as_json
def reembed(*, collection: str, model: str, no_wait: bool) -> None:
    """Embed a collection with another model.

    The collection switches to the new model when all frames are embedded. The server continues on its own; run the command again to
    follow it.

    Frames that the embedding server rejects are counted with its reason and found by keyword only. Run the command again to retry
    them. Requires an API key with the scope admin.
    """
    client = connected()
    asked = client.collections.reembed(collection, model)
    chosen = (asked["target"] or asked)["embedding_model"]
    found = asked if no_wait else _followed(client, collection, chosen)
    show(found, _lines(found))


def _followed(client: Client, collection: str, chosen: str) -> types.EmbeddingOut:
    """The document once the collection has the model. Raises `Failure` if it will not get it, or only after a retry."""
    with waiting("The server continues embedding. Run the same command again to follow it.") as progress:
        while not _is_finished(found := client.collections.embedding(collection), chosen):
            progress.update(_progress(found))
            time.sleep(_PAUSE)
    return found


def _is_finished(found: types.EmbeddingOut, chosen: str) -> bool:
    if found["trouble"]:
        raise Failure(
            f"{one_line(found['trouble']['message'])} The server retries automatically. Run the same command again to follow it."
        )
    target = found["target"]
    if chosen not in (found["embedding_model"], target and target["embedding_model"]):
        other = target["embedding_model"] if target else found["embedding_model"]
        raise Failure(f"Someone chose {other} in the meantime. Run the command again if you want {chosen}.")
    return target is None and found["embedded"] + _refused(found) >= found["frames"]


def _progress(found: types.EmbeddingOut) -> str:
    embedded, frames = (found["target"] or found)["embedded"], found["frames"]
    refused = _refused(found["target"] or found)
    rejected = f", {refused:,} rejected" if refused else ""
    return f"{bar(embedded + refused, frames, shown=embedded)} {frames:,} embedded{rejected}"


def _refused(found: types.EmbeddingOut | types.EmbeddingTarget) -> int:
    return found["refused"]["count"] if found["refused"] else 0


def _lines(found: types.EmbeddingOut) -> Iterator[str]:
    target = found["target"]
    name, model = one_line(found["collection"]), (target or found)["embedding_model"]
    counts = f"{(target or found)['embedded']:,} of {found['frames']:,} embedded"
    if target:
        yield f"{name} is being embedded with {model}: {counts}. Until then, it is searched with {found['embedding_model']}."
    else:
        yield f"{name} is searched with {model}: {counts}."
    refused = (target or found)["refused"]
    if refused:
        counted = (
            f"{refused['count']:,} rejected by the embedding server (the latest is frame {refused['frame']})"
        )
        yield f"{counted}: {one_line(refused['reason'])}"
        yield "Rejected frames have no vector and are found by keyword only. Run the same command again to retry them."
