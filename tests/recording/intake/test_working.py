"""Intakes processed by workers: each file is put once and in order, even if workers die."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from tests.recording.intake.files import NOTES, current, guide, long_text, notes, now_put
from timemachine.core.accounts.models import Project
from timemachine.core.leases import MOST_ATTEMPTS, Lease, LeaseLost
from timemachine.core.payloads.queries import text
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import Conflict, InvalidInput, TooLarge
from timemachine.jobs.registry import overdue
from timemachine.knowledge.commands import NewFrame, put_frames
from timemachine.knowledge.models import Collection, Frame, Source, SourcePut
from timemachine.recording.intake import worker
from timemachine.recording.intake.commands import hand_in, next_after
from timemachine.recording.intake.models import Intake
from timemachine.recording.intake.preparing import HandedIn, prepare
from timemachine.recording.intake.queries import edited_beside_it, ended_by, intake_of
from timemachine.recording.intake.worker import work
from timemachine.recording.sessions.commands import end_session, start_session
from timemachine.recording.sessions.models import Action
from timemachine.recording.tasks import run_intake
from timemachine.text.pure.documents.document import LARGEST_FILE


def lost(intake: Intake) -> None:
    """The worker died and its lease has expired."""
    Intake.objects.filter(id=intake.id).update(lease_until=now() - timedelta(seconds=1))


def test_a_worker_records_the_result_of_a_file(handbook: Collection) -> None:
    work(hand_in(handbook, notes(), by="Ada").id)
    work(hand_in(handbook, notes(NOTES.replace("Paragraph 1.", "Paragraph I."), replace=True), by="Bea").id)
    first, second = SourcePut.objects.order_by("id")
    assert (first.new, first.kept, first.ended, first.put_by) == (3, 0, 0, "Ada")
    assert (second.new, second.kept, second.ended, second.put_by) == (1, 2, 1, "Bea")


def test_an_intake_is_put_in_batches_with_progress(
    handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "BATCH", 4)
    intake = hand_in(handbook, long_text(9), by="Ada")
    assert (intake.status, intake.total, Frame.objects.count()) == ("waiting", None, 0)
    work(intake.id)
    intake.refresh_from_db()
    assert (intake.status, intake.done, intake.total, intake.new) == ("done", 9, 9, 9)
    assert (intake.source, intake.error_code) == (Source.objects.get(), None)
    work(intake.id)
    assert Frame.objects.count() == 9


def test_another_worker_continues_after_one_was_killed_halfway(
    project: Project, handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "BATCH", 4)
    session = start_session(project, name="s", by="test", collection=handbook)
    intake = hand_in(handbook, long_text(18), by="Ada", session=session)
    real, batches = worker._put, []

    def crash(*given: Any) -> None:
        batches.append(given[3])
        if len(batches) == 2:
            raise SystemExit
        real(*given)

    monkeypatch.setattr(worker, "_put", crash)
    with pytest.raises(SystemExit):
        work(intake.id)
    intake.refresh_from_db()
    assert (intake.status, intake.done, Frame.objects.count()) == ("running", 4, 4)
    work(intake.id)
    assert Frame.objects.count() == 4, "its lease still holds"
    assert overdue(run_intake) == []
    lost(intake)
    assert overdue(run_intake) == [intake.id]
    work(intake.id)
    intake.refresh_from_db()
    assert (intake.status, intake.done, intake.new, batches) == (
        "done",
        18,
        18,
        [0, 4, 4, 8, 12, 16],
    )
    assert Action.objects.filter(session=session).count() == 18


def test_a_worker_that_slept_past_its_lease_writes_nothing(
    handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake = hand_in(handbook, notes(), by="Ada")
    real = worker._put

    def slept(*given: Any) -> None:
        Intake.objects.filter(id=intake.id).update(lease_token=None)
        real(*given)

    monkeypatch.setattr(worker, "_put", slept)
    work(intake.id)
    assert Frame.objects.count() == 0
    with pytest.raises(LeaseLost), transaction.atomic():
        worker._write(Lease(model=Intake, pk=intake.id, token=intake.id), done=3)


def test_a_file_that_kills_its_workers_is_given_up(
    handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake = hand_in(handbook, notes(), by="Ada")

    def crash(*_: Any) -> None:
        raise SystemExit

    monkeypatch.setattr(worker, "_put_all", crash)
    for _ in range(MOST_ATTEMPTS):
        with pytest.raises(SystemExit):
            work(intake.id)
        lost(intake)
    work(intake.id)
    intake.refresh_from_db()
    assert (intake.status, intake.error_code, intake.finished_at is None) == ("failed", "worker_lost", False)
    assert overdue(run_intake, at_start=True) == []


def refused_by_the_database(*_: Any) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT 1 / 0")


def test_a_file_refused_by_the_database_is_retried_and_gives_the_reason(
    handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake = hand_in(handbook, notes(), by="Ada")
    monkeypatch.setattr(worker, "_put", refused_by_the_database)
    for _ in range(MOST_ATTEMPTS):
        with pytest.raises(DatabaseError):
            work(intake.id)
        lost(intake)
    work(intake.id)
    intake.refresh_from_db()
    assert (intake.status, intake.error_code) == ("failed", "not_kept")
    assert intake.error_message == (
        "The database rejected the passages: division by zero. Processing this file was attempted 3 times."
    )


def test_an_earlier_database_error_is_cleared_on_success(
    handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake = hand_in(handbook, notes(), by="Ada")
    with monkeypatch.context() as broken:
        broken.setattr(worker, "_put", refused_by_the_database)
        with pytest.raises(DatabaseError):
            work(intake.id)
    lost(intake)
    work(intake.id)
    intake.refresh_from_db()
    assert (intake.status, intake.error_code, intake.error_message) == ("done", None, None)


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.jsonl", b'{"text": "one"}\n{"text": 2}', "bad_lines"),
        ("a.pdf", b"%PDF-1.4 broken", "unreadable_document"),
        ("a.html", b"<script>only()</script>", "no_text"),
        ("a.txt", b"\xff", "not_text"),
    ],
)
def test_a_file_that_cannot_be_put_gives_the_reason_and_puts_nothing(
    handbook: Collection, name: str, data: bytes, code: str
) -> None:
    intake = hand_in(handbook, HandedIn(name=name, data=data), by="Ada")
    work(intake.id)
    intake.refresh_from_db()
    assert (intake.status, intake.error_code, Frame.objects.count()) == ("failed", code, 0)
    assert [each["line"] for each in intake.skipped] == ([2] if code == "bad_lines" else [])


def test_a_file_that_no_worker_could_put_is_refused_at_upload(project: Project, handbook: Collection) -> None:
    with pytest.raises(InvalidInput):
        hand_in(handbook, HandedIn(name="a.txt", data=b""), by="Ada")
    with pytest.raises(TooLarge):
        hand_in(handbook, HandedIn(name="a.txt", data=b"x" * (LARGEST_FILE + 1)), by="Ada")
    with pytest.raises(InvalidInput):
        hand_in(handbook, HandedIn(name="a.pdf", data=b"no pdf"), by="Ada")
    session = start_session(project, name="s", by="test", collection=handbook)
    with pytest.raises(Conflict):
        hand_in(handbook, notes(), by="Ada", session=end_session(session.id))
    assert Intake.objects.count() == 0


def test_an_intake_fails_when_its_session_ends_or_is_deleted(project: Project, handbook: Collection) -> None:
    session = start_session(project, name="s", by="test", collection=handbook)
    intake, other = (hand_in(handbook, notes(), by="Ada", session=session) for _ in range(2))
    end_session(session.id)
    Intake.objects.filter(id=other.id).update(session=None)
    for each in (intake, other):
        work(each.id)
        each.refresh_from_db()
        assert (each.status, each.error_code) == ("failed", "session_ended")
    assert Frame.objects.count() == 0


def test_the_newer_of_two_files_with_one_uri_wins(handbook: Collection) -> None:
    newer = NOTES.replace("Paragraph 1.", "Paragraph I.")
    old = hand_in(handbook, notes(replace=True, title="Notes"), by="Ada")
    named_otherwise = HandedIn(
        name="x.txt", data=newer.encode(), title="Notes", uri="notes.txt", replace=True
    )
    new = hand_in(handbook, named_otherwise, by="Ada")
    other = hand_in(handbook, HandedIn(name="other.txt", data=b"Another."), by="Ada")
    for each in (new, other, old):
        work(each.id)
    new.refresh_from_db()
    assert new.status == "waiting", "the older one comes first"
    assert Intake.objects.get(id=other.id).status == "done", "a file of another uri is not held"
    assert (next_after(old.id), next_after(new.id)) == ([new.id], [])
    work(new.id)
    new.refresh_from_db()
    assert (new.status, new.ended) == ("done", 1)
    texts = {text(frame.payload) for frame in current(handbook) if frame.uri == "notes.txt"}
    assert {passage.text for passage in prepare(notes(newer)).frames} == texts


def test_a_started_file_is_finished_before_another_with_its_uri(
    handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (hand_in(handbook, notes(replace=True), by="Ada") for _ in range(2))
    Intake.objects.filter(id=second.id).update(status="running", attempts=1, lease_until=now() - timedelta(1))
    work(first.id)
    first.refresh_from_db()
    assert first.status == "waiting"
    work(second.id)
    work(first.id)
    assert set(Intake.objects.values_list("status", flat=True)) == {"done"}


def test_a_file_is_not_put_directly_while_an_earlier_one_is_waiting(handbook: Collection) -> None:
    intake = hand_in(handbook, notes(replace=True), by="Ada")
    with pytest.raises(Conflict) as refused:
        now_put(handbook, notes("Newer.", replace=True))
    assert refused.value.code == "file_on_its_way"
    work(intake.id)
    assert now_put(handbook, notes("Newer.", replace=True)).ended == 3
    assert [text(frame.payload) for frame in current(handbook)] == ["Newer."]


def test_long_passages_make_small_batches(handbook: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "BATCH_CHARACTERS", 50)
    frames = [NewFrame(text="x" * 30) for _ in range(3)]
    assert [len(worker._batch(frames, place)) for place in range(3)] == [1, 1, 1]


def test_a_starting_worker_takes_up_waiting_intakes(handbook: Collection) -> None:
    intake = hand_in(handbook, notes(), by="Ada")
    assert overdue(run_intake) == [], "it was enqueued just now"
    assert overdue(run_intake, at_start=True) == [intake.id]


def test_a_file_put_by_a_worker_lists_the_passages_it_ended(handbook: Collection) -> None:
    now_put(handbook, notes())
    intake = hand_in(handbook, notes(NOTES.partition("\n\n")[0], replace=True), by="Ada")
    work(intake.id)
    intake = intake_of(handbook.project, str(intake.id))
    assert [each.frame for each in ended_by(intake)] == [1, 2]
    assert ended_by(hand_in(handbook, notes(), by="Ada")) == []


def test_a_file_put_by_a_worker_lists_edited_passages_that_return_to_their_old_text(
    handbook: Collection,
) -> None:
    now_put(handbook, guide())
    by_hand = NewFrame(number=1, text="Run it once.", title="Guide › Install", uri="guide.md")
    put_frames(handbook, [by_hand], by="Zoë")
    intake = hand_in(handbook, guide(), by="Ada")
    assert edited_beside_it(intake) == []
    work(intake.id)
    intake = intake_of(handbook.project, str(intake.id))
    assert [(each.frame, each.beside, each.title) for each in edited_beside_it(intake)] == [
        (1, 3, "Guide › Install")
    ]
    now_put(handbook, guide(replace=True))
    assert edited_beside_it(intake) == [], "the edit has ended"
