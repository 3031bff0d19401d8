"""Which pg_dump and pg_restore a backup uses, and what others can see of them."""

from pathlib import Path

import pytest

from timemachine.core.pure.errors import Unavailable
from timemachine.embedded import postgres
from timemachine.embedded.backups import client_programs
from timemachine.embedded.backups.archive import new_backup
from timemachine.embedded.backups.client_programs import Programs, ServerFacts, programs_for

PROGRAM = """#!/bin/sh
if [ "$1" = --version ]; then echo "pg_dump (PostgreSQL) {version}.1 (Debian {version}.1-1)"; exit; fi
echo "$PGPASSWORD" "$@"
{fails}
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the programs on the path; a test makes them."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(client_programs, "_PACKAGES", tmp_path / "none")
    return tmp_path


def make(folder: Path, version: int, *, fails: str = "") -> None:
    for name in ("pg_dump", "pg_restore"):
        (folder / name).write_text(PROGRAM.format(version=version, fails=fails))
        (folder / name).chmod(0o755)


def test_the_oldest_programs_that_suit_are_used(installed: Path) -> None:
    make(installed, 97)
    assert programs_for(ServerFacts(version=18, tls=False)).folder == postgres.binaries()
    assert programs_for(ServerFacts(version=96, tls=False)) == Programs(folder=installed, version=97)
    assert programs_for(ServerFacts(version=18, tls=False), at_least=50).version == 97
    with pytest.raises(
        Unavailable, match=r"PostgreSQL 98, .* Install those of version 98 \(Debian: apt install"
    ):
        programs_for(ServerFacts(version=98, tls=True))


def test_those_of_the_wheel_are_not_used_over_tls_because_they_cannot_encrypt(installed: Path) -> None:
    make(installed, 50)
    assert programs_for(ServerFacts(version=40, tls=True)).folder == installed


def test_a_server_older_than_17_needs_older_programs(installed: Path) -> None:
    make(installed, 16)
    assert programs_for(ServerFacts(version=16, tls=False)).version == 16
    (installed / "pg_dump").unlink()
    with pytest.raises(Unavailable, match="Install those of version 16"):
        programs_for(ServerFacts(version=16, tls=True))


def test_the_password_is_not_on_the_command_line(installed: Path) -> None:
    make(installed, 18)
    with Programs(folder=installed, version=18).dump(
        "postgresql://me:secret@host/tm?sslmode=require", "1-1"
    ) as dump:
        password, _, line = dump.read().decode().partition(" ")
    assert password == "secret"
    assert "secret" not in line
    for part in ("user=me", "dbname=tm", "host=host", "sslmode=require", "--snapshot=1-1"):
        assert part in line


def test_a_failure_is_one_sentence_with_the_reason(installed: Path) -> None:
    make(installed, 18, fails="echo 'pg_dump: error: connection lost' >&2; exit 1")
    programs = Programs(folder=installed, version=18)
    with (
        pytest.raises(Unavailable, match=r"^pg_dump failed: connection lost\. There is no backup\.$"),
        programs.dump("postgresql://host/tm", "1-1") as dump,
    ):
        dump.read()
    with (
        pytest.raises(Unavailable, match=r"^pg_restore failed: connection lost\. Nothing was restored\.$"),
        programs.restore("postgresql://host/tm") as target,
    ):
        target.write(b"x" * 100_000_000)


def test_a_program_that_cannot_start_is_named(installed: Path) -> None:
    make(installed, 18)
    programs = Programs(folder=installed, version=18)
    (installed / "pg_dump").chmod(0o600)
    with (
        pytest.raises(Unavailable) as failed,
        new_backup(installed / "backup.zip"),
        programs.dump("postgresql://host/tm", "1-1"),
    ):
        pass
    assert (
        failed.value.message
        == f"Cannot start {installed / 'pg_dump'} (Permission denied). There is no backup."
    )
