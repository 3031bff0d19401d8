"""Reading the audit log: over HTTP, on its page, and as files."""

import csv
import io
import json
import re

import pytest
from django.test import Client

from tests.web.people import browser_of
from timemachine.core.accounts.commands.keys import make_api_key
from timemachine.core.accounts.models import ADMIN, Project
from timemachine.core.audit.commands import record
from timemachine.core.audit.models import AuditEvent
from timemachine.governance.audit_log.commands import chain


@pytest.fixture
def api(project: Project) -> Client:
    _, text = make_api_key(project, name="=siem", scopes=["admin"])
    return Client(headers={"Authorization": f"Bearer {text}"})


def test_events_are_listed_newest_first_in_pages_and_only_of_the_own_project(
    api: Client, project: Project, other_project: Project
) -> None:
    for number in range(3):
        record(project, "key.revoked", "key", f"k{number}")
    record(other_project, "key.revoked", "key", "foreign")
    first = api.get("/api/audit-log", {"limit": 2}).json()
    assert [each["target_id"] for each in first["items"]] == ["k2", "k1"]
    second = api.get("/api/audit-log", {"limit": 2, "after": first["next"]}).json()
    assert [each["action"] for each in second["items"]] == ["key.revoked", "key.created"]
    assert second["next"] is None


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"action": "key"}, ["key.created", "key.revoked"]),
        ({"action": "key.revoked"}, ["key.revoked"]),
        ({"actor": "system"}, ["hold.placed", "key.created", "key.revoked"]),
        ({"actor": "mara@example.org"}, ["hold.released"]),
        ({"since": "2000-01-01", "action": "hold"}, ["hold.placed", "hold.released"]),
        ({"until": "2000-01-01"}, []),
    ],
)
def test_filters_choose_by_actor_action_and_time(
    api: Client, project: Project, filters: dict[str, str], found: list[str]
) -> None:
    record(project, "hold.placed", "hold", "h")
    record(project, "hold.released", "hold", "h", by="mara@example.org")
    record(project, "key.revoked", "key", "k")
    items = api.get("/api/audit-log", filters).json()["items"]
    assert sorted(each["action"] for each in items) == found


@pytest.mark.parametrize(
    ("filters", "field"),
    [({"action": "keys"}, "action"), ({"since": "yesterday"}, "since"), ({"actor": "a\x00b"}, "actor")],
)
def test_a_wrong_filter_is_refused_with_its_name(api: Client, filters: dict[str, str], field: str) -> None:
    answer = api.get("/api/audit-log", filters)
    assert (answer.status_code, answer.json()["facts"]["field"]) == (422, field)


def test_an_export_has_every_event_oldest_first_and_is_an_event(api: Client, project: Project) -> None:
    record(project, "setting.changed", "setting", "answer cache", on=True)
    lines = api.get("/api/audit-log/export").getvalue().decode().splitlines()
    assert [json.loads(each)["action"] for each in lines][:2] == ["key.created", "setting.changed"]
    assert json.loads(lines[1])["facts"] == {"on": True}
    assert AuditEvent.objects.order_by("-id")[0].action == "audit_log.exported"
    assert api.get("/api/audit-log/export", {"format": "xml"}).status_code == 422


def test_a_spreadsheet_runs_nothing_from_an_export(api: Client, project: Project) -> None:
    record(project, "key.revoked", "key", "=1+1", by="=cmd|' /C calc'!A0")
    rows = list(
        csv.DictReader(io.StringIO(api.get("/api/audit-log/export", {"format": "csv"}).getvalue().decode()))
    )
    assert rows[1]["actor"] == "'=cmd|' /C calc'!A0"
    assert rows[1]["target_id"] == "'=1+1"
    assert json.loads(rows[0]["facts"])["name"] == "=siem"


def test_the_page_lists_filters_checks_and_exports(project: Project) -> None:
    browser = browser_of(project, ADMIN)
    record(project, "hold.placed", "hold", "h", sessions=3)
    record(project, "key.revoked", "key", "<b>k</b>")
    chain(project.pk)
    shown = browser.get("/settings/audit-log/", {"action": "hold", "check": "1"}).text
    assert "Placed a legal hold" in shown
    assert "Revoked an API key" not in shown
    assert "match their hashes and follow each other, and the signed evidence log has the last." in shown
    assert "&lt;b&gt;k&lt;/b&gt;" in browser.get("/settings/audit-log/").text
    assert re.search(r'href="/settings/audit-log/export/\?[^"]*action=hold[^"]*format=csv"', shown)
    assert browser.get("/settings/audit-log/export/?format=jsonl&action=hold").getvalue().count(b"\n") == 1
    assert "1 newer event not yet in it" in browser.get("/settings/audit-log/", {"check": "1"}).text
    wrong = browser.get("/settings/audit-log/", {"since": "soon"})
    assert (wrong.status_code, "is not a time" in wrong.text) == (422, True)


def test_the_page_goes_on_to_older_events(project: Project) -> None:
    browser = browser_of(project, ADMIN)
    for number in range(101):
        record(project, "key.revoked", "key", f"k{number}-")
    shown = browser.get("/settings/audit-log/").text
    assert "k100-" in shown
    assert "k0-" not in shown.replace("k100-", "")
    last = AuditEvent.objects.get(target_id="k1-")
    older = browser.get("/settings/audit-log/", {"after": last.pk}).text
    assert "k0-" in older
