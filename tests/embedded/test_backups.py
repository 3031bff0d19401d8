"""`timemachine backup` and `timemachine restore`, from a running product into a new data folder or another database."""

import json
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.e2e.product import OwnProduct
from tests.embedded.conftest import Start
from tests.embedded.homes import copied
from tests.embedded.machine import Machine, clean_environment
from tests.waiting import wait_until
from timemachine.client.client import Client
from timemachine.client.server import Server
from timemachine.embedded.backups.databases import is_empty
from timemachine.verifier import tm_verify


@dataclass(kw_only=True)
class Original:
    """What the first product had, and the backup that was made while it recorded."""

    backup: Path
    answer: dict[str, Any]
    bundle: Path
    fingerprint: str
    session: str
    replay: str
    share_path: str
    counts: dict[str, int]
    written_before: int


@pytest.fixture(scope="module")
def original(used_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Original:
    """Record a session, replay, share and seal it, and back up while another session is recorded."""
    folder = tmp_path_factory.mktemp("backups")
    machine = Machine(copied(used_home, folder / "home")).ready()
    try:
        with client_of(machine) as client:
            demo = client.load_demo()
            session, replay = demo["session"]["id"], demo["replays"][0]["id"]
            bundle = folder / "before.zip"
            client.evidence.of_session(session, bundle)
            fingerprint = client.evidence.seal_of_session(session)["key"]
            assert fingerprint is not None
            assert demo["share_url"] is not None
            client.sessions.start("Goes on", key="goes-on")
            with recording(machine) as written:
                wait_until(lambda: written)
                before = written[-1]
                answer = run(machine.home, "backup", str(folder / "all.zip"), "--json")
                assert answer.returncode == 0, answer.stderr
            return Original(
                backup=folder / "all.zip",
                answer=json.loads(answer.stdout),
                bundle=bundle,
                fingerprint=fingerprint,
                session=session,
                replay=replay,
                share_path=httpx.URL(demo["share_url"]).path,
                counts=counts_of(client, session, replay),
                written_before=before,
            )
    finally:
        machine.end()


@pytest.fixture
def other_database() -> Iterator[str]:
    """An empty database on the server of this run."""
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("CREATE DATABASE to_restore")
        yield os.environ["DATABASE_URL"].rsplit("/", 1)[0] + "/to_restore"
        connection.execute("DROP DATABASE to_restore WITH (FORCE)")


def test_a_restored_product_has_everything_and_its_evidence_verifies(
    original: Original, tmp_path: Path, start: Start
) -> None:
    assert original.backup.stat().st_mode & 0o777 == 0o600
    assert (original.answer["with_keys"], original.answer["sessions"]) == (True, 2)
    home = tmp_path / "new"
    restored = run(home, "restore", str(original.backup))
    assert restored.returncode == 0, restored.stderr
    assert restored.stdout.startswith(f"Restored into {home}: 2 sessions, ")
    assert sorted(path.name for path in home.iterdir()) == [
        "local-key",
        "lock",
        "postgres",
        "run",
        "secret-key",
    ]
    assert (home / "secret-key").stat().st_mode & 0o777 == 0o600
    machine = start(home).ready()
    with client_of(machine) as client:
        assert counts_of(client, original.session, original.replay) == original.counts
        sequences = [each["sequence"] for each in client.sessions.actions("goes-on")]
        assert sequences == [*range(1, len(sequences) + 1)]
        assert len(sequences) > original.written_before
        assert client.audit_log.check()["broken"] is None
        bundle = tmp_path / "after.zip"
        client.evidence.of_session(original.session, bundle)
        assert client.sessions.append("goes-on", [{"kind": "event", "name": "after"}]) == [len(sequences) + 1]
    report = tm_verify.verify(str(bundle), original.fingerprint, str(original.bundle))
    assert report.as_json()["result"] == "verified"
    product = OwnProduct(machine)
    cookies = {each["name"]: each["value"] for each in product.cookies()}
    assert httpx.get(product.url + original.share_path, timeout=60).status_code == 200
    with httpx.Client(base_url=product.url, cookies=cookies, timeout=60) as browser:
        for path in ("/", f"/sessions/{original.session}/", f"/replays/{original.replay}/", "/shares/"):
            assert browser.get(path).status_code == 200
    again = run(home, "restore", str(original.backup))
    assert (again.returncode, again.stderr.partition(":")[0]) == (1, "Time Machine is already running")


def test_a_backup_is_restored_into_another_empty_database_and_backed_up_from_there(
    original: Original, other_database: str, tmp_path: Path
) -> None:
    with zipfile.ZipFile(original.backup) as archive:
        key = archive.read("secret-key").decode().strip()
    keys = {"DATABASE_URL": other_database, "SECRET_KEY": "another"}
    refused = run(tmp_path / "home", "restore", str(original.backup), **keys)
    assert refused.stderr.startswith("SECRET_KEY is set to another key than the one in the backup.")
    keys["SECRET_KEY_FALLBACKS"] = key
    restored = run(tmp_path / "home", "restore", str(original.backup), **keys)
    assert restored.returncode == 0, restored.stderr
    assert not (tmp_path / "home" / "secret-key").exists()
    full = run(tmp_path / "home", "restore", str(original.backup), **keys)
    assert (full.returncode, "is not empty. Nothing was restored." in full.stderr) == (1, True)
    wrong = run(
        tmp_path / "home", "backup", str(tmp_path / "wrong.zip"), **(keys | {"SECRET_KEY_FALLBACKS": ""})
    )
    assert "is not the one that the server uses" in wrong.stderr
    assert not list(tmp_path.glob("wrong.zip*"))
    made = run(tmp_path / "home", "backup", str(tmp_path / "again.zip"), "--without-keys", **keys)
    assert made.returncode == 0, made.stderr
    assert "It does not contain the private keys." in made.stdout
    first, second = (
        json.loads(zipfile.ZipFile(file).read("manifest.json"))
        for file in (original.backup, tmp_path / "again.zip")
    )
    assert first["rows"] == second["rows"]
    assert second["parts"].keys() == {"database.dump"}
    without = run(tmp_path / "third", "restore", str(tmp_path / "again.zip"))
    assert without.stderr.startswith("The backup has no secret key. Set SECRET_KEY")
    assert not (tmp_path / "third").exists()


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (
            lambda data: b"nothing",
            "is not a backup of Time Machine, or it is incomplete. Nothing was restored.",
        ),
        (lambda data: data[: len(data) // 2], "is not a backup of Time Machine, or it is incomplete."),
        (
            lambda data: data[:5000] + bytes([data[5000] ^ 1]) + data[5001:],
            "is damaged: database.dump is not what",
        ),
        (lambda data: data.replace(b'"format": 1', b'"format": 2'), "is not a backup"),
    ],
    ids=["another file", "half", "one bit", "manifest"],
)
def test_a_damaged_backup_is_refused(original: Original, tmp_path: Path, damage: Any, says: str) -> None:
    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(damage(original.backup.read_bytes()))
    refused = run(tmp_path / "home", "restore", str(damaged))
    assert refused.returncode == 1
    assert says in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": 2}, "has format 2, this version of Time Machine reads format 1."),
        ({"migrations": ["0001_initial", "9999_later"]}, "was made by a newer version of Time Machine"),
        ({"postgres": 99}, "The backup is from PostgreSQL 99, and this server is 18."),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_backup_that_does_not_fit_leaves_nothing(
    original: Original, other_database: str, tmp_path: Path, change: dict[str, Any], says: str
) -> None:
    changed = with_manifest(original.backup, tmp_path / "changed.zip", change)
    refused = run(tmp_path / "home", "restore", str(changed), DATABASE_URL=other_database)
    assert (refused.returncode, says in refused.stderr) == (1, True), refused.stderr
    assert not (tmp_path / "home").exists()
    with psycopg.connect(other_database) as connection:
        assert is_empty(connection)


def test_a_database_that_was_filled_before_the_restore_failed_is_named(
    original: Original, other_database: str, tmp_path: Path
) -> None:
    changed = with_manifest(original.backup, tmp_path / "changed.zip", {"rows": {}})
    failed = run(tmp_path / "home", "restore", str(changed), DATABASE_URL=other_database)
    assert failed.stderr.startswith("What was restored does not have the rows that the backup lists. ")
    assert "is already filled. Drop it, create a new one and restore into that." in failed.stderr
    assert not (tmp_path / "home").exists()


def test_a_failed_restore_removes_the_database_that_it_began(original: Original, tmp_path: Path) -> None:
    changed = with_manifest(original.backup, tmp_path / "changed.zip", {"dumped_with": 99})
    home = tmp_path / "home"
    home.mkdir()
    failed = run(home, "restore", str(changed))
    assert "Install those of version 99" in failed.stderr
    assert {path.name for path in home.iterdir()} <= {"lock", "run"}


def test_a_folder_with_data_is_not_touched(original: Original, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "notes.txt").write_text("mine")
    refused = run(tmp_path / "home", "restore", str(original.backup))
    assert refused.stderr == (
        f"{tmp_path / 'home'} is not empty (notes.txt). Nothing was restored. Set TIMEMACHINE_HOME to a new folder.\n"
    )
    assert (tmp_path / "home" / "notes.txt").read_text() == "mine"


def test_a_backup_is_never_overwritten_and_a_failed_one_leaves_no_file(
    original: Original, tmp_path: Path
) -> None:
    file = tmp_path / "backup.zip"
    missing = run(tmp_path / "home", "backup", str(file))
    assert (
        missing.stderr == f"There is no data in {tmp_path / 'home'}. Set TIMEMACHINE_HOME or DATABASE_URL.\n"
    )
    address = os.environ["DATABASE_URL"].rsplit("/", 1)[0]
    for database, says in (
        ("postgres", "This database has no data of Time Machine."),
        ("missing", "The database does not work: connection failed: "),
    ):
        failed = run(tmp_path, "backup", str(file), DATABASE_URL=f"{address}/{database}", SECRET_KEY="k")
        assert failed.stderr.startswith(says), failed.stderr
    assert list(tmp_path.iterdir()) == []
    shutil.copy(original.backup, file)
    home = {"DATABASE_URL": os.environ["DATABASE_URL"], "SECRET_KEY": "k"}
    refused = run(tmp_path, "backup", str(file), **home)
    assert refused.stderr == f"{file} exists already. Choose another name.\n"


def run(home: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command with that data folder."""
    return subprocess.run(
        [Path(sys.executable).with_name("timemachine"), *words],
        env=clean_environment() | {"TIMEMACHINE_HOME": str(home)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def with_manifest(backup: Path, to: Path, change: dict[str, Any]) -> Path:
    """Copy a backup with a changed manifest."""
    with zipfile.ZipFile(backup) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "manifest.json":
                content = json.dumps(json.loads(content) | change).encode()
            new.writestr(name, content)
    return to


def client_of(machine: Machine) -> Client:
    key = (machine.home / "local-key").read_text().strip()
    return Client(Server(url=f"http://127.0.0.1:{machine.port}", key=key))


@contextmanager
def recording(machine: Machine) -> Iterator[list[int]]:
    """Append steps to a session in another thread; yield the sequences that were confirmed."""
    written: list[int] = []
    stopping = threading.Event()

    def record() -> None:
        with client_of(machine) as client:
            while not stopping.is_set():
                written.extend(client.sessions.append("goes-on", [{"kind": "event", "name": "tick"}] * 5))

    thread = threading.Thread(target=record)
    thread.start()
    try:
        yield written
    finally:
        stopping.set()
        thread.join()


def counts_of(client: Client, session: str, replay: str) -> dict[str, int]:
    """Count what was finished before the backup."""
    return {
        "steps": len(list(client.sessions.actions(session))),
        "replayed": len(list(client.replays.steps(replay))),
        "shares": len(client.shares.page()["items"]),
        "keys": len(client.evidence.keys()["items"]),
    }
