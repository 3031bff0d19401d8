"""Move a data folder to the PostgreSQL of this version, by dumping and loading: the old data stays as it is."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from timemachine.core.pure.errors import Conflict, NotFound, Unavailable
from timemachine.core.pure.home import home
from timemachine.embedded import postgres
from timemachine.embedded.backups.backup import snapshot_of
from timemachine.embedded.backups.client_programs import Programs
from timemachine.embedded.backups.databases import chosen_database, connected, has_rows, row_counts, start_in
from timemachine.embedded.backups.system_errors import system_errors
from timemachine.embedded.data_folder import forget_prepared, only_one

_KEPT: Final = "postgres-"
_DUMP: Final = "database.dump"
_CHUNK: Final = 1024 * 1024
_BLOCK: Final = 512  # bytes, as POSIX counts
_MB: Final = 1_000_000
_UNCHANGED: Final = "The data is as before."


@dataclass(frozen=True, slots=True, kw_only=True)
class Upgraded:
    """The versions before and after, and the folder that keeps the old data; None if there was nothing to do."""

    before: int
    after: int
    kept: Path | None


def upgrade_data() -> Upgraded:
    """Copy the data into a new database, check its rows, and use it instead of the old one, which is kept.

    Raises `TimeMachineError` if that is not possible. Then the data is as before.
    """
    if chosen_database():
        raise Conflict(
            f"DATABASE_URL is set. Remove it to upgrade the database in {home()}. For a database of your own, make a backup "
            "and restore it into an empty one of the new version."
        )
    if not home().is_dir():
        raise NotFound(f"There is no data in {home()}. Set TIMEMACHINE_HOME.")
    with system_errors(f"upgrade the data in {home()}", _UNCHANGED), only_one(home(), "an upgrade"):
        return _upgrade(home() / "postgres", home() / postgres.UPGRADING)


def _upgrade(data: Path, draft: Path) -> Upgraded:
    if not data.exists() and (draft / "postgres").is_dir():  # killed between the last two steps
        return _finish(data, draft)
    before = postgres.version_of(data)
    if before is None:
        raise NotFound(f"There is no database in {home()}. Set TIMEMACHINE_HOME.")
    if before == postgres.VERSION:
        return Upgraded(before=before, after=before, kept=None)
    if before > postgres.VERSION:
        postgres.refuse_other_version(data)
    kept = data.with_name(f"{_KEPT}{before}")
    if kept.exists():
        raise Conflict(f"{kept} exists already. Move it elsewhere. {_UNCHANGED}")
    _require_space(data)
    with _draft(draft):
        _copy(before, draft)
    forget_prepared()
    data.rename(kept)  # until the draft is in its place, nothing starts here: see `refuse_other_version`
    return _finish(data, draft)


def _require_space(data: Path) -> None:
    """Raise `Unavailable` unless the disk has space for a copy of the data, and for its dump, which is compressed."""
    needed = sum(path.lstat().st_blocks for path in data.rglob("*")) * _BLOCK * 3 // 2
    free = shutil.disk_usage(data).free
    if free < needed:
        raise Unavailable(
            f"The copy needs {needed // _MB:,} MB, and {free // _MB:,} MB are free on the disk of {data}. {_UNCHANGED} "
            "Make more space."
        )


@contextmanager
def _draft(draft: Path) -> Iterator[None]:
    """Create the folder; remove it if the block fails."""
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    try:
        yield
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _copy(before: int, draft: Path) -> None:
    """Dump the data with the programs of this version, and load it into a new database in the draft."""
    programs = Programs(folder=postgres.binaries(), version=postgres.VERSION)
    log, dumped = home() / "logs" / "postgres.log", draft / _DUMP
    with ExitStack() as stopping:
        url = start_in(home(), stopping, log=log, binaries=_binaries_of(before))
        with connected(url) as connection, snapshot_of(connection) as snapshot:
            rows = row_counts(connection)
            with programs.dump(url, snapshot) as dump, dumped.open("wb") as target:
                shutil.copyfileobj(dump, target, _CHUNK)
    with ExitStack() as stopping:
        url = start_in(draft, stopping, log=log)
        with programs.restore(url) as target, dumped.open("rb") as dump:
            shutil.copyfileobj(dump, target, _CHUNK)
        if not has_rows(url, rows):
            raise Unavailable(f"The copy does not have the rows of the original. {_UNCHANGED}")
    dumped.unlink()


def _binaries_of(version: int) -> Path:
    """Return the programs that can start the old data. Raises `Unavailable` if this version of Time Machine does not have them."""
    found = postgres.other_binaries().get(version)
    if found is None:
        raise Unavailable(
            f"The data in {home()} is from PostgreSQL {version}, which this version of Time Machine cannot start. {_UNCHANGED} "
            "Install the version of Time Machine that you had, and run `timemachine backup FILE`. Then install this one again, "
            "and run `timemachine restore FILE` with TIMEMACHINE_HOME set to a new folder.",
            code="other_postgres",
        )
    return found


def _finish(data: Path, draft: Path) -> Upgraded:
    (draft / "postgres").rename(data)
    shutil.rmtree(draft)
    before = max(int(path.name.removeprefix(_KEPT)) for path in data.parent.glob(f"{_KEPT}[0-9]*"))
    return Upgraded(before=before, after=postgres.VERSION, kept=data.with_name(f"{_KEPT}{before}"))
