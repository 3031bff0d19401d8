"""The product on the oldest PostgreSQL that it supports. All other tests run on the newest, which comes with it."""

import json
import urllib.request
from pathlib import Path
from typing import Any

import httpx
from django.db import connection

from tests.e2e import replaying
from tests.e2e.product import OwnProduct
from tests.embedded.conftest import Start
from tests.embedded.machine import Machine
from tests.embedded.oldest_postgres import old_server
from tests.embedded.test_backups import client_of, counts_of, run
from tests.waiting import wait_until
from timemachine.core.pure.database_requirements import NEWEST_POSTGRES
from timemachine.verifier import tm_verify

PAGES = (
    "/",
    "/?q=cats",
    "/search/?q=cats",
    "/costs/",
    "/costs/?by=tag",
    "/patterns/",
    "/collections/",
    "/comparisons/",
    "/suites/",
    "/shares/",
    "/settings/audit-log/",
)


def test_the_product_works_on_the_oldest_postgresql_that_it_supports(tmp_path: Path, start: Start) -> None:
    with old_server(tmp_path) as server:
        database = server.create_database("original")
        machine = start(tmp_path / "home", **database).ready()
        assert (found := checks(machine))["triggers"]["ok"], found
        assert "cannot change tables or triggers" in found["role"]["message"]
        with client_of(machine) as client:
            demo = client.load_demo()
            session, replay = demo["session"]["id"], demo["replays"][0]["id"]
            client.evidence.of_session(session, tmp_path / "before.zip")
            fingerprint = client.evidence.seal_of_session(session)["key"]
            for by in ("agent", "model", "tag", "day", "tool"):
                assert client.costs(by)["totals"]["actions"], by
            counts = counts_of(client, session, replay)
        product = OwnProduct(machine)
        replay_again(product)
        with client_of(machine) as client:
            wait_until(lambda: client.search("cats")["items"])
        open_pages(product, f"/sessions/{session}/", f"/replays/{replay}/")

        assert (made := run(machine.home, "backup", str(tmp_path / "all.zip"), **database)).returncode == 0, (
            made
        )
        assert machine.end() == 0
        restored = server.create_database("restored")
        done = run(machine.home, "restore", str(tmp_path / "all.zip"), **restored)
        assert done.returncode == 0, done.stderr
        again = start(machine.home, **restored).ready()
        with client_of(again) as client:
            assert counts_of(client, session, replay) == counts
            client.evidence.of_session(session, tmp_path / "after.zip")
        report = tm_verify.verify(str(tmp_path / "after.zip"), fingerprint, str(tmp_path / "before.zip"))
        assert report.as_json()["result"] == "verified"
        assert again.end() == 0


def replay_again(product: OwnProduct) -> None:
    """Record a session and replay it with the local model."""
    with replaying.client(product) as api:
        session = replaying.recorded(api)
        launched = api.post(f"/sessions/{session}/replays", json={"audit": True, "reason": "old"})
        assert launched.status_code == 202, launched.text
        assert replaying.finished(api, launched.json()["replay_id"])["status"] == "done"


def open_pages(product: OwnProduct, *others: str) -> None:
    cookies = {each["name"]: each["value"] for each in product.cookies()}
    with httpx.Client(base_url=product.url, cookies=cookies, timeout=60) as browser:
        for path in (*PAGES, *others):
            assert browser.get(path).status_code == 200, path


def checks(machine: Machine) -> dict[str, dict[str, Any]]:
    with urllib.request.urlopen(f"http://127.0.0.1:{machine.port}/health/ready", timeout=10) as answer:
        found: dict[str, dict[str, Any]] = json.load(answer)["checks"]
        return found


def test_the_embedded_server_is_the_newest_that_is_supported(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int / 10000")
        assert cursor.fetchone() == (NEWEST_POSTGRES,)
