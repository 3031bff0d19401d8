"""A data folder of an earlier version: what it stored is read, and what is new is stored in the new form."""

import json
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.embedded.conftest import Start
from tests.embedded.homes import copied
from tests.embedded.machine import Machine
from timemachine.core.pure.home import RunningServer

EARLIER_TABLE = """
ALTER TABLE tm_payload ALTER COLUMN sha256 TYPE varchar(64) USING encode(sha256, 'hex');
ALTER TABLE tm_payload DROP COLUMN packed, DROP COLUMN size CASCADE;
ALTER TABLE tm_payload ADD COLUMN size bigint GENERATED ALWAYS AS (length(data)) STORED NOT NULL;
ALTER TABLE tm_payload ALTER COLUMN data SET STORAGE EXTENDED;
DELETE FROM django_migrations WHERE app = 'timemachine' AND name >= '0014';
"""
"""Undoes the migrations from `0014_payload_hashes` on."""
EARLIER, LONG = "stored by the earlier version", "stored by this version " * 100


@pytest.fixture
def home(used_home: Path, tmp_path: Path) -> Path:
    return copied(used_home, tmp_path / "home")


def program(machine: Machine) -> httpx.Client:
    key = (machine.home / "local-key").read_text().strip()
    return httpx.Client(
        base_url=f"http://127.0.0.1:{machine.port}/api", headers={"Authorization": f"Bearer {key}"}
    )


def record(client: httpx.Client, *outputs: str) -> None:
    steps = [{"kind": "event", "output": output} for output in outputs]
    client.post("/sessions/upgraded/actions", json={"actions": steps}).raise_for_status()


def test_contents_that_are_not_packed_are_read_after_the_upgrade(home: Path, start: Start) -> None:
    before = start(home).ready()
    with program(before) as client:
        client.post("/sessions", json={"name": "Upgraded", "key": "upgraded"}).raise_for_status()
        record(client, EARLIER)
    server = RunningServer(**json.loads((home / "server.json").read_text()))
    with psycopg.connect(server.database_owner_url) as owner:
        owner.execute(EARLIER_TABLE)
    before.end()
    (home / "prepared").unlink()

    with program(start(home).ready()) as client:
        record(client, LONG, EARLIER)
        steps = [client.get(f"/sessions/upgraded/actions/{number}").json() for number in (1, 2, 3)]
        assert [each["output"] for each in steps] == [EARLIER, LONG, EARLIER]
