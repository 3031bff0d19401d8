"""Replays of recorded sessions: verification, repeated retrieval, differences, and what is never changed."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import Count, Q

from tests.builders import FACTS, QUESTIONS, replayed, tamper
from timemachine.core.accounts.models import Project
from timemachine.core.leases import MOST_ATTEMPTS
from timemachine.core.payloads.models import Payload
from timemachine.core.payloads.queries import value
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import text_sha256
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound, Unavailable
from timemachine.jobs.registry import overdue
from timemachine.knowledge.commands import NewFrame, delete_frame, put_frames
from timemachine.knowledge.models import Frame
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.replay.runs import leases
from timemachine.replay.runs.commands import cancel, launch, retry
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayStep
from timemachine.replay.runs.outcomes import Outcome
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.queries import replay_of, step_of, steps_of
from timemachine.replay.runs.schemas import ReplayOut
from timemachine.replay.runs.step_results import Result, write
from timemachine.replay.runs.step_schemas import ReplayStepOut
from timemachine.replay.runs.worker import work
from timemachine.replay.tasks import run_replay

AUDIT = ReplayOptions(audit=True, reason="Wie geprüft?", use_model="local:extractive-1")


@pytest.fixture
def session(recorded_once: Session, db: None) -> Session:
    return Session.objects.get(pk=recorded_once.pk)


@pytest.fixture
def project(session: Session) -> Project:
    return session.project


def all_steps(replay: Replay) -> list[Any]:
    """The steps of a replay, whatever their outcome."""
    return list(steps_of(replay))


def everything_recorded(session: Session) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        rows = "SELECT a::text FROM tm_action a WHERE session_id = %s ORDER BY sequence"
        cursor.execute(rows, [session.id])
        return list(cursor.fetchall())


def test_an_audit_with_the_recorded_model_is_identical_and_verified(session: Session) -> None:
    replay = replayed(session, AUDIT)
    document = ReplayOut.of(replay).model_dump()
    assert document["status"] == "done"
    assert document["verdicts"] == {"identical": 3}
    others = dict.fromkeys(("reconstructed", "altered", "missing", "not_recorded"), 0)
    assert document["context"] == {"verified": 4, **others}
    assert document["summary"] == (
        "3 asks replayed with local:extractive-1: 3 identical; context verified 4 of 4; $0 (recorded $0)"
    )
    assert {value(step.output) for step in all_steps(replay) if step.kind == "ask"} == {
        value(action.output) for action in Action.objects.filter(kind="ask").select_related("output")
    }


def test_an_audit_with_another_model_shows_the_differences_with_evidence(session: Session) -> None:
    replay = replayed(session, ReplayOptions(audit=True, reason="r", use_model="local:extractive-3"))
    steps = [step for step in all_steps(replay) if step.kind == "ask"]
    assert all(step.model == "local:extractive-3" for step in steps)
    assert [step.verdict for step in steps] == ["identical", "numbers_differ", "adds"]
    assert all(step.verdict == "identical" or step.evidence for step in steps)


def test_an_audit_without_a_model_grounds_the_recorded_answer_without_a_call(session: Session) -> None:
    replay = replayed(session, ReplayOptions(audit=True, reason="r"))
    asks = [step for step in all_steps(replay) if step.kind == "ask"]
    assert {step.output for step in asks} == {None}
    assert {step.verdict for step in asks} == {None}
    assert all(step.evidence["grounding_checked_now"]["label"] == "HIGH" for step in asks)
    assert not ReplayAttempt.objects.filter(call_intended_at__isnull=False).exists()


def test_one_changed_byte_alters_only_the_steps_that_used_the_passage(
    session: Session,
) -> None:
    asks = Count("action", filter=Q(action__kind="ask"), distinct=True)
    once = Hit.objects.filter(action__kind="ask").values("payload").annotate(asks=asks).filter(asks=1)
    target = Hit.objects.filter(payload__in=once.values("payload"), action__kind="ask").first()
    assert target is not None
    step_of_it = target.action.sequence
    assert tamper(
        "UPDATE tm_payload SET data = set_byte(data, 0, get_byte(data, 0) # 1) WHERE id = %s",
        [target.payload_id or 0],
    )
    steps = {step.sequence: step for step in all_steps(replayed(session, AUDIT))}
    altered = {
        sequence for sequence, step in steps.items() if step.context == "altered" and step.kind == "ask"
    }
    assert altered == {step_of_it}
    assert steps[step_of_it].output is None
    assert "no longer matches its recorded hash" in steps[step_of_it].evidence["not_asked"]
    assert sorted(frame["verdict"] for frame in steps[step_of_it].frames) == ["altered", "verified"]
    assert [step.verdict for step in steps.values() if step.kind == "ask"].count("identical") == 2


def test_later_changes_of_a_frame_leave_the_audit_verified(session: Session) -> None:
    collection = session.collection
    assert collection is not None
    put_frames(collection, [NewFrame(number=0, title="Retention", text="Twelve years.")], by="test")
    delete_frame(collection, 1, by="test")
    replay = replayed(session, AUDIT)
    assert ReplayOut.of(replay).model_dump()["context"]["verified"] == 4
    fates = {frame["frame"]: frame["since"] for step in all_steps(replay) for frame in step.frames}
    assert (fates[0], fates[1], fates[2]) == ("updated", "deleted", "unchanged")


def test_a_deleted_passage_is_missing_and_an_unrecorded_one_is_not_recorded(project: Project) -> None:
    session = start_session(project, name="imported", by="test")
    hits = (HitDraft(rank=1, sha256="0" * 64), HitDraft(rank=2, text="here"))
    append(
        session.id,
        [
            ActionDraft(kind="ask", input="q", output="a", retrieval=RetrievalDraft(hits=hits)),
            ActionDraft(kind="ask", input="q", output="a"),
            ActionDraft(kind="ask", input="q", output="a", retrieval=RetrievalDraft()),
        ],
    )
    first, second, third = all_steps(replayed(session, AUDIT))
    assert (first.context, second.context, third.context) == ("missing", "not_recorded", "not_recorded")
    assert first.output is None
    assert second.output is None
    assert third.output is not None


def test_a_debug_replay_lists_added_removed_and_moved_hits(session: Session) -> None:
    collection = session.collection
    assert collection is not None
    put_frames(
        collection, [NewFrame(title="Invoices", text="Invoices: how long invoices are kept.")], by="test"
    )
    delete_frame(collection, 2, by="test")
    replay = replayed(session, ReplayOptions(top_k=4, use_model="local:extractive-1"))
    found = {step.sequence: step.retrieval for step in all_steps(replay)}
    assert found[1]["verdict"] == "changed"
    assert 4 in found[1]["gained"]
    assert found[6]["lost"] == [2]
    assert {step.sequence for step in all_steps(replay) if step.hits.exists()} == set(found)


def test_a_debug_replay_as_of_the_recording_finds_the_same_hits(session: Session) -> None:
    collection = session.collection
    assert collection is not None
    put_frames(collection, [NewFrame(title="Invoices", text="Invoices, invoices, kept invoices.")], by="test")
    replay = replayed(session, ReplayOptions(as_of="recorded"))
    assert ReplayOut.of(replay).model_dump()["retrieval"] == {"same": 4}
    assert ReplayOut.of(replay).model_dump()["verdicts"] == {"identical": 3}


def test_a_replay_does_not_write_to_the_recorded_session(session: Session) -> None:
    before = everything_recorded(session)
    replayed(session, AUDIT)
    replayed(session, ReplayOptions(top_k=4))
    assert everything_recorded(session) == before
    session.refresh_from_db()
    assert session.last_sequence == len(before)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (ReplayOptions(audit=True, reason="r", use_model="nobody:x"), InvalidInput),
        (ReplayOptions(audit=True, reason="r", use_model="openai:gpt-4o"), Unavailable),
        (ReplayOptions(audit=True, reason="r", top_k=3), InvalidInput),
        (ReplayOptions(after_sequence=1000), InvalidInput),
    ],
)
def test_an_invalid_replay_is_refused_and_creates_nothing(
    session: Session, options: ReplayOptions, error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(error):
        launch(session, options, by="test")
    assert not Replay.objects.exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (ReplayOptions(after_sequence=1000), "There is no find, ask or model call in this range"),
        (
            ReplayOptions(after_sequence=3, through_sequence=3),
            "no step from 4 through 3: the range ends before",
        ),
        (ReplayOptions(after_sequence=1000, through_sequence=2), "no step from 1,001 through 2"),
    ],
)
def test_an_empty_range_is_reported_as_empty(session: Session, options: ReplayOptions, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        launch(session, options, by="test")


def test_a_range_replays_only_its_steps(session: Session) -> None:
    replay = launch(session, ReplayOptions(after_sequence=2, through_sequence=4), by="test")
    assert [step.sequence for step in all_steps(replay)] == [4]


def test_cancelling_stops_waiting_steps_and_a_retry_finishes_them(session: Session) -> None:
    replay = launch(session, AUDIT, by="test")
    assert cancel(replay).status == "cancelled"
    with pytest.raises(Conflict, match="already finished"):
        cancel(replay)
    assert work(replay.id, "late") == 0
    assert retry(replay).status == "queued"
    assert work(replay.id, "again") == 4
    replay.refresh_from_db()
    assert replay.status == "done"
    with pytest.raises(Conflict, match="nothing to retry"):
        retry(replay)


def _claimed_and_lost(replay: Replay) -> list[leases.StepLease]:
    """Leases of a worker that never returned."""
    taken = leases.claim(replay.id, "dies", calls=False)
    assert taken
    ReplayStep.objects.filter(lease_token=taken[0].token).update(lease_until=now() - timedelta(seconds=1))
    return taken


def test_a_worker_that_slept_past_its_lease_cannot_write(session: Session) -> None:
    replay = launch(session, AUDIT, by="test")
    slept, *_ = _claimed_and_lost(replay)
    [taken] = leases.claim(replay.id, "awake", calls=False)
    assert taken.pk == slept.pk
    step = ReplayStep.objects.get(id=taken.pk)
    assert write([Result(lease=slept, step=step, outcome=Outcome(verdict="identical"))]) == 0
    assert write([Result(lease=taken, step=step, outcome=Outcome(verdict="reworded"))]) == 1
    step.refresh_from_db()
    assert (step.verdict, step.attempts_made) == ("reworded", 2)
    assert [each.outcome for each in step.attempts.order_by("number")] == ["lost", "done"]


def test_a_step_that_loses_three_workers_fails_and_the_replay_continues(session: Session) -> None:
    replay = launch(session, AUDIT, by="test")
    for _ in range(MOST_ATTEMPTS):
        _claimed_and_lost(replay)
    work(replay.id, "lives")
    steps = list(all_steps(replay))
    assert [step.status for step in steps] == ["failed", "done", "done", "done"]
    assert steps[0].error_type == "worker_lost"
    assert Replay.objects.get(id=replay.id).status == "done"


def test_a_lost_attempt_with_an_intended_call_is_shown_as_possibly_billed(session: Session) -> None:
    replay = launch(session, AUDIT, by="test")
    lease, *_ = leases.claim(replay.id, "dies", calls=False)
    leases.intend_call(lease)
    ReplayStep.objects.filter(replay=replay).update(lease_until=now() - timedelta(seconds=1))
    assert overdue(run_replay, at_start=True) == [replay.id]
    assert ReplayStep.objects.get(id=lease.pk).status == "uncertain"
    work(replay.id, "lives")
    document = ReplayOut.of(replay_of(session.project, str(replay.id))).model_dump()
    assert document["uncertain_calls"] == 1
    assert "may have been billed" in document["summary"]


def test_only_unfinished_replays_without_a_worker_are_enqueued_again(session: Session) -> None:
    idle, busy, done = (launch(session, AUDIT, by="test") for _ in range(3))
    leases.claim(busy.id, "at it", calls=False)
    work(done.id, "quick")
    assert overdue(run_replay) == []
    Replay.objects.update(enqueued_at=now() - timedelta(minutes=1))
    assert overdue(run_replay) == [idle.id]
    assert overdue(run_replay) == []


def test_a_replay_of_another_project_is_not_found(session: Session, other_project: Project) -> None:
    replay = launch(session, AUDIT, by="test")
    for name in (str(replay.id), "nonsense", "0" * 32):
        with pytest.raises(NotFound):
            replay_of(other_project, name)
    with pytest.raises(NotFound):
        step_of(replay, 3)


def test_a_step_shows_both_the_original_and_the_new_answer(session: Session) -> None:
    document = ReplayStepOut.of(step_of(replayed(session, AUDIT), 2)).model_dump()
    assert document["original"]["input"] == QUESTIONS[0]
    assert document["original"]["output"] == document["new"]["output"] == FACTS[0][1].split(". ")[0] + "."
    assert document["attempts"][0]["outcome"] == "done"
    assert {frame["verdict"] for frame in document["frames"]} == {"verified"}


def test_a_search_without_hits_has_an_empty_list_and_no_search_has_none(
    session: Session,
) -> None:
    looked = replayed(session, ReplayOptions(audit=False, search_mode="lexical", min_score=10_000))
    assert ReplayStepOut.of(step_of(looked, 1)).model_dump()["new"]["hits"] == []
    assert ReplayStepOut.of(step_of(replayed(session, AUDIT), 1)).model_dump()["new"] is None


def test_the_find_inside_an_ask_provides_its_passages_in_the_replay(project: Project) -> None:
    session = start_session(project, name="from elsewhere", by="test")
    hits = RetrievalDraft(hits=(HitDraft(rank=1, text="Cats sleep sixteen hours a day."),))
    append(
        session.id,
        [
            ActionDraft(
                kind="ask", id="q", input={"question": "How long do cats sleep?"}, output={"answer": "Long."}
            ),
            ActionDraft(kind="find", parent="q", input="How long do cats sleep?", retrieval=hits),
        ],
    )
    (step,) = all_steps(replayed(session, AUDIT))
    assert step.context == "verified"
    assert value(step.output) == "Cats sleep sixteen hours a day."


def test_every_find_inside_an_ask_is_verified(project: Project) -> None:
    session = start_session(project, name="two finds", by="test")
    passages = ("Cats sleep sixteen hours a day.", "Dogs sleep twelve hours a day.")
    finds = [
        ActionDraft(
            kind="find",
            parent="q",
            input="sleep?",
            retrieval=RetrievalDraft(hits=(HitDraft(rank=1, text=text),)),
        )
        for text in passages
    ]
    append(session.id, [ActionDraft(kind="ask", id="q", input="How long do dogs sleep?", output="?"), *finds])
    (step,) = all_steps(replayed(session, AUDIT))
    assert [frame["rank"] for frame in step.frames] == [1, 2]
    assert value(step.output) == passages[1]
    tamper(
        "UPDATE tm_payload SET data = set_byte(data, 0, 88) WHERE sha256 = decode(%s, 'hex')",
        [text_sha256(passages[1])],
    )
    (step,) = all_steps(replayed(session, AUDIT))
    assert step.context == "altered"
    assert step.output is None


def test_an_ask_with_a_partly_recorded_context_is_not_asked_again(project: Project) -> None:
    session = start_session(project, name="half", by="test")
    hits = (HitDraft(rank=1, frame=7), HitDraft(rank=2, text="Cats sleep."))
    append(session.id, [ActionDraft(kind="ask", input="q", output="a", retrieval=RetrievalDraft(hits=hits))])
    (step,) = all_steps(replayed(session, AUDIT))
    assert (step.context, step.output) == ("not_recorded", None)


def test_a_step_that_failed_with_a_lost_worker_can_be_retried(session: Session) -> None:
    replay = launch(session, AUDIT, by="test")
    for _ in range(MOST_ATTEMPTS):
        _claimed_and_lost(replay)
    work(replay.id, "lives")
    retry(replay)
    work(replay.id, "lives")
    first = all_steps(replay)[0]
    numbers = [attempt.number for attempt in first.attempts.order_by("number")]
    assert (first.status, numbers) == ("done", [1, 2, 3, 4])


def test_a_cancelled_replay_with_a_lost_worker_ends(session: Session) -> None:
    replay = launch(session, AUDIT, by="test")
    leases.claim(replay.id, "dies", calls=False)
    assert cancel(replay).status == "queued"
    ReplayStep.objects.filter(replay=replay).update(lease_until=now() - timedelta(seconds=1))
    for replay_id in overdue(run_replay, at_start=True):
        work(replay_id, "lives")
    replay.refresh_from_db()
    assert replay.status == "cancelled"
    assert {step.status for step in all_steps(replay)} == {"cancelled"}


def test_the_cost_of_a_lost_attempt_is_counted(session: Session) -> None:
    replay = replayed(session, AUDIT)
    lost = ReplayAttempt.objects.filter(step__replay=replay, number=1, step__sequence=2)
    lost.update(outcome="lost", calls_made=1, cost_usd="1.5")
    assert ReplayOut.of(replay).model_dump()["cost_usd"] == 1.5


def test_erasing_a_session_erases_the_contents_of_its_replays(session: Session) -> None:
    replayed(session, ReplayOptions(audit=True, reason="r", use_model="local:extractive-5"))
    replayed(session, ReplayOptions(top_k=4))
    erase_session(session)
    frames = set(Frame.objects.values_list("payload_id", flat=True))
    assert set(Payload.objects.values_list("id", flat=True)) == frames
