"""Background reading of sessions for patterns: nothing is lost or counted twice, and erased text is in no pattern table."""

from datetime import timedelta

import pytest

from tests.governance.deletion.erasure.canary import erased, everywhere
from tests.memory.patterns.recorded import (
    agent_message,
    failed,
    pattern_counts,
    patterns,
    read,
    session_of,
    tool_call,
    user_message,
)
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.governance.deletion.erasure.commands import delete_turn
from timemachine.jobs.registry import overdue
from timemachine.memory.backlog import Overtaken
from timemachine.memory.patterns import clustering, reader
from timemachine.memory.patterns.models import PatternReading, PatternStep, ReadSession, Wording
from timemachine.memory.patterns.queries import resolutions_of
from timemachine.memory.tasks import read_patterns
from timemachine.recording.annotations.significance.commands import change
from timemachine.recording.sessions.commands import append
from timemachine.recording.sessions.deletions import erase_session

pytestmark = pytest.mark.django_db
BIRD = "Zqvogelmark"
SHORT = "gift card balance is not enough"
LONG = "not enough balance in payment method gift_card_8190333"
SEATS = "not enough seats on flight HAT229 today"


def test_an_error_in_two_sessions_is_a_pattern_and_in_one_it_is_not_yet(project: Project) -> None:
    session_of(project, failed(SHORT), agent_message("again"), failed(SHORT))
    read(project)
    assert pattern_counts(project) == {}
    assert pattern_counts(project, min_sessions=1) == {f"Error: {SHORT}": (2, 1)}
    session_of(project, failed(LONG))
    assert reader.BACKLOG.count(project.id) == 1
    read(project)
    assert pattern_counts(project) == {f"Error: {SHORT}": (3, 2)}


def test_errors_and_questions_are_separate_kinds(project: Project) -> None:
    for _ in range(2):
        session_of(project, failed(SEATS), user_message("Please. How long are invoices kept here?"))
    read(project)
    assert pattern_counts(project, kind="question") == {"How long are invoices kept here?": (2, 2)}
    assert list(pattern_counts(project, kind="error")) == ["Error: not enough seats on flight <id> today"]


def test_other_projects_are_not_counted(project: Project, other_project: Project) -> None:
    session_of(project, failed(SHORT))
    session_of(other_project, failed(SHORT))
    read(project)
    read(other_project)
    assert pattern_counts(project) == pattern_counts(other_project) == {}
    assert {row.project_id for row in patterns(project, min_sessions=1)} == {project.id}


@pytest.mark.parametrize("texts", [(SHORT, LONG, SEATS), (LONG, SHORT, SEATS)])
def test_the_order_in_which_sessions_arrive_changes_nothing(project: Project, texts: tuple[str, ...]) -> None:
    for text in texts:
        session_of(project, failed(text))
        read(project)
    assert pattern_counts(project, min_sessions=1) == {
        f"Error: {SHORT}": (2, 2),
        "Error: not enough seats on flight <id> today": (1, 1),
    }


def test_more_steps_than_a_batch_are_all_read_exactly_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "BATCH", 2)
    session = session_of(project, *[failed(SHORT)] * 5)
    read(project)
    read(project)
    assert pattern_counts(project, min_sessions=1) == {f"Error: {SHORT}": (5, 1)}
    append(session.id, [failed(SHORT)])
    read(project)
    assert pattern_counts(project, min_sessions=1) == {f"Error: {SHORT}": (6, 1)}


def test_a_killed_worker_leaves_no_partial_state(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    session_of(project, failed(SHORT))
    session_of(project, failed(SHORT))

    def dying(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for where in (PatternStep.objects, ReadSession.objects):
        with monkeypatch.context() as patched:
            patched.setattr(where, "bulk_create", dying)
            with pytest.raises(KeyboardInterrupt):
                clustering.update_patterns(project.id)
        PatternReading.objects.update(lease_until=now() - timedelta(seconds=1))
    assert PatternStep.objects.count() == Wording.objects.count() == 0
    read(project)
    assert pattern_counts(project) == {f"Error: {SHORT}": (2, 2)}


def test_a_project_is_not_enqueued_twice_or_while_a_worker_has_it(project: Project) -> None:
    assert overdue(read_patterns) == []
    session_of(project, failed(SHORT))
    assert overdue(read_patterns) == [project.id]
    assert overdue(read_patterns) == []
    assert overdue(read_patterns, at_start=True) == [project.id]
    PatternReading.objects.update(enqueued_at=None, lease_until=now() + timedelta(seconds=9))
    assert overdue(read_patterns, at_start=True) == []
    assert not clustering.update_patterns(project.id)
    assert reader.BACKLOG.count(project.id) == 1
    PatternReading.objects.update(lease_until=None)
    assert clustering.update_patterns(project.id, seconds=-1)
    read(project)
    assert overdue(read_patterns) == []


def test_erasing_a_session_removes_its_part_of_a_pattern(project: Project) -> None:
    first = session_of(project, failed(SHORT))
    session_of(project, failed(LONG))
    session_of(project, failed(LONG))
    read(project)
    pattern = patterns(project)[0]
    assert (pattern.text, pattern.sessions) == (f"Error: {SHORT}", 3)
    erase_session(first)
    assert not Wording.objects.filter(text__contains=SHORT).exists()
    read(project)
    assert pattern_counts(project) == {"Error: not enough balance in payment method gift_card_<id>": (2, 2)}


def test_text_of_an_erased_session_is_removed_from_all_tables_immediately(project: Project) -> None:
    text = f"the bird {BIRD} did not come home"
    session = session_of(project, failed(text), user_message(f"Where is the bird {BIRD} this evening?"))
    read(project)
    assert everywhere(BIRD)["tm_wording"] == 2
    erase_session(session)
    assert everywhere(BIRD) == {}
    assert Wording.objects.count() == PatternStep.objects.count() == 0


def test_text_erased_from_a_step_is_removed_from_all_tables_immediately(project: Project) -> None:
    call = {"user": 1, "flight": 2, BIRD: 3}
    redacted = session_of(
        project, tool_call(call, "Error: the gate is shut now"), tool_call(call | {BIRD: 4}, "done")
    )
    session = session_of(project, failed(f"the bird {BIRD} did not come home"), failed(SHORT))
    read(project)
    assert {"tm_wording", "tm_pattern_step"} <= set(everywhere(BIRD))
    erased(session, fields=["output", "input"], steps=[1])
    erased(redacted, fields=["output", "input"])
    assert everywhere(BIRD) == {}
    read(project)
    assert everywhere(BIRD) == {}
    assert pattern_counts(project, min_sessions=1).get(f"Error: {SHORT}") == (1, 1)


def test_a_deleted_turn_no_longer_counts_as_error_question_or_solution(project: Project) -> None:
    session = session_of(
        project,
        agent_message("x", error_type="GateShut", error_message="the gate is shut for good"),
        failed(SHORT),
        agent_message("It was ten.", significance="error"),
        agent_message("Restart it.", significance="solution"),
        user_message("Where is it now, please?"),
    )
    read(project)
    assert PatternStep.objects.filter(session=session, solved_by=4).count() == 3
    assert len(pattern_counts(project, min_sessions=1)) == 4
    for each in session.actions.exclude(sequence=2):
        delete_turn(each, reason="because", by="ada")
    read(project)
    assert pattern_counts(project, min_sessions=1) == {f"Error: {SHORT}": (1, 1)}
    assert not PatternStep.objects.filter(solved_by__isnull=False).exists()


def test_a_worker_that_read_a_text_before_its_erasure_does_not_store_it(project: Project) -> None:
    session = session_of(project, failed(f"the bird {BIRD} did not come home"))
    batch = reader._batch(project.id, session.id, reader.next_steps(session.id, 0), 0, 0)
    reader.reread_session(session)
    with pytest.raises(Overtaken):
        reader._store(batch)
    assert Wording.objects.count() == 0


def test_a_later_step_marked_as_a_solution_solves_the_errors_before_it(project: Project) -> None:
    session = session_of(
        project,
        failed(SHORT),
        agent_message("hm"),
        agent_message("That was it!", significance="solution"),
        failed(SHORT),
    )
    read(project)
    steps = PatternStep.objects.filter(session=session).order_by("sequence")
    found = [(row.sequence, row.solved_by, row.solved_how) for row in steps]
    assert found == [(1, 3, "significant"), (4, None, None)]
    assert patterns(project, min_sessions=1)[0].solved == 1


def test_a_later_significance_set_by_a_person_counts(project: Project) -> None:
    session = session_of(
        project, failed(SHORT), agent_message("Use the other card."), agent_message("It was twelve, not ten.")
    )
    read(project)
    pattern = patterns(project, min_sessions=1)[0]
    assert resolutions_of([pattern.id]) == {}
    change(session, 2, by="ada", significance="breakthrough")
    change(session, 3, by="ada", significance="error")
    assert overdue(read_patterns, at_start=True) == [project.id]
    read(project)
    assert resolutions_of([pattern.id])[pattern.id].solved_by == 2
    assert pattern_counts(project, min_sessions=1)["It was twelve, not ten"] == (1, 1)
    change(session, 2, by="ada", significance=None)
    change(session, 3, by="ada", significance=None)
    read(project)
    assert resolutions_of([pattern.id]) == {}
    assert list(pattern_counts(project, min_sessions=1)) == [f"Error: {SHORT}"]


def test_a_failed_call_that_succeeds_later_is_its_solution(project: Project) -> None:
    booking = {"user": "ada", "flight": "HAT1", "bags": 1, "payment": 255}
    session = session_of(
        project,
        tool_call(booking, "Error: the payment does not add up here"),
        tool_call(booking | {"payment": 300}, "Error: the payment does not add up here"),
        tool_call({"user": "bob"}, "booked"),
        tool_call(booking, "booked", tool="look"),
        tool_call(booking | {"payment": 305}, "booked"),
        tool_call(booking, "booked"),
    )
    read(project)
    steps = PatternStep.objects.filter(session=session).order_by("sequence")
    assert [(row.sequence, row.solved_by, row.solved_how, row.changed) for row in steps] == [
        (1, 5, "changed_call", ["payment"]),
        (2, 5, "changed_call", ["payment"]),
    ]


def test_a_separate_call_and_result_are_matched_by_call_id(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "BATCH", 2)
    arguments = {"path": "a.txt", "mode": "r"}

    def call(name: str, output: str) -> list[object]:
        return [
            tool_call(arguments, None, call_id=name, tool="open"),
            failed("", call_id=name, tool="open", output=output),
        ]

    session = session_of(project, *call("c1", "Error: the gate is shut now"), *call("c2", "text"))  # type: ignore[arg-type]
    read(project)
    step = PatternStep.objects.get(session=session)
    assert (step.sequence, step.call, step.solved_by, step.solved_how) == (2, 1, 4, "same_call")


def test_hostile_texts_are_read_too(project: Project) -> None:
    for _ in range(2):
        session_of(
            project,
            failed("nul \x00 and \ud800 in the gate table"),
            failed("x" * 100_000),
            failed("", output={"error": ["deep", {"a": [1, 2]}]}),
            user_message("?" * 5_000),
        )
    read(project)
    assert reader.BACKLOG.count(project.id) == 0
    assert len(patterns(project)) >= 2
