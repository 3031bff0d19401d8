"""`reembed`: starting it, waiting for it, and refusals."""

import json
from collections.abc import Generator

import pytest

from tests.brokers import tending
from tests.cli.terminal import Here
from tests.stub_model_server import Script, StubModelServer
from timemachine.jobs.registry import overdue
from timemachine.knowledge import embedding_backlog
from timemachine.knowledge.models import Collection
from timemachine.knowledge.tasks import embed_backlog


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Generator[StubModelServer]:
    with StubModelServer() as server:
        monkeypatch.setenv("EMBEDDING_SERVER_URL", f"{server.url}/v1")
        yield server


@pytest.fixture
def embedder(tm: Here) -> Generator[None]:
    """A worker that computes embeddings while the command waits for them."""

    def work() -> None:
        for collection_id in overdue(embed_backlog, at_start=True):
            embedding_backlog.embed_missing(collection_id)

    with tending(work):
        yield


@pytest.fixture
def handbook(tm: Here) -> Here:
    lines = "\n".join(json.dumps({"text": f"passage {number}"}) for number in range(5))
    tm.json("put", "handbook", tm.file("passages.jsonl", lines))
    return tm


def test_a_collection_is_re_embedded_and_the_command_waits_for_it(
    handbook: Here, stub: StubModelServer, embedder: None
) -> None:
    ran = handbook.run("reembed", "handbook", "--model", "server:nomic")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "handbook is searched with server:nomic@8: 5 of 5 embedded.\n"
    found = handbook.json("find", "handbook", "--query", "passage", "--embedding-model", "wordllama")
    assert found["embedding_model"].startswith("wordllama")


def test_without_waiting_the_progress_is_shown(handbook: Here, stub: StubModelServer) -> None:
    ran = handbook.run("reembed", "handbook", "--model", "server:nomic", "--no-wait")
    assert "handbook is being embedded with server:nomic@8: 0 of 5 embedded." in ran.out
    assert "Until then, it is searched with wordllama-l2-supercat-256@64b47a2d." in ran.out


def test_frames_refused_by_the_server_are_reported_and_the_command_ends(
    handbook: Here, stub: StubModelServer, embedder: None
) -> None:
    stub.script(Script(mode="error", status=413, question="passage 3", body='{"error": "too long"}'))
    ran = handbook.run("reembed", "handbook", "--model", "server:nomic")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "handbook is searched with server:nomic@8: 4 of 5 embedded.",
        "1 rejected by the embedding server (the latest is frame 3): it returned 413: too long",
        "Rejected frames have no vector and are found by keyword only. Run the same command again to retry them.",
    ]


def test_an_error_is_reported_in_one_line(handbook: Here, stub: StubModelServer, embedder: None) -> None:
    stub.script(Script(mode="error", status=401, question="passage", body='{"error": "bad key"}'))
    ran = handbook.run("reembed", "handbook", "--model", "server:nomic")
    assert (ran.code, ran.out) == (1, "")
    assert "bad key" in ran.err
    assert "retries automatically" in ran.err


def test_an_unavailable_model_is_refused(handbook: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMBEDDING_SERVER_URL", raising=False)
    assert "set EMBEDDING_SERVER_URL" in handbook.refused("reembed", "handbook", "--model", "server:nomic")
    assert "wordllama, minilm" in handbook.refused("reembed", "handbook", "--model", "bert")


def test_a_find_warns_about_frames_without_a_vector(handbook: Here, stub: StubModelServer) -> None:
    Collection.objects.update(embedding_model="server:nomic")
    handbook.json("put", "handbook", "-", given="a passage more")
    ran = handbook.run("find", "handbook", "--query", "passage")
    assert ran.out.startswith("6 frames had no vector and could be found by keyword only.\n")
