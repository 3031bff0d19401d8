"""Copied asks and finds are repeated in the session in which they happened, and in a fork only if one is named."""

import pytest

from tests.builders import FACTS, replayed, worked
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput
from timemachine.knowledge.commands import NewFrame, get_or_create_collection
from timemachine.knowledge.find import Query
from timemachine.recording.answering import commands as answering
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, copy_of
from timemachine.replay.alignment.queries import aligned
from timemachine.replay.comparison.commands import Plan, checked
from timemachine.replay.comparison.pure.variants import Variant
from timemachine.replay.runs.estimate import estimate_replays
from timemachine.replay.runs.last_answers import last_answers
from timemachine.replay.runs.plan import steps_in
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.trials import try_step
from timemachine.replay.suites.plan import Matching
from timemachine.replay.suites.queries import offered_in, sessions_matched

pytestmark = pytest.mark.django_db
MODEL = "local:extractive-1"
COPIES = (
    ActionDraft(kind="find", input="How long?", output="Ten years.", copied_from=copy_of("parent", 1)),
    ActionDraft(
        kind="ask",
        input="How long are invoices kept?",
        output="Ten years.",
        model="openai:gpt-4o",
        parameters={"call_ms": 5},
        copied_from=copy_of("parent", 2),
    ),
)
AUDIT = ReplayOptions(audit=True, reason="A test.")


def fork_of(project: Project, key: str, *, asks: bool) -> Session:
    """A fork with a copied find and ask, and one ask of its own as step 3."""
    collection = get_or_create_collection(project, "handbook", by="test")
    answering.put(collection, [NewFrame(title=title, text=text) for title, text in FACTS], by="test")
    session = start_session(project, name=key, key=key, by="test", collection=collection, tags=["forks"])
    append(session.id, list(COPIES))
    if asks:
        answering.ask(project, collection, Query(text="Who shreds them?"), use_model=MODEL, session=session)
    return end_session(session.id)


@pytest.fixture
def fork(project: Project) -> Session:
    return fork_of(project, "fork", asks=True)


@pytest.fixture
def only_copies(project: Project) -> Session:
    return fork_of(project, "only-copies", asks=False)


def test_a_replay_repeats_what_happened_in_the_session_or_the_named_step(fork: Session) -> None:
    assert steps_in(fork, AUDIT) == [3]
    assert steps_in(fork, ReplayOptions(step=2)) == [2]
    assert list(replayed(fork, AUDIT).steps.values_list("sequence", flat=True)) == [3]


def test_a_session_of_copies_has_nothing_to_replay(only_copies: Session) -> None:
    with pytest.raises(InvalidInput, match="no find, ask or model call of its own"):
        replayed(only_copies, AUDIT)


def test_an_estimate_counts_the_session_s_own_asks(fork: Session) -> None:
    (found,) = estimate_replays([fork], [ReplayOptions(use_model=MODEL)])
    assert found.calls == 1


def test_a_comparison_s_size_is_that_of_its_own_asks(
    project: Project, fork: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("timemachine.replay.comparison.commands.MOST_ANSWERS", 2)
    plan = Plan(
        sessions=[fork], arms=[Variant(model=MODEL), Variant(model="local:extractive-3")], reason="A test."
    )
    assert len(checked(project, plan).sessions) == 1


def test_suites_select_sessions_with_a_find_or_ask_of_their_own(
    project: Project, fork: Session, only_copies: Session
) -> None:
    assert list(sessions_matched(project, Matching(tag="forks"))) == [fork]
    assert offered_in(project, []) == [fork]


def test_a_copied_answer_does_not_say_that_a_model_answered_now(project: Project, fork: Session) -> None:
    assert "openai" not in last_answers(project.id)


def test_a_replay_is_compared_with_the_steps_that_it_repeats(project: Project, fork: Session) -> None:
    trial = worked(try_step(fork, ReplayOptions(step=2, use_model=MODEL), by="test"))
    for replay, sequence in ((replayed(fork, AUDIT), 3), (trial, 2)):
        found = aligned(project, "fork", f"{replay.id}")
        sides = [
            (pair.left and pair.left.sequence, pair.right and pair.right.sequence) for pair in found.pairs
        ]
        assert (sequence, sequence) in sides
        assert 1 not in found.left.steps


def test_copies_are_aligned_with_their_originals_and_are_in_no_total(project: Project) -> None:
    drafts = [
        ActionDraft(kind="message", role="user", output="Paint it."),
        ActionDraft(kind="tool_call", tool="paint", input={"colour": "red"}, error_message="No paint."),
    ]
    parent = start_session(project, name="a", key="a", by="test")
    append(parent.id, drafts)
    forked = start_session(project, name="b", key="b", by="test", parent=(parent, 2))
    copies = [
        ActionDraft(
            kind=each.kind,
            role=each.role,
            tool=each.tool,
            input=each.input,
            output=each.output,
            error_message=each.error_message,
            copied_from=copy_of("a", place),
        )
        for place, each in enumerate(drafts, 1)
    ]
    append(forked.id, [*copies, ActionDraft(kind="message", role="user", output="And the door.")])
    found = aligned(project, "a", "b")
    pairs = [(pair.status, pair.right and pair.right.sequence) for pair in found.pairs]
    assert pairs == [("same", 1), ("same", 2), ("only_right", 3)]
    assert [step.copied for step in found.right.steps.values()] == [True, True, False]
    assert (found.left.totals.errors, found.right.totals.errors, found.right.totals.steps) == (1, 0, 1)
