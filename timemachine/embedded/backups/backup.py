"""Back up: the database at one moment, and the private keys."""

import io
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psycopg
from cryptography.fernet import InvalidToken
from psycopg import sql

from timemachine.core.pure.errors import Conflict, NotFound, Unavailable
from timemachine.core.pure.home import local_key_file
from timemachine.core.pure.secret_ciphers import SIGNING_KEYS, cipher_under
from timemachine.core.pure.secret_settings import secret_keys
from timemachine.embedded.backups.archive import (
    DATABASE,
    FORMAT,
    LOCAL_KEY,
    SECRET_KEYS,
    Manifest,
    Writer,
    new_backup,
)
from timemachine.embedded.backups.client_programs import programs_for
from timemachine.embedded.backups.databases import connected, existing_database, facts_of, row_counts
from timemachine.embedded.backups.system_errors import system_errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A file that was written."""

    file: Path
    bytes: int
    manifest: Manifest


def make_backup(file: Path, *, with_keys: bool) -> Backup:
    """Write a backup while everything may run. Raises `TimeMachineError` if that fails; then there is no file."""
    with (
        system_errors(f"make the backup {file}", "There is no backup."),
        existing_database() as url,
        new_backup(file) as writer,
    ):
        manifest = _dump(url, writer, with_keys=with_keys)
        writer.finish(manifest)
    return Backup(file=file, bytes=file.stat().st_size, manifest=manifest)


def _keys(connection: psycopg.Connection[Any]) -> dict[str, str]:
    """Return the private keys. Raises `NotFound` if there is no secret key, `Conflict` if it is not that of this database."""
    keys = secret_keys()
    if not keys:
        raise NotFound(
            "There is no secret key in the data folder or in SECRET_KEY. Set the SECRET_KEY of the server, "
            "or make a backup --without-keys and keep the key elsewhere."
        )
    if not _fits(keys, connection):
        raise Conflict(
            "The secret key in SECRET_KEY or the data folder is not the one that the server uses: it does not decrypt the "
            "signing keys. Set the server's SECRET_KEY, or make a backup --without-keys and keep the key elsewhere."
        )
    found = {SECRET_KEYS: "".join(f"{key}\n" for key in keys)}
    if local_key_file().exists():
        found[LOCAL_KEY] = local_key_file().read_text(encoding="utf-8")
    return found


def _fits(keys: list[str], connection: psycopg.Connection[Any]) -> bool:
    """Return whether the keys decrypt a signing key that is in use, if there is one. A lost key leaves some that they cannot."""
    query = "SELECT private_key FROM tm_signing_key WHERE replaced_at IS NULL AND private_key IS NOT NULL"
    stored = [bytes(key) for (key,) in connection.execute(query).fetchall()]
    cipher = cipher_under(keys, SIGNING_KEYS)
    for each in stored:
        with suppress(InvalidToken):
            cipher.decrypt(each)
            return True
    return not stored


def _dump(url: str, writer: Writer, *, with_keys: bool) -> Manifest:
    """Dump one snapshot and count its rows."""
    created_at = datetime.now(UTC)
    with connected(url) as connection:
        server = facts_of(connection)
        programs = programs_for(server)
        with snapshot_of(connection) as snapshot:
            migrations, rows = _migrations(connection), row_counts(connection)
            keys = _keys(connection) if with_keys else {}
            with programs.dump(url, snapshot) as dump:
                writer.add(DATABASE, dump)
    for name, content in keys.items():
        writer.add(name, io.BytesIO(content.encode()))
    return Manifest(
        format=FORMAT,
        created_at=created_at.isoformat(timespec="seconds"),
        timemachine=version("timemachine"),
        postgres=server.version,
        dumped_with=programs.version,
        migrations=migrations,
        rows=rows,
        parts=writer.parts,
    )


@contextmanager
def snapshot_of(connection: psycopg.Connection[Any]) -> Iterator[str]:
    """Yield the name of a snapshot that other connections can use as long as this one stays in its transaction."""
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        for timeout in ("statement_timeout", "idle_in_transaction_session_timeout"):
            connection.execute(sql.SQL("SET LOCAL {} = 0").format(sql.Identifier(timeout)))
        row = connection.execute("SELECT pg_export_snapshot()").fetchone()
        yield str(row[0] if row else "")


def _migrations(connection: psycopg.Connection[Any]) -> list[str]:
    """Return the names of the migrations that the database has. Raises `Unavailable` if it was never prepared."""
    try:
        with connection.transaction():
            query = "SELECT name FROM django_migrations WHERE app = 'timemachine' ORDER BY name"
            return [name for (name,) in connection.execute(query).fetchall()]
    except psycopg.errors.UndefinedTable as why:
        raise Unavailable(
            "This database has no data of Time Machine. Set DATABASE_URL to another one."
        ) from why
