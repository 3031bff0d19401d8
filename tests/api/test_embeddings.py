"""The embedding model of a collection over HTTP."""

import pytest

from tests.api.conftest import Program
from timemachine.knowledge import embedding_backlog
from timemachine.knowledge.embedding import minilm
from timemachine.knowledge.embedding.files import ModelFiles
from timemachine.knowledge.models import Collection, Frame
from timemachine.knowledge.vectors import store_refusal

OWN = "wordllama-l2-supercat-256@64b47a2d"


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow minilm whether or not its weights are installed."""
    monkeypatch.setattr(ModelFiles, "are_installed", lambda _: True)


@pytest.fixture
def filled(api: Program) -> Program:
    api.post("/collections/handbook/put", {"frames": [{"text": "one"}, {"text": "two"}]})
    return api


def test_a_fully_embedded_collection_has_nothing_missing(filled: Program) -> None:
    assert filled.get("/collections/handbook/embedding").json() == {
        "collection": "handbook",
        "embedding_model": OWN,
        "frames": 2,
        "embedded": 2,
        "refused": None,
        "target": None,
        "trouble": None,
    }


def test_re_embedding_is_accepted_and_its_progress_can_be_read(filled: Program) -> None:
    response = filled.post("/collections/handbook/embedding", {"model": "minilm"})
    assert response.status_code == 202
    read = filled.get("/collections/handbook/embedding").json()
    assert read == response.json()
    assert (read["embedding_model"], read["frames"], read["embedded"]) == (OWN, 2, 2)
    assert read["target"].pop("requested_at")
    assert read["target"] == {
        "embedding_model": minilm.NAME,
        "embedded": 0,
        "refused": None,
        "requested_by": "key test",
    }
    assert embedding_backlog.is_due(Collection.objects.get().id)


def test_refused_frames_are_counted_with_a_reason_and_retried_on_request(
    filled: Program,
) -> None:
    for frame in Frame.objects.order_by("number"):
        store_refusal(frame.collection, minilm.NAME, frame, "it answered 413: too long")
    Collection.objects.update(embedding_model=minilm.NAME)
    read = filled.get("/collections/handbook/embedding").json()
    assert read["refused"] == {"count": 2, "frame": 1, "reason": "it answered 413: too long"}
    assert (read["embedded"], read["frames"]) == (0, 2)
    requested = filled.post("/collections/handbook/embedding", {"model": "minilm"}).json()
    assert requested["refused"] is None
    assert embedding_backlog.is_due(Collection.objects.get().id)


def test_an_unknown_model_is_refused_with_the_known_ones(filled: Program) -> None:
    refused = filled.post("/collections/handbook/embedding", {"model": "bert"})
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_embedding_model")
    assert "wordllama, minilm" in refused.json()["message"]


def test_a_find_reports_its_model_and_the_number_of_frames_not_embedded(filled: Program) -> None:
    found = filled.post("/collections/handbook/find", {"query": "one"}).json()
    assert (found["embedding_model"], found["not_embedded"]) == (OWN, 0)
    found = filled.post("/collections/handbook/find", {"query": "one", "embedding_model": "wordllama"}).json()
    assert found["embedding_model"] == OWN
    refused = filled.post("/collections/handbook/find", {"query": "one", "embedding_model": "minilm"})
    assert (refused.status_code, refused.json()["code"]) == (422, "embedding_model_not_there")
    assert refused.json()["facts"]["there"] == [OWN]


def test_frames_not_embedded_are_recorded_only_if_there_were_any(filled: Program) -> None:
    filled.post("/sessions", {"name": "s", "key": "s", "collection": "handbook"})
    filled.post("/sessions/s/find", {"query": "one"})
    Collection.objects.update(embedding_model="server:nomic")
    filled.post("/collections/handbook/put", {"text": "three"})
    filled.post("/sessions/s/find", {"query": "one"})
    first, second = (filled.get(f"/sessions/s/actions/{step}").json()["retrieval"] for step in (1, 2))
    assert first["not_embedded"] is None
    assert second["not_embedded"] == 3
