"""A replay of a collection that was re-embedded since: "as recorded" uses the embedding model of that time."""

from typing import Any

import pytest

from tests.builders import QUESTIONS, recorded_session, replayed
from tests.stub_model_server import StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput
from timemachine.knowledge import embedding_backlog
from timemachine.knowledge.find import Query
from timemachine.knowledge.models import Collection, FrameEmbedding
from timemachine.knowledge.reembedding import reembed
from timemachine.recording.answering.commands import find
from timemachine.recording.sessions.commands import start_session
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.queries import steps_of

THEN, SINCE = "wordllama-l2-supercat-256@64b47a2d", "server:m@8"


@pytest.fixture
def replay_finds(project: Project, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The results of each find of a recorded session, replayed with these options after a re-embedding."""
    session = recorded_session(project)
    with StubModelServer() as stub:
        monkeypatch.setenv("EMBEDDING_SERVER_URL", f"{stub.url}/v1")
        collection = Collection.objects.get()
        reembed(collection, "server:m", by="test")
        assert embedding_backlog.embed_missing(collection.id) is False

        def results(**options: Any) -> list[dict[str, Any]]:
            steps = steps_of(replayed(session, ReplayOptions(audit=False, **options)))
            return [step.retrieval for step in steps if step.retrieval]

        yield results


def test_as_recorded_the_recorded_model_is_used_and_finds_the_same(replay_finds: Any) -> None:
    results = replay_finds(as_of="recorded")
    assert {each["embedding_model"] for each in results} == {THEN}
    assert {each["verdict"] for each in results} == {"same"}


def test_as_of_now_the_current_model_is_used(replay_finds: Any) -> None:
    assert {each["embedding_model"] for each in replay_finds(as_of="now")} == {SINCE}


def test_a_lexical_search_uses_no_model(replay_finds: Any) -> None:
    assert {each["embedding_model"] for each in replay_finds(as_of="recorded", search_mode="lexical")} == {
        None
    }


def test_without_the_recorded_vectors_the_current_model_is_used_and_named(replay_finds: Any) -> None:
    FrameEmbedding.objects.filter(model=THEN).delete()
    assert {each["embedding_model"] for each in replay_finds(as_of="recorded")} == {SINCE}


def test_only_models_with_vectors_in_the_collection_can_be_chosen(replay_finds: Any) -> None:
    assert {each["embedding_model"] for each in replay_finds(embedding_model="server:m")} == {SINCE}
    assert {each["embedding_model"] for each in replay_finds(embedding_model=THEN)} == {THEN}
    with pytest.raises(InvalidInput, match="no vectors of the embedding model 'nobody'"):
        replay_finds(embedding_model="nobody")


def retrievals(session: Session, **options: Any) -> list[dict[str, Any]]:
    return [step.retrieval or {} for step in steps_of(replayed(session, ReplayOptions(**options)))]


def test_the_thresholds_of_a_find_are_recorded_and_used_in_its_replay(project: Project) -> None:
    session = recorded_session(project)
    collection = Collection.objects.get()
    adaptive_session = start_session(project, name="adaptive", by="test", collection=collection)
    query = Query(text=QUESTIONS[0], mode="lexical", adaptive=True, relative=0.9, cliff=0.8, min_score=0.5)
    find(collection, query, session=adaptive_session)
    recorded = adaptive_session.actions.get().retrieval or {}
    thresholds = {"relative": 0.9, "cliff": 0.8, "floor": 0.5}
    assert (recorded["thresholds"], recorded["min_score"]) == (thresholds, 0.5)
    (same,) = retrievals(adaptive_session, as_of="recorded")
    assert (same["verdict"], same["thresholds"]) == ("same", thresholds)
    (other,) = retrievals(adaptive_session, relative=0.0, cliff=0.0)
    assert other["thresholds"] == {"relative": 0.0, "cliff": 0.0, "floor": 0.5}
    for each in retrievals(session, adaptive=True, relative=0.95):
        assert each["thresholds"]["relative"] == 0.95


def test_hits_missing_from_a_shorter_list_are_lost(project: Project) -> None:
    first, *_ = retrievals(recorded_session(project), top_k=1)
    assert (first["k"], len(first["lost"]), first["overlap"]) == (2, 1, 0.5)
    assert (first["rank_biased_overlap"], first["persistence"]) == (1.0, 0.9)  # as far as both lists go
    assert first["curve"]["kept"] == 1
