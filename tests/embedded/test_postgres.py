"""The embedded Postgres server, started alone."""

import os
import shutil
import subprocess
from pathlib import Path

import psycopg
import pytest

from timemachine.core.pure.errors import Unavailable
from timemachine.embedded import postgres
from timemachine.embedded.children import processes_in
from timemachine.embedded.data_folder import SOCKET, clear_socket_folder, socket_folder
from timemachine.embedded.postgres import Cluster

as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root may become somebody else")
with_namespaces = pytest.mark.skipif(
    not postgres._has_user_namespaces(), reason="there are no user namespaces"
)


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(
        data=tmp_path / "postgres",
        sockets=socket_folder(tmp_path),
        log=tmp_path / "postgres.log",
        throwaway=True,
    )


def test_the_suite_runs_on_a_postgres_with_vectors() -> None:
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        version = connection.execute("SHOW server_version_num").fetchone()
        vector = connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone()
    assert version is not None
    assert int(version[0]) >= 150_000
    assert vector == (1,)


def test_lock_files_with_the_pid_of_another_process_do_not_prevent_a_start(cluster: Cluster) -> None:
    postgres.stop(postgres.start(cluster))
    (cluster.data / "postmaster.pid").write_text(f"{os.getpid()}\n{cluster.data}\n0\n5432\n")
    (cluster.sockets / f"{SOCKET}.lock").write_text(f"{os.getpid()}\n{cluster.data}\n0\n5432\n")
    assert _one_row(cluster) == (1,)


def test_the_log_has_no_text_of_a_failed_statement_or_its_row(cluster: Cluster) -> None:
    server = postgres.start(cluster)
    with psycopg.connect(
        cluster.owner_url, autocommit=True, cursor_factory=psycopg.ClientCursor
    ) as connection:
        connection.execute("CREATE TABLE said (words text UNIQUE)")
        connection.execute("INSERT INTO said VALUES (%s)", ["Zqcanary7Kx"])
        with pytest.raises(psycopg.errors.UniqueViolation, match="Zqcanary7Kx"):
            connection.execute("INSERT INTO said VALUES (%s)", ["Zqcanary7Kx"])
    postgres.stop(server)
    log = cluster.log.read_text()
    assert "duplicate key value violates" in log
    assert "Zqcanary7Kx" not in log


def test_a_server_left_running_is_stopped_before_the_start(cluster: Cluster) -> None:
    left_running = postgres.start(cluster)
    assert _one_row(cluster) == (1,)
    assert left_running.wait(1) == 0


def test_leftovers_of_an_interrupted_start_are_removed(cluster: Cluster) -> None:
    draft = cluster.data.with_name("postgres.new")
    draft.mkdir()
    (draft / "half").write_text("made")
    assert _one_row(cluster) == (1,)
    assert not draft.exists()


def test_data_that_is_not_a_cluster_is_refused_with_the_reason(cluster: Cluster) -> None:
    cluster.data.mkdir(mode=0o700)
    with pytest.raises(Unavailable, match=r"Postgres ended before it was ready: .*postgresql\.conf"):
        postgres.start(cluster)


@as_root
@with_namespaces
def test_without_user_namespaces_it_runs_as_user_nobody_and_later_as_root_again(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres.stop(postgres.start(cluster))
    assert cluster.data.stat().st_uid == 0
    with monkeypatch.context() as changed:
        changed.setenv("PATH", _only("setpriv", tmp_path))
        server = postgres.start(cluster)
        assert _uid(server.pid) == postgres.NOBODY
        assert _one_row(cluster, running=True) == (1,)
        postgres.stop(server)
    assert cluster.data.stat().st_uid == postgres.NOBODY
    assert _one_row(cluster) == (1,)
    assert cluster.data.stat().st_uid == 0


@as_root
def test_root_without_the_required_programs_gets_an_error_with_a_remedy(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match="Start Time Machine as an ordinary user, or set DATABASE_URL"):
        postgres.start(cluster)


def test_a_home_path_too_long_or_unusual_for_a_socket_gets_a_short_folder(tmp_path: Path) -> None:
    for name in ("x" * 100, "a, b", "ö"):
        home = tmp_path / name
        folder = socket_folder(home)
        assert folder.parent != home
        assert folder.stat().st_mode & 0o777 == 0o700
        assert socket_folder(home) == folder
        clear_socket_folder(home, folder)
        assert not folder.exists()


def test_a_socket_folder_that_others_can_enter_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run").chmod(0o755)
    with pytest.raises(Unavailable, match="accessible to others"):
        socket_folder(tmp_path)


def _one_row(cluster: Cluster, *, running: bool = False) -> tuple[object, ...] | None:
    """Start the cluster, run a query, and stop it."""
    server = None if running else postgres.start(cluster)
    with psycopg.connect(cluster.owner_url) as connection:
        row = connection.execute("SELECT 1").fetchone()
    if server:
        postgres.stop(server)
        assert list(processes_in(cluster.data)) == []
    return row


def _only(program: str, folder: Path) -> str:
    found = shutil.which(program)
    assert found
    (folder / "bin").mkdir()
    (folder / "bin" / program).symlink_to(found)
    return str(folder / "bin")


def _uid(pid: int) -> int:
    return int(
        subprocess.run(["/bin/ps", "-o", "uid=", "-p", str(pid)], capture_output=True, check=True).stdout
    )
