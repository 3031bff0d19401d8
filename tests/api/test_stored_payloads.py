"""Recorded contents come back byte for byte, however they are stored."""

import os
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import Program
from tests.builders import tamper, unpack_payloads
from tests.evidence.sessions import checked, compared_with_its_seal
from timemachine.core.payloads.models import Payload
from timemachine.core.payloads.queries import heads
from timemachine.core.payloads.stored import NOTE
from timemachine.core.pure.packing import SMALLEST
from timemachine.evidence.bundles import exporting
from timemachine.evidence.log.keys import key_in_use
from timemachine.recording.sessions.models import Session
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db
LONG = "The same sentence, recorded in full. " * 100
VALUES = {
    "short": "ok",
    "empty": "",
    "long": LONG,
    "longer than a page of the database": "word " * 500_000,
    "random": b64encode(os.urandom(30_000)).decode(),
    "unicode": "Prüfung 🕰 日本 \ud83d " * 50,
    "NUL": "a\x00b" * 100,
    "an object": {"rows": [{"name": "Zoë", "n": n} for n in range(200)]},
    "an empty object": {},
}


def record(api: Program, output: Any) -> str:
    key: str = api.post("/sessions", {"name": "stored"}).json()["key"]
    api.post(f"/sessions/{key}/actions", {"actions": [{"kind": "event", "output": output}]})
    return key


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_a_value_is_returned_exactly(api: Program, value: Any) -> None:
    key = record(api, value)
    assert api.get(f"/sessions/{key}/actions/1").json()["output"] == value
    stored = Payload.objects.get()
    assert stored.size == len(stored.data)
    unpack_payloads()
    assert api.get(f"/sessions/{key}/actions/1").json()["output"] == value


def test_only_what_becomes_shorter_is_packed(api: Program) -> None:
    for value in VALUES.values():
        record(api, value)
    packed = {each.size for each in Payload.objects.filter(packed=True)}
    assert {len(LONG), 2_500_000} <= packed
    assert min(packed) >= SMALLEST


def test_what_an_earlier_version_stored_is_not_stored_again(api: Program) -> None:
    record(api, LONG)
    unpack_payloads()
    key = record(api, LONG)
    assert not Payload.objects.get().packed
    assert api.get(f"/sessions/{key}/actions/1").json()["output"] == LONG


def test_evidence_is_the_same_for_old_and_new_rows(api: Program, tmp_path: Path) -> None:
    session = Session.objects.get(key=record(api, LONG))
    unpack_payloads()
    more = {"kind": "event", "output": {"text": LONG + LONG}}
    api.post(f"/sessions/{session.key}/actions", {"actions": [more]})
    assert sorted(Payload.objects.values_list("packed", flat=True)) == [False, True]
    session.refresh_from_db()
    assert checked(session) == []
    with (tmp_path / "bundle.zip").open("wb") as file:
        exporting.write_session(file, session)
    report = tm_verify.verify(str(tmp_path / "bundle.zip"), key_in_use(session.project).fingerprint)
    assert report.problems == []
    unpack_payloads()
    assert compared_with_its_seal(session).problems == []


@pytest.mark.parametrize(
    "damage", ["data = substring(data FOR length(data) - 4)", "size = size + 1", "data = '\\x00'"]
)
def test_a_damaged_row_is_named_by_its_error_and_by_the_check(api: Program, damage: str) -> None:
    session = Session.objects.get(key=record(api, LONG))
    assert checked(session) == []
    assert tamper(f"UPDATE tm_payload SET {damage}", []) == 1
    answer = api.get(f"/sessions/{session.key}/actions/1")
    assert answer.status_code == 500
    assert answer.json()["code"] == "content_damaged"
    assert "damaged in the database" in answer.json()["message"]
    (head,) = heads(Payload.objects.values_list("id", flat=True), 5_000).values()
    assert head.data == NOTE
    (problem,) = compared_with_its_seal(session).problems
    assert problem["says"] == "The field output does not match what was sealed."


def test_the_size_of_a_row_cannot_be_changed_alone(api: Program) -> None:
    record(api, "short")
    with pytest.raises(Exception, match="payload_size_is_right"):
        tamper("UPDATE tm_payload SET size = size + 1", [])
