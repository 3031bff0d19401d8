"""Steps that searched another collection than that of their session are repeated over that one."""

from dataclasses import replace

import pytest

from tests.builders import replayed
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import NotFound
from timemachine.knowledge.commands import NewFrame, get_or_create_collection
from timemachine.knowledge.find import Query, find
from timemachine.knowledge.models import Collection
from timemachine.recording.answering import commands as answering
from timemachine.recording.answering.commands import retrieval_draft
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, RetrievalDraft
from timemachine.replay.runs.frame_ranks import rank_page
from timemachine.replay.runs.models import ReplayStep
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.trials import try_step
from timemachine.replay.sweeps.commands import launch as sweep
from timemachine.replay.sweeps.models import SweepRow
from timemachine.replay.sweeps.pure.grid import Grid
from timemachine.replay.sweeps.worker import work

pytestmark = pytest.mark.django_db
QUESTION = "How much is the express delivery?"
AGAIN = ReplayOptions(top_k=1, use_model="local:extractive-1")


def collection(project: Project, name: str, text: str) -> Collection:
    made = get_or_create_collection(project, name, by="test")
    answering.put(made, [NewFrame(title=name, text=text)], by="test")
    return made


@pytest.fixture
def prices(project: Project) -> Collection:
    return collection(project, "prices", "The express delivery is 12 euros.")


@pytest.fixture
def session(project: Project) -> Session:
    own = collection(project, "handbook", "The express delivery arrives on the next day.")
    return start_session(project, name="Delivery", by="test", collection=own)


def repeated(session: Session) -> ReplayStep:
    return replayed(session, AGAIN).steps.select_related("output").latest("sequence")


def titles(step: ReplayStep) -> list[str | None]:
    return [hit.title for hit in step.hits.order_by("rank")]


def test_an_ask_of_another_collection_is_repeated_over_that_one(
    project: Project, session: Session, prices: Collection
) -> None:
    answering.ask(project, prices, Query(text=QUESTION), session=session)
    step = repeated(session)
    assert (titles(step), step.retrieval and step.retrieval["verdict"]) == (["prices"], "same")
    assert step.verdict == "identical"


def test_a_find_without_hits_is_repeated_over_the_collection_that_it_named(
    session: Session, prices: Collection
) -> None:
    answering.find(prices, Query(text=QUESTION, mode="lexical", min_score=1_000.0), session=session)
    step = replayed(session, ReplayOptions(search_mode="lexical", min_score=0.0)).steps.get()
    assert titles(step) == ["prices"]


def test_a_session_without_a_collection_repeats_steps_that_named_one(
    project: Project, prices: Collection
) -> None:
    session = start_session(project, name="Delivery", by="test")
    answering.find(prices, Query(text=QUESTION), session=session)
    assert titles(repeated(session)) == ["prices"]


def test_a_step_of_an_earlier_version_is_repeated_over_the_collection_of_what_it_found(
    session: Session, prices: Collection
) -> None:
    found = replace(retrieval_draft(find(prices, Query(text=QUESTION))), collection=None)
    append(session.id, [ActionDraft(kind="find", input=QUESTION, retrieval=found)])
    assert titles(repeated(session)) == ["prices"]


def test_a_step_whose_collection_is_not_here_fails_and_says_so(session: Session) -> None:
    elsewhere = RetrievalDraft(collection="elsewhere")
    append(session.id, [ActionDraft(kind="find", input=QUESTION, retrieval=elsewhere)])
    step = repeated(session)
    assert (step.status, step.error_type) == ("failed", "collection_not_found")


def test_a_trial_names_frames_of_the_collection_that_was_searched(
    project: Project, session: Session, prices: Collection
) -> None:
    answering.put(prices, [NewFrame(title="Returns", text="Returns are free.")], by="test")
    answering.ask(project, prices, Query(text=QUESTION, top_k=1), session=session)
    options = ReplayOptions(step=1, frames=(1,), use_model="local:extractive-1")
    assert try_step(session, options, by="test").options["frames"] == (1,)
    with pytest.raises(NotFound, match="no frame 7 in prices"):
        try_step(session, options.model_copy(update={"frames": (7,)}), by="test")


def test_ranks_and_sweeps_leave_out_steps_of_another_collection(session: Session, prices: Collection) -> None:
    for searched in (session.collection, prices):
        assert searched is not None
        answering.find(searched, Query(text=QUESTION), session=session)
    assert [each.error for each in rank_page(session, frame=0).items] == [
        None,
        "This step searched another collection.",
    ]
    made = sweep(session, Grid(modes=["lexical"], top_k=[1], adaptive=[False]), by="test")
    work(made.id)
    result = SweepRow.objects.get(sweep=made).result
    assert result is not None
    assert (result["steps"], result["left_out"]) == (1, 1)
