"""Sealing: every record is committed to once, in order; nothing sealed changes unseen; the log misses nothing."""

import json
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import BytesIO
from pathlib import Path
from uuid import uuid4

import pytest
import rfc8785
from django.db import connection, connections, transaction
from django.db.utils import IntegrityError
from hypothesis import given
from hypothesis import strategies as st
from pytest_django.fixtures import Settings

from tests.builders import recorded_session, replayed, tamper
from timemachine.accounts.models import Project
from timemachine.base.clock import now
from timemachine.base.content import canonical_json
from timemachine.base.errors import Conflict, Unavailable
from timemachine.evidence import checking, commands, due, erasing, exporting, keys, log, sealing
from timemachine.evidence.envelope import Place, envelope
from timemachine.evidence.models import (
    ErasedField,
    LogCheckpoint,
    LogEntry,
    Seal,
    SealCheck,
    SealCheckpoint,
    SealedRecord,
)
from timemachine.evidence.queries import sealed_replay, sealed_session
from timemachine.evidence.record import Record
from timemachine.evidence.snapshot import snapshot
from timemachine.evidence.subjects import SessionSubject
from timemachine.evidence.tree import leaf_hash
from timemachine.recording.commands import append, end_session, start_session
from timemachine.recording.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.recording.models import Session
from timemachine.replay.commands import retry
from timemachine.replay.options import ReplayOptions
from timemachine.verifier import tm_verify

pytestmark = pytest.mark.django_db
AUDIT = ReplayOptions(audit=True, reason="a test")


def message(text: str) -> ActionDraft:
    return ActionDraft(kind="message", role="user", output=text)


def long_session(project: Project, actions: int) -> Session:
    session = start_session(project, name="long", by="test")
    for first in range(0, actions, 1_000):
        append(session.id, [message(f"turn {n}") for n in range(first, min(first + 1_000, actions))])
    session.refresh_from_db()
    return session


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
    seal = sealing.seal_session(session.id)
    assert seal is not None
    assert (seal.size, seal.signed_size, seal.state) == (
        session.last_sequence + 1,
        session.last_sequence + 1,
        "closed",
    )
    again = sealing.seal_session(session.id)
    assert again is not None
    assert (again.peaks, SealCheckpoint.objects.count(), LogEntry.objects.count()) == (seal.peaks, 1, 1)


def test_a_session_that_records_is_sealed_as_far_as_it_is_and_then_further(project: Project) -> None:
    session = long_session(project, 3)
    first = sealing.seal_session(session.id)
    append(session.id, [message("later")])
    end_session(session.id)
    second = sealing.seal_session(session.id)
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


def test_a_gap_stops_the_seal_and_says_where(project: Project) -> None:
    session = long_session(project, 5)
    tamper("DELETE FROM tm_action WHERE session_id = %s AND sequence = 3", [str(session.id)])
    with pytest.raises(sealing.NotWhole, match="Record 3"), transaction.atomic():
        sealing.seal_session(session.id)


def test_sealed_records_and_the_log_refuse_every_change(project: Project) -> None:
    sealing.seal_session(recorded_session(project).id)
    for table in ("tm_sealed_record", "tm_seal_checkpoint", "tm_log_entry", "tm_log_checkpoint"):
        for statement in (f"UPDATE {table} SET id = id", f"DELETE FROM {table}"):
            with (
                pytest.raises(IntegrityError, match="append-only"),
                transaction.atomic(),
                connection.cursor() as cursor,
            ):
                cursor.execute(statement)


OF_THREE = "UPDATE tm_sealed_record r"
OF_SESSION = " FROM tm_seal s WHERE r.seal_id = s.id AND s.session_id = %s AND r.index = 3"
ALTERATIONS = {
    "an answer": (
        "UPDATE tm_payload SET data = 'x' WHERE id = (SELECT output_id FROM tm_action WHERE session_id = %s AND sequence = 2)",
        2,
        "`output`",
    ),
    "a model": (
        "UPDATE tm_action SET model = 'other:one' WHERE session_id = %s AND sequence = 2",
        2,
        "`facts`",
    ),
    "a name": ("UPDATE tm_action SET agent = 'nobody' WHERE session_id = %s AND sequence = 4", 4, "`words`"),
    "a time": (
        "UPDATE tm_action SET recorded_at = now() WHERE session_id = %s AND sequence = 4",
        4,
        "kind or time",
    ),
    "a step": (
        "UPDATE tm_action SET sequence = 1000 WHERE session_id = %s AND sequence = 6",
        6,
        "not in the database",
    ),
    "a passage": (
        "DELETE FROM tm_hit USING tm_action a WHERE action_id = a.id AND a.session_id = %s AND a.sequence = 1 AND rank = 2",
        1,
        "`hit.2`",
    ),
    "the session's own facts": ("UPDATE tm_session SET agent = 'nobody' WHERE id = %s", 0, "`about`"),
    "a sealed record": (
        "DELETE FROM tm_sealed_record r USING tm_seal s WHERE r.seal_id = s.id AND s.session_id = %s AND r.index = 6",
        6,
        "sealed form",
    ),
    "a leaf": (
        "UPDATE tm_sealed_record r SET leaf = decode(repeat('00', 32), 'hex') FROM tm_seal s WHERE r.seal_id = s.id AND s.session_id = %s AND r.index = 3",
        3,
        "sealed form",
    ),
    "a checkpoint": (
        'UPDATE tm_seal_checkpoint c SET signed = replace(signed, \'"sig":"\', \'"sig":"AAAA\') FROM tm_seal s WHERE c.seal_id = s.id AND s.session_id = %s',
        None,
        "signature",
    ),
    "a checkpoint that is none": (
        "UPDATE tm_seal_checkpoint c SET signed = '{}' FROM tm_seal s WHERE c.seal_id = s.id AND s.session_id = %s",
        None,
        "cannot be read",
    ),
    "an envelope that is no JSON": (f"{OF_THREE} SET envelope = 'x'{OF_SESSION}", 3, "cannot be read"),
    "an envelope of another form": (f"{OF_THREE} SET envelope = '[1]'{OF_SESSION}", 3, "cannot be read"),
    "a salt that is none": (
        f'{OF_THREE} SET salts = salts || \'{{"facts": "salt"}}\'{OF_SESSION}',
        3,
        "`facts`",
    ),
    "salts of another form": (f"{OF_THREE} SET salts = '[]'{OF_SESSION}", 3, "cannot be read"),
    "the log": ("DELETE FROM tm_log_entry WHERE %s <> ''", None, "log"),
    "an entry of the log": ("UPDATE tm_log_entry SET entry = '{}' WHERE %s <> ''", None, "log"),
    "the log's signature": ("UPDATE tm_log_checkpoint SET signed = 'x' WHERE %s <> ''", None, "log"),
}


@pytest.mark.parametrize("name", ALTERATIONS)
def test_a_check_names_what_was_altered_in_the_database(project: Project, name: str) -> None:
    statement, index, says = ALTERATIONS[name]
    session = recorded_session(project)
    assert checked(session) == []
    assert tamper(statement, [str(session.id)]) >= 1
    found = checked(session)
    assert any(each["index"] == index and says in str(each["says"]) for each in found), found


def checked(session: Session) -> list[dict[str, object]]:
    sealing.seal_session(session.id)
    done = compared_with_its_seal(session)
    assert done.records >= session.last_sequence
    return list(done.problems)


def compared_with_its_seal(session: Session) -> SealCheck:
    done = commands.check(commands.ask_for_check(Seal.objects.get(session=session), by="test").id)
    assert done is not None
    return done


def test_what_is_not_signed_yet_is_no_alteration(project: Project, settings: Settings) -> None:
    session, other = long_session(project, 3), long_session(project, 3)
    sealing.seal_session(session.id)
    append(session.id, [message("later")])
    settings.SECRET_KEY = "another one" * 5
    for each in (session, other):
        with pytest.raises(Unavailable):
            sealing.seal_session(each.id)
    done = compared_with_its_seal(session)
    assert (done.problems, done.records) == ([], 4)
    with pytest.raises(Conflict, match="Nothing is sealed"):
        compared_with_its_seal(other)


def test_a_seal_that_was_put_back_to_an_earlier_state_is_noticed(project: Project) -> None:
    session = long_session(project, 3)
    sealing.seal_session(session.id)
    append(session.id, [message("an answer that somebody regrets")])
    sealing.seal_session(session.id)
    for statement in (
        "DELETE FROM tm_seal_checkpoint c USING tm_seal s WHERE c.seal_id = s.id AND s.session_id = %s AND c.size = 5",
        "DELETE FROM tm_sealed_record r USING tm_seal s WHERE r.seal_id = s.id AND s.session_id = %s AND r.index = 4",
        "DELETE FROM tm_action WHERE session_id = %s AND sequence = 4",
        "UPDATE tm_session SET last_sequence = 3 WHERE id = %s",
        "UPDATE tm_seal SET size = 4, signed_size = 4 WHERE session_id = %s",
    ):
        assert tamper(statement, [str(session.id)]) == 1
    done = compared_with_its_seal(session)
    assert [each["code"] for each in done.problems] == ["checkpoint"]
    assert "5 records" in done.problems[0]["says"]


def test_a_tombstone_that_the_signed_log_does_not_have_excuses_nothing(project: Project) -> None:
    session = recorded_session(project)
    assert checked(session) == []
    change, _, _ = ALTERATIONS["an answer"]
    tamper(change, [str(session.id)])
    tamper(
        f"UPDATE tm_sealed_record r SET salts = salts - 'output'{OF_SESSION}".replace("= 3", "= 2"),
        [str(session.id)],
    )
    named = {"of": "session", "id": str(session.id), "generation": 1, "records": [[2, ["output"]]]}
    line = canonical_json({"v": 1, "at": "2026-11-22T18:00:00Z", "entry": log.ERASED_FIELDS, **named})
    LogEntry.objects.create(project=project, index=7, entry=line, leaf=leaf_hash(line))
    ErasedField.objects.create(
        project=project,
        session=session,
        sequence=2,
        index=2,
        field="output",
        log_index=7,
        erased_at=now(),
        erased_by="nobody",
        reason="none",
    )
    done = compared_with_its_seal(session)
    assert (done.erased, {each["code"] for each in done.problems}) == (0, {"changed", "log"})


class Growing(SessionSubject):
    """A session that goes on, and is sealed further, while it is compared."""

    def records(self, first: int, last: int) -> Iterator[Record]:
        def go_on() -> None:
            append(self.session.id, [message("later")])
            sealing.seal_session(self.session.id)
            connections.close_all()

        with ThreadPoolExecutor(1) as pool:
            pool.submit(go_on).result()
        yield from super().records(first, last)


def test_a_session_that_is_sealed_further_meanwhile_is_compared_as_it_was(committed: Project) -> None:
    session = long_session(committed, 3)
    seal = sealing.seal_session(session.id)
    assert seal is not None
    with snapshot():
        found = checking.compare(Growing(session), seal)
    assert (found.problems, found.records) == ([], 4)


def test_a_check_that_is_asked_for_twice_is_one(project: Project) -> None:
    session = recorded_session(project)
    with pytest.raises(Conflict, match="Nothing is sealed"):
        commands.ask_for_check(None, by="test")
    seal = sealing.seal_session(session.id)
    first, second = commands.ask_for_check(seal, by="a"), commands.ask_for_check(seal, by="b")
    assert (first.id, sealed_session(session).checking) == (second.id, first)
    assert commands.due_for_ringing() == []
    type(first).objects.update(requested_at=now() - timedelta(minutes=1))
    assert commands.due_for_ringing() == [first.id]
    assert commands.check(first.id) == commands.check(first.id)
    assert commands.check(uuid4()) is None


def test_what_is_due_is_what_ended_or_waited(project: Project, settings: Settings) -> None:
    settings.SEAL_SECONDS = 300
    ended, fresh, waited = (
        recorded_session(project, key="ended"),
        long_session(project, 1),
        long_session(project, 1),
    )
    Session.objects.filter(id=waited.id).update(created_at=now() - timedelta(minutes=6))
    start_session(project, name="empty", by="test")
    assert due.sessions() == [ended.id, waited.id]
    for each in (ended, waited, fresh):
        sealing.seal_session(each.id)
    append(waited.id, [message("more")])
    assert due.sessions() == []
    Seal.objects.filter(session=waited).update(signed_at=now() - timedelta(minutes=6))
    assert due.sessions() == [waited.id]


def test_a_replay_is_sealed_behind_its_session_and_anew_when_it_ran_again(project: Project) -> None:
    session = recorded_session(project)
    replay = replayed(session, AUDIT)
    assert due.replays() == [replay.id]
    first = sealing.seal_replay(replay.id)
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
    with pytest.raises(Conflict, match="still runs"):
        sealing.seal_replay(replay.id)
    replay.refresh_from_db()
    type(replay).objects.filter(id=replay.id).update(status="done", finished_at=now())
    second = sealing.seal_replay(replay.id)
    assert second is not None
    assert (first.generation, second.generation) == (1, 2)
    assert sealing.seal_replay(uuid4()) is None
    assert sealing.seal_session(uuid4()) is None


def test_erasing_leaves_a_tombstone_and_the_log_stands(project: Project) -> None:
    session = recorded_session(project)
    replay = replayed(session, AUDIT)
    sealing.seal_replay(replay.id)
    assert (
        erasing.erase_session(session, by="ada@example.org", reason="asked for by the person")
        == session.last_sequence
    )
    told = [json.loads(bytes(each.entry)) for each in LogEntry.objects.order_by("index")]
    assert [(each["entry"], each["of"]) for each in told] == [
        ("sealed", "session"),
        ("sealed", "replay"),
        ("erased", "session"),
        ("erased", "replay"),
    ]
    assert told[2] | {"at": None} == {
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
    erasing.erase_session(unsealed, by=None)
    assert LogEntry.objects.count() == 4


def test_the_log_misses_a_session_that_was_dropped_and_not_one_that_was_erased(
    project: Project, tmp_path: Path
) -> None:
    with pytest.raises(Conflict, match="Nothing was sealed"):
        exporting.write_log(BytesIO(), project)
    kept, dropped, erased = (long_session(project, 3) for _ in range(3))
    for each in (kept, dropped, erased):
        sealing.seal_session(each.id)
    exporting.write_session(BytesIO(), kept, through=1)  # a smaller state, sealed later
    log.replace_key(project, by="test")
    erasing.erase_session(erased, by="test")
    assert of_log(project, tmp_path) == ([], {"sealed": 2, "erased": 1})
    tamper(
        "DELETE FROM tm_seal_checkpoint USING tm_seal s WHERE seal_id = s.id AND s.session_id = %s",
        [str(dropped.id)],
    )
    assert of_log(project, tmp_path)[0] == [("dropped", f"session {dropped.id}")]
    tamper(
        "UPDATE tm_seal_checkpoint c SET root = decode(repeat('00', 32), 'hex') FROM tm_seal s WHERE c.seal_id = s.id AND s.session_id = %s",
        [str(kept.id)],
    )
    assert ("changed", f"session {kept.id}") in of_log(project, tmp_path)[0]
    tamper("DELETE FROM tm_log_entry WHERE project_id = %s AND index = 1", [str(project.pk)])
    assert {code for code, _ in of_log(project, tmp_path)[0]} >= {"root", "checkpoint"}


def of_log(project: Project, folder: Path) -> tuple[list[tuple[str, str]], dict[str, int]]:
    target = folder / "log.zip"
    with target.open("wb") as opened:
        exporting.write_log(opened, project)
    report = tm_verify.verify(str(target))
    found = [(each["code"], each["where"]) for each in report.problems]
    return found, {name: report.checked[name] for name in ("sealed", "erased")}


def test_a_replaced_key_is_named_under_the_old_one_and_signs_from_then_on(
    project: Project, tmp_path: Path
) -> None:
    session = long_session(project, 2)
    sealing.seal_session(session.id)
    old = keys.key_in_use(project)
    new = log.replace_key(project, by="ada@example.org")
    both = LogCheckpoint.objects.filter(size=2).values_list("key__fingerprint", flat=True)
    assert set(both) == {old.fingerprint, new.fingerprint}
    append(session.id, [message("later")])
    target = tmp_path / "evidence.zip"
    with target.open("wb") as opened:
        exporting.write_session(opened, session)
    assert tm_verify.verify(str(target), new.fingerprint).problems == []
    assert [each["code"] for each in tm_verify.verify(str(target), old.fingerprint).problems] == ["key"]


def test_a_key_that_cannot_be_read_says_what_to_do(project: Project, settings: Settings) -> None:
    keys.key_in_use(project)
    settings.SECRET_KEY = "another one" * 5
    with pytest.raises(Unavailable, match="SECRET_KEY"):
        sealing.seal_session(recorded_session(project).id)


def test_a_project_whose_key_is_lost_replaces_it_and_exports_what_was_sealed_before(
    project: Project, settings: Settings, tmp_path: Path
) -> None:
    session = long_session(project, 2)
    sealing.seal_session(session.id)
    old = keys.key_in_use(project)
    settings.SECRET_KEY = "another one" * 5
    new = log.replace_key(project, by="ada@example.org")
    entry = json.loads(bytes(LogEntry.objects.latest("index").entry))
    assert (entry["replaces"], entry["replaced"]) == (old.fingerprint, "unreadable")
    assert list(LogCheckpoint.objects.filter(size=2).values_list("key", flat=True)) == [new.pk]
    target = tmp_path / "evidence.zip"
    with target.open("wb") as opened:
        exporting.write_session(opened, session)
    report = tm_verify.verify(str(target), new.fingerprint)
    assert (report.problems, report.key) == ([], new.fingerprint)
    assert SealCheckpoint.objects.get().key == old
    assert of_log(project, tmp_path)[0] == []
    append(session.id, [message("later")])
    with target.open("wb") as opened:
        exporting.write_session(opened, session)
    assert tm_verify.verify(str(target), new.fingerprint).problems == []


def test_a_log_is_exported_under_the_new_key_at_once(project: Project, tmp_path: Path) -> None:
    sealing.seal_session(long_session(project, 2).id)
    new = log.replace_key(project, by="ada@example.org")
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


def test_part_of_a_session_is_shown_under_a_state_of_its_own(project: Project, tmp_path: Path) -> None:
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


def test_everything_that_may_be_recorded_can_be_sealed_and_shown(project: Project, tmp_path: Path) -> None:
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


@pytest.fixture
def committed(transactional_db: None) -> Project:
    return Project.objects.create(name="Many")


def test_many_who_seal_at_once_seal_each_record_once(committed: Project) -> None:
    sessions = [long_session(committed, 30) for _ in range(2)]

    def seal(number: int) -> None:
        try:
            sealing.seal_session(sessions[number % 2].id)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(seal, range(16)))
    assert sorted(Seal.objects.values_list("size", "signed_size")) == [(31, 31), (31, 31)]
    indexes = list(LogEntry.objects.order_by("index").values_list("index", flat=True))
    assert indexes == list(range(len(indexes)))
    for session in sessions:
        assert checked(session) == []
