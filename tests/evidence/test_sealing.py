"""Sealing: every record is committed to once and in order, no sealed record changes unnoticed, and the log detects missing ones."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from io import BytesIO
from pathlib import Path
from uuid import uuid4

import pytest
import rfc8785
from django.db import connections, transaction
from django.db.utils import IntegrityError
from hypothesis import given
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from tests.builders import recorded_session, replayed, tamper
from tests.database_roles import as_owner
from tests.evidence.sessions import checked, long_session, message
from tests.threads import blocked_queries, in_a_thread
from tests.waiting import wait_until
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, Unavailable
from timemachine.evidence.bundles import exporting
from timemachine.evidence.log import keys, project_log
from timemachine.evidence.models import LogCheckpoint, LogEntry, Seal, SealCheckpoint, SealedRecord
from timemachine.evidence.pure.envelope import Place, envelope
from timemachine.evidence.queries import sealed_replay
from timemachine.evidence.sealing import due, seals, session_deletion
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.replay.comparison.models import Comparison, ComparisonReplay
from timemachine.replay.runs.commands import retry
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db
AUDIT = ReplayOptions(audit=True, reason="a test")


@given(
    st.fixed_dictionaries(
        {},
        optional={
            name: st.text("0123456789abcdef", min_size=64, max_size=64)
            for name in ("facts", "input", "hit.1.text")
        },
    ),
    st.integers(0, 2**48),
)
def test_an_envelope_is_canonical_json(commitments: dict[str, str], index: int) -> None:
    found = envelope(
        Place(of="session", id=str(uuid4()), index=index),
        kind="ask",
        at="2026-11-22T18:00:00Z",
        previous=bytes(32),
        commitments=commitments,
    )
    assert rfc8785.dumps(json.loads(found)) == found


def test_a_session_is_sealed_to_its_last_record_and_signed_once(project: Project) -> None:
    session = recorded_session(project)
    seal = seals.seal_session(session.id)
    assert seal is not None
    assert (seal.size, seal.signed_size, seal.state) == (
        session.last_sequence + 1,
        session.last_sequence + 1,
        "closed",
    )
    resealed = seals.seal_session(session.id)
    assert resealed is not None
    assert (resealed.peaks, SealCheckpoint.objects.count(), LogEntry.objects.count()) == (seal.peaks, 1, 1)


def test_a_recording_session_is_sealed_up_to_its_last_record_and_extended_later(project: Project) -> None:
    session = long_session(project, 3)
    first = seals.seal_session(session.id)
    append(session.id, [message("later")])
    end_session(session.id)
    second = seals.seal_session(session.id)
    assert first is not None
    assert second is not None
    assert [(each.size, each.state) for each in SealCheckpoint.objects.order_by("id")] == [
        (4, "open"),
        (5, "closed"),
    ]
    assert [json.loads(bytes(each.entry))["size"] for each in LogEntry.objects.order_by("index")] == [4, 5]


def test_a_long_session_is_sealed_in_batches_to_the_same_tree(project: Project, tmp_path: Path) -> None:
    session = long_session(project, 2_500)
    target = tmp_path / "evidence.zip"
    with target.open("wb") as opened:
        exporting.write_session(opened, session)
    report = tm_verify.verify(str(target))
    assert (report.problems, report.checked["records"]) == ([], 2_501)


def test_a_gap_stops_the_seal_and_is_reported_with_its_position(project: Project) -> None:
    session = long_session(project, 5)
    tamper("DELETE FROM tm_action WHERE session_id = %s AND sequence = 3", [str(session.id)])
    with pytest.raises(seals.RecordMissing, match="Record 3"), transaction.atomic():
        seals.seal_session(session.id)


def test_sealed_records_and_the_log_refuse_every_change(project: Project) -> None:
    seals.seal_session(recorded_session(project).id)
    for table in ("tm_sealed_record", "tm_seal_checkpoint", "tm_log_entry", "tm_log_checkpoint"):
        for statement in (f"UPDATE {table} SET id = id", f"DELETE FROM {table}"):
            with (
                pytest.raises(IntegrityError, match="append-only"),
                transaction.atomic(),
                as_owner() as cursor,
            ):
                cursor.execute(statement)


def test_a_replay_is_sealed_after_its_session_and_again_when_it_ran_again(project: Project) -> None:
    session = recorded_session(project)
    replay = replayed(session, AUDIT)
    assert due.replays() == [replay.id]
    first = seals.seal_replay(replay.id)
    assert first is not None
    assert (first.size, due.replays(), sealed_replay(replay).unsealed) == (
        len(list(replay.steps.all())) + 1,
        [],
        0,
    )
    linked = json.loads(bytes(SealedRecord.objects.get(seal=first, index=1).envelope))["links"]["recorded"]
    assert SealedRecord.objects.filter(seal__session=session, leaf=bytes.fromhex(linked)).exists()
    replay.steps.filter(sequence=2).update(status="failed", error_message="x")
    retry(replay)
    with pytest.raises(Conflict, match="still running"):
        seals.seal_replay(replay.id)
    replay.refresh_from_db()
    replay.steps.filter(sequence=2).update(status="done", finished_at=now())
    type(replay).objects.filter(id=replay.id).update(status="done", finished_at=now())
    second = seals.seal_replay(replay.id)
    assert second is not None
    assert (first.generation, second.generation) == (1, 2)
    assert seals.seal_replay(uuid4()) is None
    assert seals.seal_session(uuid4()) is None


@pytest.mark.parametrize("kind", ["replay", "comparison"])
def test_what_runs_again_before_it_was_sealed_gets_no_seal(committed: Project, kind: str) -> None:
    session = recorded_session(committed)
    replay = replayed(session, AUDIT)
    replay.steps.filter(sequence=2).update(status="failed", error_message="x")
    seal = partial(seals.seal_replay, replay.id)
    if kind == "comparison":
        comparison = Comparison.objects.create(
            project=committed, arms=[], requested_by="test", reason="a test"
        )
        ComparisonReplay.objects.create(comparison=comparison, replay=replay, arm=1, repeat=1)
        seal = partial(seals.seal_comparison, comparison.id)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            retry(replay)
            sealing = in_a_thread(pool, seal)
            wait_until(blocked_queries)
        with pytest.raises(Conflict, match="still running"):
            sealing.result()
    assert list(Seal.objects.exclude(session=session)) == []


def test_erasing_a_session_leaves_a_tombstone_and_keeps_the_log_intact(project: Project) -> None:
    session = recorded_session(project)
    replay = replayed(session, AUDIT)
    seals.seal_replay(replay.id)
    assert (
        session_deletion.erase_session(session, by="ada@example.org", reason="asked for by the person")
        == session.last_sequence
    )
    entries = [json.loads(bytes(each.entry)) for each in LogEntry.objects.order_by("index")]
    assert [(each["entry"], each["of"]) for each in entries] == [
        ("sealed", "session"),
        ("sealed", "replay"),
        ("erased", "session"),
        ("erased", "replay"),
    ]
    assert entries[2] | {"at": None} == {
        "v": 1,
        "at": None,
        "entry": "erased",
        "of": "session",
        "id": str(session.id),
        "generation": 1,
        "by": "ada@example.org",
        "reason": "asked for by the person",
    }
    assert not Seal.objects.exists()
    unsealed = recorded_session(project, key="other")
    session_deletion.erase_session(unsealed, by=None)
    assert LogEntry.objects.count() == 5
    last = json.loads(bytes(LogEntry.objects.latest("index").entry))
    assert (last["entry"], last["of"], last["id"]) == ("erased", "session", str(unsealed.id))


def test_the_log_detects_a_dropped_session_but_not_an_erased_one(project: Project, tmp_path: Path) -> None:
    with pytest.raises(Conflict, match="Nothing has been sealed"):
        exporting.write_log(BytesIO(), project)
    remaining, dropped, erased = (long_session(project, 3) for _ in range(3))
    for each in (remaining, dropped, erased):
        seals.seal_session(each.id)
    exporting.write_session(BytesIO(), remaining, through=1)  # a smaller state, sealed later
    project_log.replace_key(project, by="test")
    session_deletion.erase_session(erased, by="test")
    assert log_report(project, tmp_path) == ([], {"sealed": 2, "erased": 1})
    tamper(
        "DELETE FROM tm_seal_checkpoint USING tm_seal s WHERE seal_id = s.id AND s.session_id = %s",
        [str(dropped.id)],
    )
    assert log_report(project, tmp_path)[0] == [("dropped", f"session {dropped.id}")]
    tamper(
        "UPDATE tm_seal_checkpoint c SET root = decode(repeat('00', 32), 'hex') FROM tm_seal s WHERE c.seal_id = s.id AND s.session_id = %s",
        [str(remaining.id)],
    )
    assert ("changed", f"session {remaining.id}") in log_report(project, tmp_path)[0]
    tamper("DELETE FROM tm_log_entry WHERE project_id = %s AND index = 1", [str(project.pk)])
    assert {code for code, _ in log_report(project, tmp_path)[0]} >= {"root", "checkpoint"}


def log_report(project: Project, folder: Path) -> tuple[list[tuple[str, str]], dict[str, int]]:
    target = folder / "log.zip"
    with target.open("wb") as opened:
        exporting.write_log(opened, project)
    report = tm_verify.verify(str(target))
    found = [(each["code"], each["where"]) for each in report.problems]
    return found, {name: report.checked[name] for name in ("sealed", "erased")}


def test_a_replaced_key_is_named_under_the_old_one_and_the_new_one_signs_afterwards(
    project: Project, tmp_path: Path
) -> None:
    session = long_session(project, 2)
    seals.seal_session(session.id)
    old = keys.key_in_use(project)
    new = project_log.replace_key(project, by="ada@example.org")
    both = LogCheckpoint.objects.filter(size=2).values_list("key__fingerprint", flat=True)
    assert set(both) == {old.fingerprint, new.fingerprint}
    append(session.id, [message("later")])
    target = tmp_path / "evidence.zip"
    with target.open("wb") as opened:
        exporting.write_session(opened, session)
    assert tm_verify.verify(str(target), new.fingerprint).problems == []
    assert [each["code"] for each in tm_verify.verify(str(target), old.fingerprint).problems] == ["key"]


def test_an_unreadable_key_is_reported_with_what_to_do(project: Project, settings: Settings) -> None:
    keys.key_in_use(project)
    settings.SECRET_KEY = "another one" * 5
    with pytest.raises(Unavailable, match="SECRET_KEY"):
        seals.seal_session(recorded_session(project).id)


def test_a_project_with_a_lost_key_replaces_it_and_exports_earlier_seals(
    project: Project, settings: Settings, tmp_path: Path
) -> None:
    session = long_session(project, 2)
    seals.seal_session(session.id)
    old = keys.key_in_use(project)
    settings.SECRET_KEY = "another one" * 5
    new = project_log.replace_key(project, by="ada@example.org")
    entry = json.loads(bytes(LogEntry.objects.latest("index").entry))
    assert (entry["replaces"], entry["replaced"]) == (old.fingerprint, "unreadable")
    assert list(LogCheckpoint.objects.filter(size=2).values_list("key", flat=True)) == [new.pk]
    target = tmp_path / "evidence.zip"
    with target.open("wb") as opened:
        exporting.write_session(opened, session)
    report = tm_verify.verify(str(target), new.fingerprint)
    assert (report.problems, report.key) == ([], new.fingerprint)
    assert SealCheckpoint.objects.get().key == old
    assert log_report(project, tmp_path)[0] == []
    append(session.id, [message("later")])
    with target.open("wb") as opened:
        exporting.write_session(opened, session)
    assert tm_verify.verify(str(target), new.fingerprint).problems == []


def test_a_log_is_exported_under_the_new_key_immediately(project: Project, tmp_path: Path) -> None:
    seals.seal_session(long_session(project, 2).id)
    new = project_log.replace_key(project, by="ada@example.org")
    with (tmp_path / "log.zip").open("wb") as opened:
        exporting.write_log(opened, project)
    report = tm_verify.verify(str(tmp_path / "log.zip"), new.fingerprint)
    assert (report.problems, report.key) == ([], new.fingerprint)


def test_openssl_verifies_a_signature_and_computes_the_fingerprint(project: Project, tmp_path: Path) -> None:
    signed = keys.sign(keys.key_in_use(project), "text/plain", "Prüfung 🕰".encode())
    key = keys.key_in_use(project)
    (tmp_path / "key.pem").write_text(keys.pem(bytes(key.public_key)))
    (tmp_path / "signed.bin").write_bytes(b"DSSEv1 10 text/plain 13 " + "Prüfung 🕰".encode())
    (tmp_path / "signature.bin").write_bytes(signed.signature)
    verified = "openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in signed.bin -sigfile signature.bin"
    done = subprocess.run(verified.split(), cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "Verified Successfully" in done.stdout
    named = "openssl pkey -pubin -in key.pem -outform DER | openssl dgst -sha256 -r"
    der = subprocess.run(["sh", "-c", named], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert key.fingerprint == "ed25519:" + der.stdout.split()[0]


def test_part_of_a_session_is_disclosed_with_a_signed_state_of_its_own(
    project: Project, tmp_path: Path
) -> None:
    session = recorded_session(project)
    target = tmp_path / "evidence.zip"
    with target.open("wb") as opened:
        exporting.write_session(opened, session, through=3)
    report = tm_verify.verify(str(target))
    assert (report.problems, report.checked["records"]) == ([], 4)
    assert str(session.last_sequence + 1) not in report.as_json()["checked"].values()
    for through in (0, session.last_sequence + 1):
        with pytest.raises(Conflict):
            exporting.write_session(BytesIO(), session, through=through)


def test_any_recorded_value_can_be_sealed_and_disclosed(project: Project, tmp_path: Path) -> None:
    session = start_session(project, name="odd", by="test")
    hits = (HitDraft(rank=1, title="no text \x00 \ud800"), HitDraft(rank=2, text="two\ud83d\ude00 halves"))
    odd = [
        ActionDraft(kind="find", input="\x00\ud800", retrieval=RetrievalDraft(hits=hits)),
        ActionDraft(
            kind="event", output={"big": 2**70, "deep": [[None, 1e300, "🕰"]]}, parameters={"n": 2**63}
        ),
        ActionDraft(
            kind="llm_call",
            input="x" * 40_000,
            output="",
            error_type="E",
            error_message="\udfff",
            tags=("ä",),
        ),
    ]
    append(session.id, odd)
    session.refresh_from_db()
    assert checked(session) == []
    target = tmp_path / "evidence.zip"
    with target.open("wb") as opened:
        exporting.write_session(opened, session)
    assert tm_verify.verify(str(target)).problems == []


def test_concurrent_workers_seal_each_record_once(committed: Project) -> None:
    sessions = [long_session(committed, 30) for _ in range(2)]

    def seal(number: int) -> None:
        try:
            seals.seal_session(sessions[number % 2].id)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(seal, range(16)))
    assert sorted(Seal.objects.values_list("size", "signed_size")) == [(31, 31), (31, 31)]
    indexes = list(LogEntry.objects.order_by("index").values_list("index", flat=True))
    assert indexes == list(range(len(indexes)))
    for session in sessions:
        assert checked(session) == []
