"""A replay over a collection that got another embedding model since: as it was recorded means by the model of then."""

from typing import Any

import pytest

from tests.builders import recorded_session, replayed
from tests.stub_model_server import StubModelServer
from timemachine.accounts.models import Project
from timemachine.replay.options import ReplayOptions
from timemachine.replay.queries import steps_of
from timemachine.retrieval import backlog
from timemachine.retrieval.models import Collection, FrameEmbedding
from timemachine.retrieval.reembedding import reembed

THEN, SINCE = "wordllama-l2-supercat-256@64b47a2d", "server:m@8"


@pytest.fixture
def found(project: Project, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What each find of a recorded session comes to, replayed with these options after a re-embedding."""
    session = recorded_session(project)
    with StubModelServer() as stub:
        monkeypatch.setenv("EMBEDDING_SERVER_URL", f"{stub.url}/v1")
        collection = Collection.objects.get()
        reembed(collection, "server:m", by="test")
        assert backlog.work_off(collection.id) is False

        def found(**options: Any) -> list[dict[str, Any]]:
            steps = steps_of(replayed(session, ReplayOptions(audit=False, **options)))
            return [step.retrieval for step in steps if step.retrieval]

        yield found


def test_as_recorded_it_is_searched_with_the_recorded_model_and_finds_the_same(found: Any) -> None:
    again = found(as_of="recorded")
    assert {each["embedding_model"] for each in again} == {THEN}
    assert {each["verdict"] for each in again} == {"same"}


def test_as_it_is_now_it_is_searched_with_the_model_of_now(found: Any) -> None:
    assert {each["embedding_model"] for each in found(as_of="now")} == {SINCE}


def test_by_words_alone_no_model_is_used(found: Any) -> None:
    assert {each["embedding_model"] for each in found(as_of="recorded", search_mode="lexical")} == {None}


def test_where_the_vectors_of_then_are_gone_the_models_own_are_used_and_named(found: Any) -> None:
    FrameEmbedding.objects.filter(model=THEN).delete()
    assert {each["embedding_model"] for each in found(as_of="recorded")} == {SINCE}
