"""The migration of hashes to bytes: a large table is converted while an earlier server records."""

import os
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.errors import RestrictViolation, UniqueViolation

migration = import_module("timemachine.migrations.0014_payload_hashes")
PROJECT = uuid4()
EARLIER = """
CREATE TABLE tm_payload (
    id bigserial PRIMARY KEY, project_id uuid NOT NULL, sha256 varchar(64) NOT NULL, media_type varchar(20) NOT NULL,
    data bytea NOT NULL, size bigint GENERATED ALWAYS AS (length(data)) STORED NOT NULL, created_at timestamptz DEFAULT now(),
    CONSTRAINT payload_once UNIQUE (project_id, sha256, media_type)
);
CREATE FUNCTION tm_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON tm_payload FOR EACH ROW EXECUTE FUNCTION tm_refuse_change();
"""
INSERT = "INSERT INTO tm_payload (project_id, sha256, media_type, data) VALUES (%s, %s, 'file', %s)"


class Interrupted(Exception):
    """The migration was killed."""


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the URL of a database with the table of an earlier version and 20 rows."""
    monkeypatch.setattr(migration, "AT_ONCE", 5)
    name = f"hashes_{uuid4().hex}"
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        url = os.environ["DATABASE_URL"].rsplit("/", 1)[0] + f"/{name}"
        with psycopg.connect(url, autocommit=True) as owner:
            owner.execute(EARLIER)
            for number in range(20):
                record(owner, str(number))
        yield url
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def record(connection: psycopg.Connection, text: str) -> None:
    """Store a payload as an earlier version does."""
    connection.execute(INSERT, [PROJECT, sha256(text.encode()).hexdigest(), text.encode()])


def migrated(url: str, *, after: dict[str, Any] | None = None) -> psycopg.Connection:
    """Migrate; call what is to be called after the first statement that begins with these words."""
    calls = dict(after or {})

    class Watched(psycopg.Cursor[Any]):
        def execute(self, query: Any, *rest: Any, **more: Any) -> Any:
            done = super().execute(query, *rest, **more)
            for words in [each for each in calls if query.lstrip().startswith(each)]:
                calls.pop(words)()
            return done

    connection = psycopg.connect(url, autocommit=True, cursor_factory=Watched)
    try:
        migration.convert(None, SimpleNamespace(connection=connection))
    except Interrupted:
        connection.close()
        raise
    return connection


def assert_converted(connection: psycopg.Connection, rows: int) -> None:
    found = connection.execute("SELECT data, sha256 FROM tm_payload").fetchall()
    assert [each for _, each in found] == [sha256(data).digest() for data, _ in found]
    assert len(found) == rows
    columns = "SELECT attname::text FROM pg_attribute WHERE attrelid = 'tm_payload'::regclass AND attnum > 0 AND NOT attisdropped"
    assert {name for (name,) in connection.execute(columns)} == {
        "id", "project_id", "sha256", "media_type", "data", "size", "created_at"
    }  # fmt: skip
    data, digest = found[0]
    with pytest.raises(UniqueViolation):
        connection.execute(INSERT, [PROJECT, digest, data])
    for change in ("UPDATE tm_payload SET sha256 = '\\x00'", "DELETE FROM tm_payload"):
        with pytest.raises(RestrictViolation):
            connection.execute(change)
    triggers = (
        "SELECT tgname::text FROM pg_trigger WHERE tgrelid = 'tm_payload'::regclass AND NOT tgisinternal"
    )
    assert [name for (name,) in connection.execute(triggers)] == ["append_only"]
    connection.close()


def test_a_small_table_is_rewritten(database: str) -> None:
    assert_converted(migrated(database), 20)


def test_an_earlier_server_records_while_a_large_table_is_converted(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migration, "SMALL", 0)
    with psycopg.connect(database, autocommit=True) as earlier:
        steps = ("UPDATE", "CREATE UNIQUE INDEX", "ALTER TABLE tm_payload VALIDATE")
        after = {words: lambda words=words: record(earlier, words) for words in steps}
        assert_converted(migrated(database, after=after), 23)


@pytest.mark.parametrize("step", ["UPDATE", "CREATE UNIQUE INDEX", "ALTER TABLE tm_payload VALIDATE"])
def test_a_conversion_that_was_interrupted_continues(
    database: str, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(migration, "SMALL", 0)

    def die() -> None:
        raise Interrupted

    with suppress(Interrupted):
        migrated(database, after={step: die})
    with psycopg.connect(database, autocommit=True) as earlier:
        record(earlier, "between")
        with pytest.raises(RestrictViolation):
            earlier.execute("UPDATE tm_payload SET data = ''")
    assert_converted(migrated(database), 21)


def test_an_altered_hash_does_not_stop_the_migration_and_stays_another(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migration, "SMALL", 0)
    with psycopg.connect(database, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute("UPDATE tm_payload SET sha256 = 'altered' WHERE id = 3")
    with migrated(database) as connection:
        found = connection.execute("SELECT sha256 FROM tm_payload WHERE id = 3").fetchone()
        assert found == (b"altered",)
