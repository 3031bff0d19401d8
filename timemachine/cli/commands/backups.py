"""`backup` and `restore`: the whole installation in one file. `upgrade`: its database in another PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.failure import Failure
from timemachine.cli.formatting import local
from timemachine.cli.terminal import show
from timemachine.core.pure.numbers import counted

if TYPE_CHECKING:
    from timemachine.embedded.backups.archive import Manifest

_FILE: Final = click.Path(path_type=Path, dir_okay=False)


@click.command(cls=OneEach)
@click.argument("file", type=_FILE)
@click.option("--without-keys", is_flag=True, help="Leave out the private keys.")
@options.as_json
def backup(*, file: Path, without_keys: bool) -> None:
    """Write the database and the private keys of this installation to a file.

    Uses DATABASE_URL, or the database in the data folder. The server can keep running.
    """
    _require_server()
    from timemachine.embedded.backups.backup import make_backup

    made = make_backup(file.expanduser().absolute(), with_keys=not without_keys)
    document = {"file": str(made.file), "bytes": made.bytes, **_document(made.manifest)}
    show(document, _made(f"{made.file} ({made.bytes:,} bytes)", made.manifest))


@click.command(cls=OneEach)
@click.argument("file", type=_FILE)
@click.option("--without-keys", is_flag=True, help="Do not restore the private keys.")
@options.as_json
def restore(*, file: Path, without_keys: bool) -> None:
    """Restore a backup into an empty data folder, or into the empty database of DATABASE_URL.

    Checks the whole file first. If the restore fails, a data folder is as before. The database of DATABASE_URL may be
    filled by then; the error reports this.
    """
    _require_server()
    from timemachine.embedded.backups.restore import restore_backup

    restored = restore_backup(file.expanduser().absolute(), with_keys=not without_keys)
    keys = str(restored.keys) if restored.keys else None
    document = {"database": restored.database, "keys": keys, **_document(restored.manifest)}
    show(document, _restored(restored.database, keys, restored.manifest))


@click.command(cls=OneEach)
@options.as_json
def upgrade() -> None:
    """Move the database in the data folder to the PostgreSQL of this version.

    Needed if `timemachine up` says that the data is from an older PostgreSQL. Copies the database and checks the copy; the old
    data is kept next to it.
    """
    _require_server()
    from timemachine.embedded.backups.upgrade import upgrade_data

    done = upgrade_data()
    kept = str(done.kept) if done.kept else None
    show({"before": done.before, "after": done.after, "kept": kept}, _upgraded(done.before, done.after, kept))


def _require_server() -> None:
    """Raise `Failure` if only the client is installed."""
    if find_spec("timemachine.embedded") is None:
        raise Failure("The server is not installed here. Install it with: uv tool install timemachine")


def _document(manifest: Manifest) -> dict[str, object]:
    sessions, steps = _totals(manifest)
    return {
        "created_at": manifest.created_at,
        "timemachine": manifest.timemachine,
        "postgres": manifest.postgres,
        "sessions": sessions,
        "steps": steps,
        "with_keys": manifest.has_keys,
    }


def _totals(manifest: Manifest) -> tuple[int, int]:
    return manifest.rows.get("public.tm_session", 0), manifest.rows.get("public.tm_action", 0)


def _content(manifest: Manifest) -> str:
    sessions, steps = _totals(manifest)
    return f"{counted(sessions, 'session')}, {counted(steps, 'step')}"


def _made(file: str, manifest: Manifest) -> Iterator[str]:
    yield f"Backup written: {file}, {_content(manifest)}."
    if manifest.has_keys:
        yield "It contains the private keys. Keep it as safe as the server."
    else:
        yield "It does not contain the private keys. Keep the SECRET_KEY elsewhere."


def _restored(database: str, keys: str | None, manifest: Manifest) -> Iterator[str]:
    yield f"Restored into {database}: {_content(manifest)}, as of {local(manifest.created_at)}."
    if keys:
        yield f"The secret key is in {keys}."
    yield "Start the server, then check the evidence of a session with `timemachine evidence verify`."


def _upgraded(before: int, after: int, kept: str | None) -> Iterator[str]:
    if kept is None:
        yield f"The database is of PostgreSQL {after} already. There was nothing to do."
        return
    yield f"The database moved from PostgreSQL {before} to {after}, with all its rows."
    yield f"The data of PostgreSQL {before} is still in {kept}. Delete it when everything works."
    yield "Start the server, then check the evidence of a session with `timemachine evidence verify`."
