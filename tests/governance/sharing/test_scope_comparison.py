"""A link to a comparison shows exactly that comparison, with the answers that existed when the link was created and their sources."""

from datetime import timedelta

import pytest

from tests.builders import QUESTIONS, compared, recorded_session
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.queries import text
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import text_sha256
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound
from timemachine.governance.sharing import comparison_scope
from timemachine.governance.sharing.commands.links import create_link
from timemachine.governance.sharing.comparison_scope import LATER
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.pure.terms import ORDINARY, Terms
from timemachine.governance.sharing.scope import Scope
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.comparison.commands import Plan, create
from timemachine.replay.comparison.models import CellMark, CellOpinion, Comparison
from timemachine.replay.comparison.pure.variants import Variant
from timemachine.replay.runs.models import ReplayStep

ONE, THREE = "local:extractive-1", "local:extractive-3"


@pytest.fixture(scope="module")
def made(shared_rows: None) -> Comparison:
    project = Project.objects.create(name="Prüfung")
    return compared(project, [recorded_session(project)], ONE, THREE)


@pytest.fixture
def comparison(made: Comparison, db: None) -> Comparison:
    return Comparison.objects.get(pk=made.pk)


@pytest.fixture
def project(comparison: Comparison) -> Project:
    return comparison.project


@pytest.fixture
def session(project: Project) -> Session:
    return Session.objects.get(project=project)


def scope_of(comparison: Comparison, terms: Terms = ORDINARY) -> Scope:
    link, _ = create_link(comparison.project, comparison, terms, by="Test")
    return Scope(link=link)


def steps_of(comparison: Comparison) -> list[ReplayStep]:
    return list(ReplayStep.objects.filter(replay__run__comparison=comparison, kind="ask").order_by("id"))


def answered_later(step: ReplayStep) -> None:
    """Simulates a failed answer that was asked again."""
    ReplayStep.objects.filter(pk=step.pk).update(finished_at=now() + timedelta(seconds=1))


def test_the_scope_shows_every_ask_with_its_answers_and_their_totals(comparison: Comparison) -> None:
    shared = scope_of(comparison).comparison()
    results = shared.results()
    assert results.findings is not None
    assert (len(results.findings.asks), shared.steps_compared().total, results.later) == (3, 3, 0)
    assert len(results.findings.columns) == 3
    assert [ask.label for ask in shared.remarks(results.findings.asks).asks] == list(QUESTIONS)


def test_a_cell_includes_its_answer_its_passages_and_the_recorded_ask(
    comparison: Comparison, session: Session
) -> None:
    scope = scope_of(comparison)
    for step in steps_of(comparison):
        cell = scope.comparison().cell(step.id)
        assert step.output is not None
        assert cell.step.new_answer == text(step.output)
        assert scope.payload(step.output.sha256).data.decode() == text(step.output)
        (contexts,) = scope.comparison().contexts([cell]).values()
        passages = [each for found in contexts for each in found.passages]
        assert passages
        for passage in passages:
            assert passage.hit.sha256 is not None
            assert scope.payload(passage.hit.sha256)


def test_only_the_cells_of_that_comparison_are_found(
    project: Project, other_project: Project, comparison: Comparison, session: Session
) -> None:
    scope = scope_of(comparison)
    other = compared(project, [session], ONE, "local:extractive-5")
    foreign = compared(other_project, [recorded_session(other_project)], ONE, THREE)
    elsewhere = [step.id for each in (other, foreign) for step in steps_of(each)]
    for step in (*elsewhere, 0, -1, 2**63, 2**70):
        with pytest.raises(NotFound):
            scope.comparison().cell(step)


def test_steps_of_the_session_that_were_not_replayed_are_not_found(
    comparison: Comparison, session: Session
) -> None:
    scope = scope_of(comparison)
    standing_find = Action.objects.get(session=session, sequence=1)
    assert standing_find.input is not None
    for read in (
        lambda: scope.step(2),
        lambda: scope.rows(1),
        lambda: scope.document(2),
        scope.session,
        scope.replay,
        scope.replay_steps,
        lambda: scope.payload(text_sha256("never recorded")),
    ):
        with pytest.raises(NotFound):
            read()
    assert [each.name for each in scope.sessions()] == [session.name]


def test_an_answer_given_after_the_link_is_in_no_cell_and_no_number(comparison: Comparison) -> None:
    scope = scope_of(comparison)
    late = steps_of(comparison)[0]
    answered_later(late)
    results = scope.comparison().results()
    assert results.findings is not None
    assert (results.later, results.paired) == (1, True)
    cells = [cell for ask in results.findings.asks for cell in ask.runs.values()]
    assert [cell.missing for cell in cells if cell.step is None] == [LATER]
    with pytest.raises(NotFound):
        scope.comparison().cell(late.id)
    assert results.findings.pairs


def test_columns_with_many_answers_are_counted_but_not_compared_in_pairs(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope = scope_of(comparison)
    answered_later(steps_of(comparison)[0])
    monkeypatch.setattr(comparison_scope, "FEW", 2)
    results = scope.comparison().results()
    assert results.findings is not None
    assert (len(results.findings.columns), results.findings.pairs, results.paired) == (3, [], False)


def test_marks_and_opinions_are_those_at_the_creation_of_the_link(comparison: Comparison) -> None:
    step = steps_of(comparison)[0]
    before = {"comparison": comparison, "step": step}
    CellMark.objects.create(**before, verdict="worse", marked_by="anna", created_at=now())
    CellOpinion.objects.create(
        **before, model="m", state="done", relation="different", finished_at=now(), requested_by="anna"
    )
    scope = scope_of(comparison)
    later = now() + timedelta(seconds=1)
    CellMark.objects.create(**before, verdict="better", marked_by="zoë", created_at=later)
    CellOpinion.objects.create(
        **before, model="late", state="done", relation="different", finished_at=later, requested_by="anna"
    )
    CellOpinion.objects.create(**before, model="waits", requested_by="anna")
    cell = scope.comparison().cell(step.id)
    assert [each.verdict for each in cell.marks] == ["worse"]
    assert [each.model for each in cell.opinions] == ["m"]
    results = scope.comparison().results()
    assert results.findings is not None
    remarks = scope.comparison().remarks(results.findings.asks)
    assert [each.verdict for each in remarks.marks[step.id]] == ["worse"]
    assert [each.model for each in remarks.opinions[step.id]] == ["m"]


def test_results_not_yet_computed_by_a_worker_are_not_found(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("timemachine.replay.comparison.results.FEW", 0)
    results = scope_of(comparison).comparison().results()
    assert (results.findings, results.state, results.due) == (None, "under_way", True)


def test_a_running_comparison_cannot_be_shared(project: Project, session: Session) -> None:
    variants = [Variant(model=ONE), Variant(model=THREE)]
    running = create(project, Plan(sessions=[session], arms=variants, reason="Welches?"), by="Test")
    with pytest.raises(Conflict, match="still running"):
        create_link(project, running, by="Test")
    with pytest.raises(InvalidInput, match="shared completely"):
        create_link(project, running, Terms(through_sequence=2), by="Test")


def test_a_comparison_of_another_project_cannot_be_shared(
    other_project: Project, comparison: Comparison
) -> None:
    with pytest.raises(NotFound):
        create_link(other_project, comparison, by="Test")


def test_a_link_is_deleted_with_the_last_session_of_its_comparison(
    comparison: Comparison, session: Session
) -> None:
    scope_of(comparison)
    erase_session(session)
    assert not ShareLink.objects.exists()


def test_steps_of_one_of_two_sessions_are_not_found_under_the_other(project: Project) -> None:
    """Both have an ask at the same sequence, and only one has a find inside it."""
    first, second = (recorded_session(project, key=key) for key in ("eins", "zwei"))
    made = compared(project, [first, second], ONE, THREE)
    scope = scope_of(made)
    assert [each.id for each in scope.sessions()] == [first.id, second.id]
    for step in steps_of(made):
        cell = scope.comparison().cell(step.id)
        (contexts,) = scope.comparison().contexts([cell]).values()
        assert {found.session for found in contexts} == {step.action.session_id}


def test_an_evidence_only_link_shows_metadata_but_no_cell(comparison: Comparison) -> None:
    scope = scope_of(comparison, Terms(evidence_only=True))
    step = steps_of(comparison)[0]
    assert step.output is not None
    answer = step.output.sha256
    assert scope.comparison().steps_compared().words == "3 asks"
    for read in (
        scope.comparison().results,
        lambda: scope.comparison().cell(step.id),
        lambda: scope.payload(answer),
    ):
        with pytest.raises(NotFound):
            read()
