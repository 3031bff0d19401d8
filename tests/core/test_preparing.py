"""`timemachine manage prepare` on a real server: several at the same time, and databases that cannot be used."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from urllib.parse import quote

import psycopg
import pytest
from django.db import connection
from psycopg.errors import InsufficientPrivilege

from tests.embedded.machine import free_port
from tests.waiting import wait_until
from timemachine.embedded.postgres import AS_NOBODY

pytestmark = pytest.mark.skipif(
    "TEST_DATABASE_URL" in os.environ,
    reason="it needs a server without passwords, where it creates databases",
)


@pytest.fixture
def server(db: None) -> Iterator[psycopg.Connection]:
    """A connection of a superuser to the server of this test run."""
    connection.ensure_connection()
    with psycopg.connect(connection.connection.info.dsn, options="", autocommit=True) as made:
        yield made


@contextmanager
def empty_database(server: psycopg.Connection, options: str = "") -> Iterator[str]:
    """An empty database; yields its name."""
    name = f"empty_{token_hex(4)}"
    server.execute(f"CREATE DATABASE {name} {options}")
    try:
        yield name
    finally:
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def url_of(server: psycopg.Connection, database: str, user: str) -> str:
    return f"postgresql://{quote(user, safe=':')}@{quote(server.info.host or '', safe='')}/{database}"


def preparing(
    server: psycopg.Connection, database: str, home: Path, user: str = "postgres", **settings: str
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "timemachine.management", "prepare"],
        env=os.environ
        | {"DATABASE_URL": url_of(server, database, user), "TIMEMACHINE_HOME": str(home)}
        | settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def refused(process: "subprocess.Popen[str]") -> str:
    """Return the only line that it prints before it ends with an error."""
    printed, complaint = process.communicate(timeout=120)
    assert (process.returncode, printed) == (1, "")
    assert complaint.count("\n") == 1, complaint
    return complaint.strip()


def test_of_two_at_the_same_time_one_prepares_and_the_other_waits(
    server: psycopg.Connection, tmp_path: Path
) -> None:
    with empty_database(server) as database:
        both = [preparing(server, database, tmp_path) for _ in range(2)]
        ended = [each.communicate(timeout=240) for each in both]
        assert [each.returncode for each in both] == [0, 0], ended
        assert all("sign_in_url" in json.loads(printed) for printed, _ in ended)
        assert sorted("Applying timemachine.0001_initial" in log for _, log in ended) == [False, True]
        assert sorted("Another process is preparing the database" in log for _, log in ended) == [False, True]


def test_an_old_pgvector_and_another_encoding_are_refused(server: psycopg.Connection, tmp_path: Path) -> None:
    ascii_only = "ENCODING 'SQL_ASCII' TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'C'"
    with empty_database(server) as old, empty_database(server, ascii_only) as narrow:
        with psycopg.connect(server.info.dsn, dbname=old, autocommit=True) as here:
            here.execute("CREATE EXTENSION vector")
            here.execute("SET allow_system_table_mods = on")
            here.execute("UPDATE pg_extension SET extversion = '0.6.2' WHERE extname = 'vector'")
        processes = [preparing(server, each, tmp_path) for each in (old, narrow)]
        assert "run `ALTER EXTENSION vector UPDATE` in it." in refused(processes[0])
        assert "The database has the encoding SQL_ASCII" in refused(processes[1])


def test_a_missing_permission_is_named(server: psycopg.Connection, tmp_path: Path) -> None:
    weak = f"weak_{token_hex(4)}"
    server.execute(f"CREATE ROLE {weak} LOGIN")
    try:
        with empty_database(server, f"OWNER {weak}") as owned, empty_database(server) as foreign:
            with psycopg.connect(server.info.dsn, dbname=foreign, autocommit=True) as here:
                here.execute("CREATE EXTENSION vector")
            processes = [preparing(server, each, tmp_path, user=weak) for each in (owned, foreign)]
            logs = [each.communicate(timeout=120)[1] for each in processes]
            assert "have a superuser run `CREATE EXTENSION vector`" in logs[0]
            assert f"The user {weak} lacks a permission (permission denied for schema public)" in logs[1]
            assert "Traceback" not in "".join(logs)
    finally:
        server.execute(f"DROP ROLE {weak}")


def test_with_two_roles_the_owner_migrates_and_the_application_cannot_alter(
    server: psycopg.Connection, tmp_path: Path
) -> None:
    owner, application = f"owner_{token_hex(4)}", f"app_{token_hex(4)}"
    server.execute(f"CREATE ROLE {owner} LOGIN")
    try:
        with empty_database(server, f"OWNER {owner}") as database:
            url = url_of(server, database, owner)
            with psycopg.connect(server.info.dsn, dbname=database, options="", autocommit=True) as here:
                here.execute("CREATE EXTENSION vector")
            same = preparing(
                server, database, tmp_path, user=owner, DATABASE_OWNER_URL=f"{url}?application_name=x"
            )
            assert (
                f"The role {owner} in DATABASE_URL may do what the one in DATABASE_OWNER_URL may"
                in refused(same)
            )
            process = preparing(
                server, database, tmp_path, user=f"{application}:of the application", DATABASE_OWNER_URL=url
            )
            assert refused(process) == (
                f"CommandError: The role {application} in DATABASE_URL does not exist, and {owner} is not allowed to create "
                f"roles: have a superuser run `CREATE ROLE {application} LOGIN PASSWORD '…'`."
            )
            server.execute(f"ALTER ROLE {owner} CREATEROLE")
            for _ in range(2):
                process = preparing(
                    server,
                    database,
                    tmp_path,
                    user=f"{application}:of the application",
                    DATABASE_OWNER_URL=url,
                )
                printed, log = process.communicate(timeout=240)
                assert process.returncode == 0, log
                assert "sign_in_url" in json.loads(printed)
            stored = "SELECT rolpassword LIKE 'SCRAM-SHA-256$%%' FROM pg_authid WHERE rolname = %s"
            assert server.execute(stored, [application]).fetchone() == (True,)
            with psycopg.connect(url_of(server, database, application), autocommit=True) as connected:
                assert connected.execute("SELECT count(*) FROM tm_user").fetchone() == (1,)
                for role, may in (("public", False), (application, True)):
                    statement = "SELECT has_function_privilege(%s, 'tm_drop_nearest_index(text)', 'EXECUTE')"
                    assert connected.execute(statement, [role]).fetchone() == (may,)
                for statement in (
                    "TRUNCATE tm_user",
                    "CREATE TABLE extra ()",
                    "CREATE TEMPORARY TABLE extra ()",
                ):
                    with pytest.raises(InsufficientPrivilege):
                        connected.execute(statement)
    finally:
        server.execute(f"DROP ROLE IF EXISTS {application}, {owner}")


def test_two_urls_of_different_databases_are_refused(server: psycopg.Connection, tmp_path: Path) -> None:
    application = f"app_{token_hex(4)}"
    server.execute(f"CREATE ROLE {application} LOGIN")
    sentence = (
        "DATABASE_URL and DATABASE_OWNER_URL lead to different databases: name the same host, port and database in both, "
        "with two users."
    )
    try:
        with empty_database(server) as one, empty_database(server) as other:
            urls = {
                "DATABASE_URL": url_of(server, one, application),
                "DATABASE_OWNER_URL": url_of(server, other, "postgres"),
                "TIMEMACHINE_HOME": str(tmp_path),
            }
            assert refused(preparing(server, one, tmp_path, **urls)) == f"CommandError: {sentence}"
            for command in (
                f"{sys.executable} -m timemachine.config.server 127.0.0.1 {free_port()}",
                f"{sys.executable} -m celery -A timemachine.config worker --pool solo",
                f"{Path(sys.executable).with_name('timemachine')} backup monday.zip",
            ):
                found = subprocess.run(
                    command.split(),
                    env=os.environ | urls | {"CELERY_SKIP_CHECKS": "1"},
                    cwd=tmp_path,
                    capture_output=True,
                    text=True,
                    timeout=60,
                    check=False,
                )
                assert found.returncode == 1
                assert found.stderr.strip().endswith(sentence)
                assert "Traceback" not in found.stderr
    finally:
        server.execute(f"DROP ROLE {application}")


def test_rights_that_cannot_be_revoked_are_named(server: psycopg.Connection, tmp_path: Path) -> None:
    """The owner of the tables does not own the database here, so its REVOKE only warns."""
    owner, application = f"owner_{token_hex(4)}", f"app_{token_hex(4)}"
    server.execute(f"CREATE ROLE {owner} LOGIN")
    server.execute(f"CREATE ROLE {application} LOGIN")
    try:
        with empty_database(server) as database:
            with psycopg.connect(server.info.dsn, dbname=database, options="", autocommit=True) as here:
                here.execute("CREATE EXTENSION vector")
                here.execute(f"GRANT CREATE ON SCHEMA public TO {owner} WITH GRANT OPTION")
                here.execute(f"GRANT CREATE ON DATABASE {database} TO {owner}")
            process = preparing(
                server,
                database,
                tmp_path,
                user=application,
                DATABASE_OWNER_URL=url_of(server, database, owner),
            )
            printed, log = process.communicate(timeout=240)
            assert process.returncode == 0, log
            assert "sign_in_url" in json.loads(printed)
            assert (
                "The server may do more in the database than it needs: have a superuser run "
                f"`REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC, {application}`." in log
            )
    finally:
        server.execute(f"DROP ROLE {application}, {owner}")


def test_a_database_that_does_not_exist_or_respond_is_told_apart(
    server: psycopg.Connection, tmp_path: Path
) -> None:
    missing = preparing(server, "nope", tmp_path)
    away = preparing(server, "nope", tmp_path, DATABASE_URL=f"postgresql://x@127.0.0.1:{free_port()}/x")
    assert "does not accept the user, password or database name" in refused(missing)
    assert "The database cannot be reached. It says:" in refused(away)


@pytest.mark.skipif(
    not shutil.which("pgbouncer", path="/usr/sbin:/usr/bin"), reason="PgBouncer is not installed"
)
@pytest.mark.parametrize(("mode", "code"), [("session", 0), ("transaction", 1), ("statement", 1)])
def test_pgbouncer_is_accepted_by_session_only(
    server: psycopg.Connection, tmp_path: Path, mode: str, code: int
) -> None:
    with empty_database(server) as database, pooler(server, database, tmp_path, mode) as url:
        process = preparing(server, database, tmp_path / "home", DATABASE_URL=url)
        _, log = process.communicate(timeout=240)
        assert process.returncode == code, log
        assert ("set `pool_mode = session`." in log) == bool(code)


@contextmanager
def pooler(server: psycopg.Connection, database: str, folder: Path, mode: str) -> Iterator[str]:
    """Run PgBouncer in front of a database; yields the URL of the database through it."""
    port, settings = free_port(), folder / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\n{database} = host={server.info.host} user=postgres\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\n"
        f"auth_type = any\npool_mode = {mode}\n"
    )
    prefix = AS_NOBODY if os.getuid() == 0 else ()
    program = shutil.which("pgbouncer", path="/usr/sbin:/usr/bin") or ""
    process = subprocess.Popen([*prefix, program, "-q", str(settings)])
    try:
        url = f"postgresql://postgres@127.0.0.1:{port}/{database}"
        wait_until(lambda: _accepts(url))
        yield url
    finally:
        process.terminate()
        process.wait(30)


def _accepts(url: str) -> bool:
    try:
        with psycopg.connect(url, autocommit=True) as made:
            return made.execute("SELECT 1").fetchone() == (1,)
    except psycopg.OperationalError:
        return False
