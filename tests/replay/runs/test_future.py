"""A replay never reads an action after its step: replaying as of the recording gives the same result whatever comes later."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import FACTS, QUESTIONS, recorded_session
from timemachine.core.accounts.models import Project
from timemachine.knowledge.commands import NewFrame, delete_frame, put_frames
from timemachine.knowledge.find import Query
from timemachine.knowledge.models import Collection
from timemachine.recording.answering import commands as answering
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.replay.runs.commands import launch
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.queries import steps_of
from timemachine.replay.runs.step_schemas import ReplayStepOut
from timemachine.replay.runs.trials import try_step
from timemachine.replay.runs.worker import work

IGNORED_FIELDS = ("attempts", "duration_ms")
WAYS: dict[str, Callable[[Session], Replay]] = {
    "debug": lambda session: launch(
        session, ReplayOptions(as_of="recorded", adaptive=True, through_sequence=2), by="test"
    ),
    "audit": lambda session: launch(
        session,
        ReplayOptions(audit=True, reason="r", use_model="local:extractive-3", through_sequence=2),
        by="test",
    ),
    "trial": lambda session: try_step(session, ReplayOptions(step=2, frames=(2, 0)), by="test"),
    "trial that looks again": lambda session: try_step(session, ReplayOptions(step=2, top_k=3), by="test"),
}


@pytest.fixture
def session(project: Project) -> Session:
    collection_of = recorded_session(project).collection
    session = start_session(project, name="goes on", by="test", collection=collection_of)
    assert collection_of is not None
    answering.find(collection_of, Query(text=QUESTIONS[0], top_k=2), session=session)
    answering.ask(
        project,
        collection_of,
        Query(text=QUESTIONS[1], top_k=2),
        use_model="local:extractive-1",
        session=session,
    )
    return session


def outcome(session: Session, way: str) -> list[dict[str, Any]]:
    replay = WAYS[way](session)
    work(replay.id, "test")
    return [_without_times(ReplayStepOut.of(step).model_dump()) for step in steps_of(replay)]


def _without_times(found: Any) -> Any:
    """Without run times and durations, and without later changes of a frame, which are shown separately from the verdict."""
    if isinstance(found, dict):
        apart = (*IGNORED_FIELDS, "since", "call_ms", "prices")
        return {name: _without_times(value) for name, value in found.items() if name not in apart}
    return [_without_times(each) for each in found] if isinstance(found, list) else found


def apply_later_change(session: Session, change: str) -> None:
    """Changes that may happen after the step."""
    collection = Collection.objects.get()
    number = session.actions.count()
    hits = (HitDraft(rank=1, frame=0, text=f"{FACTS[0][1]} {number}"),)
    if change == "put":
        put_frames(collection, [NewFrame(title="Train", text=f"Train tickets, class {number}.")], by="test")
    elif change == "update":
        put_frames(collection, [NewFrame(number=1, text=f"All trains are cancelled {number}.")], by="test")
    elif change == "delete":
        if collection.frames.filter(number=3, valid_until=None).exists():
            delete_frame(collection, 3, by="test")
    elif change == "find":
        answering.find(collection, Query(text=QUESTIONS[1]), session=session)
    else:
        draft = ActionDraft(kind="ask", input=QUESTIONS[1], output="No.", retrieval=RetrievalDraft(hits=hits))
        append(session.id, [draft])


CHANGES = st.lists(st.sampled_from(["put", "update", "delete", "find", "ask"]), min_size=1, max_size=4)


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=3, suppress_health_check=list(HealthCheck))
@given(changes=CHANGES)
def test_later_actions_do_not_change_the_replay_of_a_step(
    session: Session, way: str, changes: list[str]
) -> None:
    before = outcome(session, way)
    assert any(step["status"] == "done" for step in before)
    for change in changes:
        apply_later_change(session, change)
    assert outcome(session, way) == before
