"""The file of a backup, and the folder that a restore uses: what goes wrong there is said in one sentence and loses nothing."""

import errno
import io
import json
import signal
import subprocess
import sys
import zipfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from timemachine.core.pure.errors import Conflict, InvalidInput, Unavailable
from timemachine.embedded.backups import restore
from timemachine.embedded.backups.archive import (
    DATABASE,
    FORMAT,
    Manifest,
    Writer,
    checked_backup,
    new_backup,
)
from timemachine.embedded.backups.restore import restore_backup
from timemachine.embedded.data_folder import only_one


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A data folder that does not exist yet, without any settings."""
    for name in ("DATABASE_OWNER_URL", "DATABASE_URL", "SECRET_KEY", "SECRET_KEY_FALLBACKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TIMEMACHINE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    with new_backup(tmp_path / "small.zip") as writer:
        fill(writer, b"dump")
    return tmp_path / "small.zip"


def fill(writer: Writer, dump: bytes) -> None:
    writer.add(DATABASE, io.BytesIO(dump))
    writer.finish(
        Manifest(
            format=FORMAT,
            created_at="2026-11-28T12:00:00+00:00",
            timemachine="1",
            postgres=15,
            dumped_with=15,
            migrations=[],
            rows={},
            parts=writer.parts,
        )
    )


def test_of_two_backups_with_one_name_the_first_is_kept_whole(tmp_path: Path) -> None:
    file = tmp_path / "backup.zip"
    slow = new_backup(file)
    fill(slow.__enter__(), b"slow")
    with new_backup(file) as quick:
        fill(quick, b"quick")
    with pytest.raises(Conflict, match=r"backup\.zip exists already\. Choose another name\."):
        slow.__exit__(None, None, None)
    assert list(tmp_path.iterdir()) == [file]
    assert file.stat().st_mode & 0o777 == 0o600
    with checked_backup(file) as kept:
        assert kept.open(DATABASE).read() == b"quick"


def test_a_backup_has_its_name_only_when_it_is_complete(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from pathlib import Path; from timemachine.embedded.backups.archive import new_backup;"
        "new_backup(Path(sys.argv[1])).__enter__(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "killed.zip"], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "killed.zip").exists()


def test_a_disk_without_hard_links_gets_a_backup_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    file = tmp_path / "backup.zip"
    with new_backup(file) as writer:
        fill(writer, b"first")
    second = new_backup(tmp_path / "second.zip")
    fill(second.__enter__(), b"second")
    file.rename(tmp_path / "second.zip")
    with pytest.raises(Conflict):
        second.__exit__(None, None, None)
    with checked_backup(tmp_path / "second.zip") as kept:
        assert kept.open(DATABASE).read() == b"first"


def test_only_errors_of_the_file_itself_are_reported_as_such(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), new_backup(tmp_path / "backup.zip"):
        raise PermissionError(13, "something else")
    assert list(tmp_path.iterdir()) == []
    missing = tmp_path / "missing" / "backup.zip"
    with pytest.raises(Unavailable) as refused, new_backup(missing):
        pass
    assert refused.value.message.startswith(f"Cannot write {missing} (No such file or directory")
    assert refused.value.message.endswith("There is no backup.")


def changed(backup: Path, **values: Any) -> None:
    with zipfile.ZipFile(backup) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["manifest.json"] = json.dumps(json.loads(parts["manifest.json"]) | values).encode()
    with zipfile.ZipFile(backup, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


@pytest.mark.parametrize(
    "values",
    [{"migrations": None}, {"rows": [1]}, {"postgres": "new"}, {"created_at": "yesterday"}, {"parts": {}}],
    ids=lambda values: next(iter(values)),
)
def test_a_manifest_with_other_values_is_not_that_of_a_backup(backup: Path, values: dict[str, Any]) -> None:
    changed(backup, **values)
    with pytest.raises(InvalidInput, match=r"is not a backup of Time Machine, or it is incomplete\."):
        restore_backup(backup, with_keys=False)


def test_a_file_with_a_password_is_refused(backup: Path) -> None:
    content = bytearray(backup.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(signature)
        while at >= 0:
            content[at + flags] |= 1
            at = content.find(signature, at + 1)
    backup.write_bytes(content)
    with pytest.raises(InvalidInput, match=r"small\.zip is protected by a password\. Nothing was restored\."):
        restore_backup(backup, with_keys=False)


def test_a_folder_that_cannot_be_used_is_named(backup: Path, home: Path) -> None:
    home.mkdir()
    (home / "lock").mkdir()
    with pytest.raises(Unavailable) as refused:
        restore_backup(backup, with_keys=False)
    assert refused.value.message == (
        f"Cannot restore {backup} (Is a directory: {home / 'lock'}). Nothing was restored."
    )


def test_a_folder_that_another_process_begins_to_use_is_left_alone(
    backup: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ExitStack() as other:

        def lock_after_the_other(folder: Path, owner: str) -> Any:
            other.enter_context(only_one(folder, "http://127.0.0.1:8000"))
            (folder / "secret-key").write_text("theirs\n")
            return only_one(folder, owner)

        monkeypatch.setattr(restore, "only_one", lock_after_the_other)
        with pytest.raises(Conflict, match=r"^Time Machine is already running"):
            restore_backup(backup, with_keys=False)
    assert (home / "secret-key").read_text() == "theirs\n"


def test_a_folder_that_has_data_once_it_is_locked_is_left_alone(
    backup: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lock_after_another_start(folder: Path, owner: str) -> Any:
        (folder / "secret-key").write_text("theirs\n")
        return only_one(folder, owner)

    monkeypatch.setattr(restore, "only_one", lock_after_another_start)
    with pytest.raises(Conflict, match=r"is not empty \(secret-key\)"):
        restore_backup(backup, with_keys=False)
    assert (home / "secret-key").read_text() == "theirs\n"


def test_a_failed_restore_removes_the_folder_that_it_made(backup: Path, home: Path) -> None:
    changed(backup, dumped_with=99)
    with pytest.raises(Unavailable, match=r"Install those of version 99"):
        restore_backup(backup, with_keys=False)
    assert not home.exists()
