"""Evidence over HTTP."""

from pathlib import Path

import pytest
from django.db import connection
from pytest_django.fixtures import Settings

from tests.api.conftest import Program, program
from tests.builders import compared, recorded_session, replayed
from timemachine.core.accounts.models import Project
from timemachine.evidence import commands
from timemachine.evidence.models import Seal, SealCheck, SigningKey
from timemachine.evidence.sealing import seals
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db


def test_a_session_is_sealed_checked_and_exported(api: Program, project: Project, tmp_path: Path) -> None:
    session = recorded_session(project)
    address = f"/sessions/{session.key}"
    assert api.get(f"{address}/seal").json()["sealed"] is False
    assert api.post(f"{address}/seal/check").json()["code"] == "not_sealed"
    answer = api.get(f"{address}/evidence")
    target = tmp_path / "evidence.zip"
    target.write_bytes(b"".join(answer.streaming_content))
    seal = api.get(f"{address}/seal").json()
    assert (seal["sealed_records"], seal["state"], seal["check"]) == (
        session.last_sequence + 1,
        "closed",
        None,
    )
    assert tm_verify.verify(str(target), seal["key"]).problems == []
    checked = api.post(f"{address}/seal/check")
    assert (checked.status_code, checked.json()["result"]) == (202, "intact")
    assert api.get(f"/evidence/checks/{checked.json()['id']}").json() == checked.json()
    assert api.get(f"{address}/seal").json()["check"]["result"] == "intact"


def test_a_replay_is_sealed_and_exported(api: Program, project: Project) -> None:
    replay = replayed(recorded_session(project), ReplayOptions(audit=True, reason="a test"))
    answer = api.get(f"/replays/{replay.id}/evidence")
    assert (answer["Content-Type"], answer.getvalue()[:2]) == ("application/zip", b"PK")
    assert api.get(f"/replays/{replay.id}/seal").json()["sealed_records"] == 5
    assert api.post(f"/replays/{replay.id}/seal/check").json()["result"] == "intact"


def test_a_comparison_is_sealed_and_exported(api: Program, project: Project) -> None:
    comparison = compared(project, [recorded_session(project)], "local:extractive-1", "local:extractive-3")
    address = f"/comparisons/{comparison.id}"
    assert api.get(f"{address}/seal").json()["sealed"] is False
    answer = api.get(f"{address}/evidence")
    assert (answer["Content-Type"], answer.getvalue()[:2]) == ("application/zip", b"PK")
    seal = api.get(f"{address}/seal").json()
    assert (seal["records"], seal["sealed_records"], seal["state"]) == (8, 8, "closed")
    assert api.post(f"{address}/seal/check").json()["result"] == "intact"


def test_the_results_of_a_comparison_do_not_depend_on_where_its_rows_are_stored(
    api: Program, project: Project
) -> None:
    comparison = compared(project, [recorded_session(project)], "local:extractive-1", "local:extractive-3")
    address = f"/comparisons/{comparison.id}"
    assert api.get(f"{address}/evidence").getvalue()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE tm_comparison_replay SET arm = arm WHERE arm = 1")  # moves it behind arm 2
        for plan in ("indexscan", "bitmapscan", "nestloop"):
            cursor.execute(f"SET LOCAL enable_{plan} = off")
    assert api.post(f"{address}/seal/check").json()["result"] == "intact"


def test_a_long_check_is_accepted_and_finished_by_a_worker(
    api: Program, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "MOST_IN_A_REQUEST", 3)
    session = recorded_session(project)
    seals.seal_session(session.id)
    requested = api.post(f"/sessions/{session.id}/seal/check").json()
    assert (requested["result"], api.get(f"/sessions/{session.id}/seal").json()["checking"]["id"]) == (
        None,
        requested["id"],
    )
    commands.run_check(SealCheck.objects.get().id)
    assert api.get(f"/evidence/checks/{requested['id']}").json()["result"] == "intact"


def test_anyone_reads_signing_keys_and_administrators_rotate_them(api: Program, project: Project) -> None:
    assert program(project, "read").get("/evidence/keys").json()["items"] == []
    assert not SigningKey.objects.exists()  # reading creates none
    seals.seal_session(recorded_session(project).id)
    (first,) = program(project, "read").get("/evidence/keys").json()["items"]
    made = api.post("/evidence/keys")
    assert (made.status_code, made.json()["created_by"]) == (201, "key test")
    listed = api.get("/evidence/keys").json()["items"]
    assert [each["fingerprint"] for each in listed] == [made.json()["fingerprint"], first["fingerprint"]]
    assert listed[1]["replaced_by"] == "key test"
    assert {each["store"] for each in listed} == {"database"}


def test_without_the_key_store_nothing_leaves_or_is_deleted_and_everything_else_works(
    api: Program, project: Project
) -> None:
    session = recorded_session(project, key="s1")
    seals.seal_session(session.id)
    SigningKey.objects.update(store="nowhere.Keys", name="lost", private_key=None)
    reason = {"reason": "they asked"}
    for refused in (
        api.get("/sessions/s1/evidence"),
        api.delete_for("/sessions/s1", reason),
        api.post("/holds", {"sessions": ["s1"], **reason}),
    ):
        assert (refused.status_code, refused.json()["code"]) == (503, "key_store_unavailable")
        assert "The key store nowhere.Keys does not work" in refused.json()["message"]
    assert api.get("/sessions/s1/seal").json()["sealed"] is True
    assert api.post("/sessions", {"name": "goes on"}).status_code == 201
    seal = Seal.objects.get(session=session)
    assert seal.signed_size == session.last_sequence + 1


def test_administrators_set_the_witness_and_the_timestamp_authority(
    api: Program, project: Project, settings: Settings
) -> None:
    settings.EVIDENCE_HOSTS_ALLOWED = ["127.0.0.1"]
    assert program(project, "read").get("/evidence/anchors").json()["witness"] is None
    change = {"witness": "http://127.0.0.1:1/add"}
    found = api.patch("/evidence/anchors", change).json()
    assert (found["witness"]["url"], found["witness"]["size"], found["timestamp"]) == (
        change["witness"],
        0,
        None,
    )
    assert found["witness_key"].startswith(f"timemachine/{project.pk}/log+")
    assert api.patch("/evidence/anchors", {"timestamp": "http://10.0.0.1/"}).json()["code"] == (
        "address_not_allowed"
    )
    assert api.patch("/evidence/anchors", {"witness": ""}).json()["witness"] is None


def test_api_answers_may_not_be_cached_by_intermediaries(api: Program, project: Project) -> None:
    session = recorded_session(project)
    responses = [
        api.get("/sessions"),
        api.get("/sessions/no-such"),
        api.get(f"/sessions/{session.id}/evidence"),
        api.post("/shares", {"target_type": "session", "target_id": str(session.id)}),
    ]
    assert [each.status_code for each in responses] == [200, 404, 200, 201]
    assert all("no-store" in each.headers["Cache-Control"] for each in responses)
    responses[2].close()
