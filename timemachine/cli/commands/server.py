"""`up`, `demo` and `status`: the server itself."""

import os
import sys
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.failure import Failure
from timemachine.cli.group import OneEach
from timemachine.cli.output.table import facts
from timemachine.cli.terminal import show
from timemachine.client.server import runs_here
from timemachine.core.pure.home import home


@click.command(cls=OneEach)
def up() -> None:
    """Start everything on this machine; Ctrl-C stops it.

    Postgres, migrations, worker and web server, at 127.0.0.1:8000 or PORT. It prints a sign-in link.
    """
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "timemachine.embedded"])  # noqa: S606  # Ctrl-C is theirs then


@click.command(cls=OneEach)
@click.option("--remove", is_flag=True, help="Take away all that the demo made.")
@options.as_json
def demo(*, remove: bool, as_json: bool) -> None:
    """Load an example, or remove it.

    It is a recorded session with replays and a share link; their addresses are printed.
    """
    with connected() as client:
        if remove:
            gone = client.remove_demo()
            show(gone, _removed(gone), as_json=as_json)
        else:
            made = client.load_demo()
            show(made, _made(made), as_json=as_json)


@click.command(cls=OneEach)
@options.as_json
def status(*, as_json: bool) -> None:
    """Say which server this is, and that it is ready.

    It also tries the key.
    """
    with connected() as client:
        answer = client.connection.ready()
        if answer["status"] != "ready":
            raise Failure(f"{client.url} is not ready: {answer.get('why', answer['status'])}.")
        project = client.project()  # a key that is not taken is refused here
        document = {
            "url": client.url,
            "status": answer["status"],
            "project": project["name"],
            "server_version": project["version"],
            "version": version("timemachine"),
            "data_folder": str(home()) if runs_here(client.url) else None,
        }
        show(document, _status_lines(document), as_json=as_json)


def _status_lines(document: dict[str, Any]) -> Iterator[str]:
    yield from facts(
        [
            ("server", document["url"]),
            ("status", f"{document['status']}, and the key is accepted"),
            ("project", document["project"]),
            ("version", document["server_version"]),
            ("command", f"timemachine {document['version']}"),
            ("data", document["data_folder"] or "on the server's machine"),
        ]
    )


def _made(made: dict[str, Any]) -> Iterator[str]:
    yield "The demo is loaded." if made["new"] else "The demo was loaded already."
    links = [("session", made["session"]["url"])]
    links += [(f"{each['kind']} replay", each["url"]) for each in made["replays"]]
    yield from facts([*links, ("share link", made["share_url"] or "")])
    yield "The answer at step 2 went wrong: look for the passage at rank 12 of the debug replay."
    yield "`timemachine demo --remove` takes all of it away."


def _removed(gone: dict[str, Any]) -> Iterator[str]:
    yield "The demo was removed." if gone["removed"] else "There was no demo to remove."
