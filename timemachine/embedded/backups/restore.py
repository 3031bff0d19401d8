"""Restore a backup into an empty data folder, completely or not at all, or into an empty database."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from timemachine.core.pure.errors import Conflict, InvalidInput, Unavailable
from timemachine.core.pure.home import home, local_key_file, secret_key_file, write_private
from timemachine.core.pure.migration_files import own_migrations
from timemachine.core.pure.secret_settings import keys_in, secret_keys_of_environment
from timemachine.embedded.backups.archive import (
    DATABASE,
    LOCAL_KEY,
    SECRET_KEYS,
    Manifest,
    Reader,
    checked_backup,
)
from timemachine.embedded.backups.client_programs import programs_for
from timemachine.embedded.backups.databases import (
    address_of,
    chosen_database,
    connected,
    facts_of,
    has_rows,
    is_empty,
    refuse_two_databases,
    start_in,
)
from timemachine.embedded.backups.system_errors import system_errors
from timemachine.embedded.data_folder import only_one

_DRAFT: Final = "restoring"
_OF_A_START: Final = {"lock", "logs", "run", "work"}
"""What a data folder may have although nothing was stored in it yet."""
_CHUNK: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """A backup that was restored, and where its database and its keys are; `keys` is None if it had none."""

    manifest: Manifest
    database: str
    keys: Path | None


def restore_backup(file: Path, *, with_keys: bool) -> Restored:
    """Restore a backup into `DATABASE_URL`, or into the data folder.

    Raises `TimeMachineError` if the file, the target or a key is not right. Then nothing was restored, unless the message
    says that the database of `DATABASE_URL` is filled.
    """
    with system_errors(f"restore {file}", "Nothing was restored."), checked_backup(file) as backup:
        _check_version(backup.manifest)
        url = chosen_database()
        stored = _keys_to_store(backup) if with_keys else {}
        if url:
            _restore_into(url, backup, stored)
        else:
            _restore_here(backup, stored)
        return Restored(
            manifest=backup.manifest,
            database=address_of(url) if url else str(home()),
            keys=secret_key_file() if SECRET_KEYS in stored else None,
        )


def _check_version(manifest: Manifest) -> None:
    if not set(manifest.migrations) <= own_migrations():
        raise InvalidInput(
            f"The backup was made by a newer version of Time Machine ({manifest.timemachine}). Install that version."
        )


def _keys_to_store(backup: Reader) -> dict[str, str]:
    """Return the keys that go into the data folder. Those in the environment must be the same."""
    ours, given = backup.text(SECRET_KEYS), secret_keys_of_environment()
    local = {LOCAL_KEY: backup.text(LOCAL_KEY)} if LOCAL_KEY in backup.manifest.parts else {}
    if not ours and not given:
        raise InvalidInput(
            "The backup has no secret key. Set SECRET_KEY to that of the server it was made on. "
            "If it is lost, use --without-keys: keys of providers must then be entered again, and signing keys replaced."
        )
    if ours and given and not set(keys_in(ours)) <= set(given):
        raise InvalidInput(
            "SECRET_KEY is set to another key than the one in the backup. Remove it, "
            f"or set SECRET_KEY_FALLBACKS to the key in the backup, which `unzip -p FILE {SECRET_KEYS}` prints."
        )
    if not given:
        return {SECRET_KEYS: ours, **local}
    return {} if chosen_database() else local  # a server that has its settings elsewhere needs no data folder


def _restore_into(url: str, backup: Reader, keys: dict[str, str]) -> None:
    refuse_two_databases()
    for name, content in keys.items():
        path = _file_of(name)
        if path.exists() and path.read_text(encoding="utf-8").split() != content.split():
            raise Conflict(
                f"{path} has another key. Nothing was restored. Set TIMEMACHINE_HOME to an empty folder."
            )
    _load(url, backup)
    filled = (
        f"The database {address_of(url)} is already filled. Drop it, create a new one and restore into that."
    )
    try:
        with system_errors("store the keys", ""):
            _check_rows(url, backup.manifest)
            _store(keys)
    except Unavailable as why:
        raise Unavailable(f"{why.message} {filled}") from why


def _restore_here(backup: Reader, keys: dict[str, str]) -> None:
    """Restore into a draft in the data folder. The renaming of the database at the end makes it complete."""
    with _locked_folder() as draft, ExitStack() as stopping:
        url = start_in(draft, stopping, log=draft / "postgres.log")
        _load(url, backup)
        _check_rows(url, backup.manifest)
        stopping.close()
        _store(keys)
        (draft / "postgres").rename(home() / "postgres")


@contextmanager
def _locked_folder() -> Iterator[Path]:
    """Yield a draft in the empty data folder, which no one else uses meanwhile. If the block fails, the folder is as before."""
    made = _make_home()
    draft = home() / _DRAFT
    with only_one(home(), "a restore"):
        _refuse_used()
        shutil.rmtree(draft, ignore_errors=True)
        try:
            draft.mkdir(mode=0o700)
            yield draft
        except BaseException:
            _clear()
            if made:
                _remove_home()
            raise
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def _make_home() -> bool:
    """Create the data folder; return whether there was none. Raises `Unavailable` if that fails."""
    with system_errors(f"create the folder {home()}", "Nothing was restored."):
        home().parent.mkdir(parents=True, exist_ok=True)
        try:
            home().mkdir(mode=0o700)
        except FileExistsError:
            if not home().is_dir():
                raise
            return False
    return True


def _remove_home() -> None:
    """Remove what a start leaves, last the lock, which we still hold, and the folder if nothing else is in it."""
    for name in (_DRAFT, "run"):
        shutil.rmtree(home() / name, ignore_errors=True)
    with suppress(OSError):
        (home() / "lock").unlink()
        home().rmdir()


def _refuse_used() -> None:
    """Raise `Conflict` if the folder has data. What a killed restore left has a draft next to it."""
    interrupted = {_DRAFT, SECRET_KEYS, LOCAL_KEY} if (home() / _DRAFT).is_dir() else set()
    used = {path.name for path in home().iterdir()} - _OF_A_START - interrupted
    if used:
        raise Conflict(
            f"{home()} is not empty ({min(used)}). Nothing was restored. Set TIMEMACHINE_HOME to a new folder."
        )


def _clear() -> None:
    for path in (secret_key_file(), local_key_file()):
        path.unlink(missing_ok=True)
        path.with_name(path.name + ".new").unlink(missing_ok=True)


def _load(url: str, backup: Reader) -> None:
    """Load the dump into an empty database. If this fails, the database is as before."""
    manifest = backup.manifest
    with connected(url) as connection:
        if not is_empty(connection):
            raise Conflict(
                f"The database {address_of(url)} is not empty. Nothing was restored. Create a new one and set DATABASE_URL to it."
            )
        server = facts_of(connection)
    if server.version < manifest.postgres:
        raise Unavailable(
            f"The backup is from PostgreSQL {manifest.postgres}, and this server is {server.version}. "
            f"Nothing was restored. Use PostgreSQL {manifest.postgres} or newer."
        )
    programs = programs_for(server, at_least=manifest.dumped_with)
    with programs.restore(url) as target, backup.open(DATABASE) as dump:
        shutil.copyfileobj(dump, target, _CHUNK)


def _check_rows(url: str, manifest: Manifest) -> None:
    """Raise `Unavailable` unless every table has the rows that it had."""
    if not has_rows(url, manifest.rows):
        raise Unavailable("What was restored does not have the rows that the backup lists.")


def _store(keys: dict[str, str]) -> None:
    for name, content in keys.items():
        write_private(_file_of(name), content)


def _file_of(name: str) -> Path:
    return secret_key_file() if name == SECRET_KEYS else local_key_file()
