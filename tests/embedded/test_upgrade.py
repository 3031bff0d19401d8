"""A data folder whose database is from another major version of PostgreSQL, from recording on the old one to its evidence on the new one."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.embedded.conftest import Start
from tests.embedded.homes import copied
from tests.embedded.machine import Machine, clean_environment
from tests.embedded.test_backups import client_of, counts_of, run
from tests.small_disks import small_disk
from tests.waiting import wait_until
from timemachine.embedded import children, postgres
from timemachine.embedded.data_folder import socket_folder
from timemachine.embedded.postgres import Cluster
from timemachine.verifier import tm_verify

OLD = 16
pytestmark = pytest.mark.skipif(
    OLD not in postgres.other_binaries(), reason=f"the wheel has no PostgreSQL {OLD}"
)


@contextmanager
def old_server(data: Path, folder: Path) -> Iterator[Cluster]:
    """Run a cluster of the old version, and create it if needed."""
    folder.mkdir(exist_ok=True)
    cluster = Cluster(
        data=data,
        sockets=socket_folder(folder),
        log=folder / "postgres.log",
        binaries=postgres.other_binaries()[OLD],
    )
    if not data.exists():
        account = postgres._account()
        options = ("--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
        data.mkdir(mode=0o700)
        postgres._change_owner(data, account.owner)
        children.run(postgres._program(cluster, account, "initdb", f"--pgdata={data}", *options))
        single = ("--single", "-c", "exit_on_error=on", "-D", str(data), "postgres")
        children.run(
            postgres._program(cluster, account, "postgres", *single), "CREATE DATABASE timemachine\n"
        )
    server = postgres.start(cluster)
    try:
        yield cluster
    finally:
        postgres.stop(server)


@contextmanager
def ending(machine: Machine) -> Iterator[None]:
    """Stop the machine after the block."""
    try:
        yield
    finally:
        assert machine.end() == 0


class Recorded:
    """A data folder as the old version leaves it, its backup, and the evidence of a session in it."""

    def __init__(self, folder: Path, start: Start) -> None:
        self.home, self.backup, self.bundle = folder / "home", folder / "old.zip", folder / "before.zip"
        data = folder / "data"
        with old_server(data, folder / "old") as cluster:
            urls = {"DATABASE_URL": cluster.owner_url, "DATABASE_OWNER_URL": cluster.owner_url}
            machine = start(self.home, **urls).ready()
            with ending(machine), client_of(machine) as client:
                demo = client.load_demo()
                self.session, self.replay = demo["session"]["id"], demo["replays"][0]["id"]
                client.evidence.of_session(self.session, self.bundle)
                self.fingerprint = client.evidence.seal_of_session(self.session)["key"] or ""
                self.counts = counts_of(client, self.session, self.replay)
            made = run(self.home, "backup", str(self.backup), **urls)
            assert made.returncode == 0, made.stderr
        data.rename(self.home / "postgres")

    def check(self, home: Path, start: Start, folder: Path) -> None:
        """Start what was made of it, compare it with what was recorded, and verify its evidence."""
        machine = start(home).ready()
        with client_of(machine) as client:
            assert counts_of(client, self.session, self.replay) == self.counts
            assert client.audit_log.check()["broken"] is None
            bundle = folder / "after.zip"
            client.evidence.of_session(self.session, bundle)
            client.sessions.start("After", key="after")
            client.sessions.append("after", [{"kind": "event", "name": "after"}])
        assert machine.end() == 0
        verified = run(
            home, "evidence", "verify", str(bundle), "--key", self.fingerprint, "--older", str(self.bundle)
        )
        assert "VERIFIED" in verified.stdout
        report = tm_verify.verify(str(bundle), self.fingerprint, str(self.bundle))
        assert report.as_json()["result"] == "verified"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return Recorded(tmp_path_factory.mktemp("recorded"), Machine)


def test_one_command_moves_a_data_folder_to_the_new_version(
    recorded: Recorded, tmp_path: Path, start: Start
) -> None:
    home = copied(recorded.home, tmp_path / "home")
    says = f"The data in {home / 'postgres'} is from PostgreSQL {OLD}, and this version of Time Machine runs PostgreSQL 18."
    machine = start(home)
    assert machine.process.wait(60) == 1
    for said in (machine.output, run(home, "backup", str(tmp_path / "x.zip")).stderr):
        assert (
            said.strip()
            == f"{says} Nothing was changed. Make a copy for the new one with `timemachine upgrade`."
        )
    findings = json.loads(run(home, "doctor", "--json").stdout)["items"]
    assert says in next(each["message"] for each in findings if each["name"] == "database files")
    upgraded = run(home, "upgrade")
    assert upgraded.returncode == 0, upgraded.stderr
    assert upgraded.stdout.startswith(f"The database moved from PostgreSQL {OLD} to 18, with all its rows.")
    assert postgres.version_of(home / "postgres") == postgres.VERSION
    assert postgres.version_of(home / f"postgres-{OLD}") == OLD
    assert not (home / "upgrading").exists()
    recorded.check(home, start, tmp_path)
    again = run(home, "upgrade", "--json")
    assert json.loads(again.stdout) == {"before": 18, "after": 18, "kept": None}


def test_a_backup_of_the_old_version_is_restored_with_the_new_one(
    recorded: Recorded, tmp_path: Path, start: Start
) -> None:
    restored = run(tmp_path / "home", "restore", str(recorded.backup))
    assert restored.returncode == 0, restored.stderr
    recorded.check(tmp_path / "home", start, tmp_path)


def test_a_killed_upgrade_loses_nothing(recorded: Recorded, tmp_path: Path) -> None:
    home = copied(recorded.home, tmp_path / "home")
    command = [str(Path(sys.executable).with_name("timemachine")), "upgrade"]
    environment = clean_environment() | {"TIMEMACHINE_HOME": str(home)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as upgrading:
        wait_until((home / "upgrading" / "postgres").is_dir)
        upgrading.send_signal(signal.SIGKILL)
    assert postgres.version_of(home / "postgres") == OLD
    assert run(home, "upgrade").returncode == 0
    (home / "upgrading").mkdir()
    (home / "postgres").rename(home / "upgrading" / "postgres")  # as if it was killed before its last step
    refused = run(home, "backup", str(tmp_path / "x.zip"))
    assert refused.stderr.strip() == (
        f"An upgrade of {home / 'postgres'} was interrupted. Finish it with `timemachine upgrade`."
    )
    finished = run(home, "upgrade", "--json")
    assert json.loads(finished.stdout) == {"before": OLD, "after": 18, "kept": str(home / f"postgres-{OLD}")}
    assert run(home, "backup", str(tmp_path / "x.zip")).returncode == 0


@pytest.mark.parametrize(
    ("version", "says"),
    [
        (
            "15",
            "which this version of Time Machine cannot start. The data is as before. Install the version of Time Machine",
        ),
        ("19", "Nothing was changed. Install the newer version of Time Machine again."),
    ],
)
def test_data_that_cannot_be_upgraded_is_left_alone(tmp_path: Path, version: str, says: str) -> None:
    data = tmp_path / "home" / "postgres"
    data.mkdir(parents=True, mode=0o700)
    (data / "PG_VERSION").write_text(f"{version}\n")
    refused = run(tmp_path / "home", "upgrade")
    assert refused.returncode == 1
    assert says in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert [path.name for path in data.iterdir()] == ["PG_VERSION"]
    backup = run(tmp_path / "home", "backup", str(tmp_path / "x.zip"))
    assert f"is from PostgreSQL {version}" in backup.stderr
    assert len(backup.stderr.splitlines()) == 1


def test_an_upgrade_on_a_full_disk_leaves_the_old_data(recorded: Recorded, tmp_path: Path) -> None:
    used = int(subprocess.check_output(["du", "-sm", recorded.home]).split()[0])
    with small_disk(tmp_path / "disk", owner=tmp_path.stat(), megabytes=used + 40) as disk:
        home = copied(recorded.home, disk / "home")
        refused = run(home, "upgrade")
        assert refused.returncode == 1
        assert len(refused.stderr.splitlines()) == 1
        assert refused.stderr.startswith("The copy needs ")
        assert "The data is as before. Make more space." in refused.stderr
        assert postgres.version_of(home / "postgres") == OLD
        assert not (home / "upgrading").exists()
        with old_server(home / "postgres", tmp_path / "old"):
            pass  # it still starts


def test_an_upgrade_that_is_refused_leaves_the_old_data(recorded: Recorded, tmp_path: Path) -> None:
    home = copied(recorded.home, tmp_path / "home")
    (home / f"postgres-{OLD}").mkdir()
    assert "exists already. Move it elsewhere." in run(home, "upgrade").stderr
    shutil.rmtree(home / f"postgres-{OLD}")
    elsewhere = run(home, "upgrade", DATABASE_URL="postgresql://me@host/mine")
    assert elsewhere.stderr.startswith("DATABASE_URL is set. Remove it to upgrade the database in")
    nothing = run(tmp_path / "nothing", "upgrade")
    assert nothing.stderr.strip() == f"There is no data in {tmp_path / 'nothing'}. Set TIMEMACHINE_HOME."
    assert postgres.version_of(home / "postgres") == OLD
