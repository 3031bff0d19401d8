"""A server's embedding model in a collection: its dimensions are learned once and then fixed, and long texts are read completely."""

from collections.abc import Iterator

import numpy as np
import pytest

from tests.stub_model_server import Script, StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import ModelFailed, Unavailable
from timemachine.knowledge import embedding_backlog
from timemachine.knowledge.commands import NewFrame, create_collection, put_frames
from timemachine.knowledge.embedding import server, table
from timemachine.knowledge.find import Query, find
from timemachine.knowledge.models import EmbeddingWork, FrameEmbedding
from timemachine.knowledge.reembedding import RefusedFrames, embedding_progress, reembed


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with StubModelServer() as running:
        monkeypatch.setenv("EMBEDDING_SERVER_URL", f"{running.url}/v1")
        yield running


def test_a_collection_learns_the_dimensions_with_its_first_vectors(
    project: Project, stub: StubModelServer
) -> None:
    made = create_collection(project, "x", by="test", embedding_model="server:nomic@v1")
    put_frames(made, [NewFrame(text="trains are late"), NewFrame(text="apples look red")], by="test")
    assert stub.calls() == []
    assert find(made, Query(text="apples", mode="semantic")).not_embedded == 2
    assert embedding_backlog.embed_missing(made.id) is False
    made.refresh_from_db()
    assert made.embedding_model == "server:nomic@v1@8"
    assert not EmbeddingWork.objects.exists()
    found = find(made, Query(text="apples look red"))
    assert (found.embedding_model, found.not_embedded, found.hits[0].frame) == ("server:nomic@v1@8", 0, 1)
    assert found.hits[0].scores["semantic"] == pytest.approx(1, abs=1e-3)


def test_a_changed_model_on_the_server_is_refused_and_re_embedding_fixes_it(
    project: Project, stub: StubModelServer
) -> None:
    made = create_collection(project, "x", by="test", embedding_model="server:nomic")
    put_frames(made, [NewFrame(text="trains are late")], by="test")
    embedding_backlog.embed_missing(made.id)
    made.refresh_from_db()
    stub.script(Script(answer="5"))
    with pytest.raises(Unavailable, match="Re-embed the collection with server:nomic"):
        find(made, Query(text="trains"))
    assert find(made, Query(text="trains", mode="lexical")).hits
    reembed(made, "server:nomic", by="test")
    embedding_backlog.embed_missing(made.id)
    assert embedding_progress(made).model == "server:nomic@5"


def test_re_embedding_tests_the_server_before_anything_is_changed(
    project: Project, stub: StubModelServer
) -> None:
    made = create_collection(project, "x", by="test")
    stub.script(Script(mode="error", status=404, body='{"error": "no such model"}'))
    with pytest.raises(ModelFailed, match="no such model"):
        reembed(made, "server:typo", by="test")
    assert not EmbeddingWork.objects.exists()


def test_a_model_whose_dimensions_were_not_known_yet_can_be_requested_again(
    project: Project, stub: StubModelServer
) -> None:
    made = create_collection(project, "x", by="test", embedding_model="server:nomic")
    put_frames(made, [NewFrame(text="trains are late")], by="test")
    reembed(made, "server:nomic", by="test")
    while embedding_backlog.embed_missing(made.id):
        pass
    assert embedding_progress(made).model == "server:nomic@8"
    assert FrameEmbedding.objects.count() == 1
    assert not EmbeddingWork.objects.exists()


def test_a_long_text_is_read_completely_and_its_vector_is_the_mean_of_its_windows(
    stub: StubModelServer,
) -> None:
    words = " ".join(f"word{number}" for number in range(900))
    vector = server.embed("server:m@8", [words, "", "short"])
    assert not vector[1].any()
    assert np.allclose(np.linalg.norm(vector[[0, 2]], axis=1), 1, atol=1e-6)
    sent = [text for call in stub.calls() for text in call.body["input"]]
    assert "".join(sent[:-1]) == words
    assert max(map(len, sent)) <= server.WINDOW
    mean = server.embed("server:m@8", sent[:-1]).mean(axis=0)
    assert np.allclose(vector[0], mean / np.linalg.norm(mean), atol=1e-6)


def test_a_refused_single_text_is_sent_in_fewer_and_shorter_windows(
    stub: StubModelServer,
) -> None:
    words = " ".join(f"word{number}" for number in range(900))
    stub.script(Script(longest_text=700, most_texts=2))
    vector = server.embed("server:m@8", [words])
    assert np.allclose(np.linalg.norm(vector, axis=1), 1, atol=1e-6)
    requests = [call.body["input"] for call in stub.calls()]
    accepted = [texts for texts in requests if len(texts) <= 2 and max(map(len, texts)) <= 700]
    assert "".join("".join(texts) for texts in accepted).replace(" ", "") == words.replace(" ", "")


def test_a_text_also_refused_at_500_characters_is_refused(stub: StubModelServer) -> None:
    stub.script(Script(longest_text=200))
    with pytest.raises(ModelFailed, match="returned 413: too long"):
        server.embed("server:m@8", ["x" * 1_900])
    assert min(len(text) for call in stub.calls() for text in call.body["input"]) >= 400


@pytest.mark.parametrize(
    ("status", "body"),
    [(400, "no"), (413, "no"), (422, "no"), (500, "input (992 tokens) is too large to process.")],
)
def test_more_than_three_refused_texts_do_not_block_the_others(
    project: Project, stub: StubModelServer, status: int, body: str
) -> None:
    stub.script(Script(mode="error", status=status, body=body, question="bad"))
    made = create_collection(project, "x", by="test", embedding_model="server:nomic")
    frames = [NewFrame(text=f"bad {number}") for number in range(4)]
    put_frames(made, [*frames, *(NewFrame(text=f"good {number}") for number in range(100))], by="test")
    while embedding_backlog.embed_missing(made.id):
        pass
    progress = embedding_progress(made)
    assert (progress.embedded, progress.frames, progress.is_running) == (100, 104, False)
    assert progress.refused == RefusedFrames(count=4, frame=3, reason=f"it returned {status}: {body}")


@pytest.mark.parametrize("written", ["server:huge", "server:huge@17000"])
def test_vectors_that_are_too_long_to_store_are_refused_before_anything_is_created(
    project: Project, stub: StubModelServer, written: str
) -> None:
    stub.script(Script(answer="17000"))
    made = create_collection(project, "x", by="test")
    with pytest.raises(Unavailable, match="17,000 dimensions; the limit is 16,000") as refused:
        reembed(made, written, by="test")
    assert refused.value.code == "no_embeddings"
    assert not EmbeddingWork.objects.exists()


def test_a_collection_with_vectors_that_turn_out_too_long_reports_it(
    project: Project, stub: StubModelServer
) -> None:
    stub.script(Script(answer="17000"))
    made = create_collection(project, "x", by="test", embedding_model="server:huge")
    put_frames(made, [NewFrame(text="trains are late")], by="test")
    assert embedding_backlog.embed_missing(made.id) is False
    trouble = embedding_progress(made).failure
    assert trouble is not None
    assert trouble.code == "no_embeddings"


@pytest.mark.parametrize(
    ("name", "short_name", "dimensions"),
    [("server:m", "server:m", None), ("server:m@v1", "server:m@v1", None), ("server:m@384", "server:m", 384)],
)
def test_a_name_may_fix_the_dimensions(name: str, short_name: str, dimensions: int | None) -> None:
    model = table.model_named(name)
    assert (model.short_name, server.dimensions_of(name)) == (short_name, dimensions)
    assert table.has_dimensions(model) == (dimensions is not None)
