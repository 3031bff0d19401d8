"""A database of an earlier version: what it stored is read after the upgrade, and is not stored twice."""

import os
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg.errors import UniqueViolation

from timemachine.core.payloads.stored import received, sent_sql

ROOT = Path(__file__).parents[2]
PROJECT = uuid4()
CONTENTS = (b"", b"short", b"a\x00b", "Prüfung 🕰 ".encode() * 1_000)
INSERT = "INSERT INTO tm_payload (project_id, sha256, media_type, data) VALUES (%s, %s, 'file', %s)"


def migrate(url: str, *words: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_OWNER_URL"}
    command = (sys.executable, "manage.py", "migrate", "--verbosity=0", *words)
    subprocess.run(command, cwd=ROOT, env=environment | {"DATABASE_URL": url}, check=True)


@pytest.fixture
def database() -> Iterator[str]:
    name = f"upgraded_{uuid4().hex}"
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
        yield os.environ["DATABASE_URL"].rsplit("/", 1)[0] + f"/{name}"
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def test_contents_of_an_earlier_version_are_read_after_the_upgrade(database: str) -> None:
    migrate(database, "timemachine", "0013")
    with psycopg.connect(database) as earlier:
        earlier.execute("SET session_replication_role = replica")  # the project does not matter
        for data in CONTENTS:
            earlier.execute(INSERT, [PROJECT, sha256(data).hexdigest(), data])
    migrate(database)
    with psycopg.connect(database, autocommit=True) as now:
        rows = now.execute(
            f"SELECT {sent_sql('p')}, sha256, size FROM tm_payload AS p ORDER BY id"
        ).fetchall()
        assert [received(sent) for sent, _, _ in rows] == list(CONTENTS)
        assert [(digest, size) for _, digest, size in rows] == [
            (sha256(data).digest(), len(data)) for data in CONTENTS
        ]
        again = INSERT.replace("data)", "data, size)").replace("%s)", "%s, %s)")
        with pytest.raises(UniqueViolation):
            now.execute(again, [PROJECT, sha256(b"short").digest(), b"short", 5])
