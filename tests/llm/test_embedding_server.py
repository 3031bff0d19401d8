"""Embeddings from a server, with the real client against a server on the loopback."""

from collections.abc import Iterator

import pytest

from tests.stub_model_server import Script, StubModelServer
from timemachine.core.pure.errors import ModelFailed, Unavailable
from timemachine.llm import embedding_server
from timemachine.llm.checks import check_base_urls
from timemachine.llm.embedding_server import embeddings
from timemachine.llm.pure.catalogue import Connection, ModelName
from timemachine.llm.pure.completion import ModelRequest

KEY = "sk-test-0123456789"


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with StubModelServer() as server:
        monkeypatch.setenv("EMBEDDING_SERVER_URL", f"{server.url}/v1/")
        monkeypatch.setenv("EMBEDDING_SERVER_API_KEY", KEY)
        yield server


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record how long each retry would have waited; the tests do not wait."""
    waited: list[float] = []
    monkeypatch.setattr(embedding_server, "sleep", waited.append)
    return waited


def test_each_text_gets_its_vector_in_any_order_of_the_answer(stub: StubModelServer) -> None:
    together = embeddings("stub-model", ["one word", "two words here"])
    assert together == [embeddings("stub-model", [text])[0] for text in ("one word", "two words here")]
    assert together[0] != together[1]


def test_the_server_receives_the_texts_the_model_and_the_key(stub: StubModelServer) -> None:
    embeddings("nomic/embed@v1", ["a", "b"])
    (call,) = stub.calls()
    assert call.path == "/v1/embeddings"
    assert call.body == {"model": "nomic/embed@v1", "input": ["a", "b"]}
    assert call.headers["authorization"] == f"Bearer {KEY}"


def test_a_busy_or_broken_server_is_retried_after_a_pause(stub: StubModelServer, waits: list[float]) -> None:
    stub.script(Script(mode="429_then_ok"))
    assert len(embeddings("m", ["a"])) == 1
    stub.script(Script(mode="500", question="broken"))
    with pytest.raises(ModelFailed, match="server:m returned 500"):
        embeddings("m", ["broken"])
    assert len(stub.calls()) == 2 + 3
    assert len(waits) == 3
    assert all(0 < wait < 2 for wait in waits)


def test_a_refusal_is_quoted_and_not_retried(stub: StubModelServer) -> None:
    stub.script(Script(mode="error", status=400, body='{"error": {"message": "input is too long"}}'))
    with pytest.raises(ModelFailed, match="input is too long") as failed:
        embeddings("m", ["a"])
    assert failed.value.facts["status"] == 400
    assert len(stub.calls()) == 1


def test_an_invalid_answer_is_reported_as_not_understood(stub: StubModelServer) -> None:
    stub.script(Script(mode="garbage"))
    with pytest.raises(ModelFailed, match="cannot be read"):
        embeddings("m", ["a"])


def test_texts_too_large_for_the_server_are_not_sent_again(stub: StubModelServer) -> None:
    stub.script(Script(mode="error", status=500, body="input (992 tokens) is too large to process."))
    with pytest.raises(ModelFailed, match="too large"):
        embeddings("m", ["a"])
    assert len(stub.calls()) == 1


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({}, "does not have exactly one embedding for each text"),
        ({"data": []}, "does not have exactly one embedding for each text"),
        ({"data": [{"embedding": "AAAA"}, {"embedding": [1]}]}, "not a list of numbers"),
        ({"data": [{"embedding": []}, {"embedding": []}]}, "not a list of numbers"),
        ({"data": [{"embedding": [10**400]}, {"embedding": [1]}]}, "not a list of numbers"),
        ({"data": [{"embedding": [1]}, {"embedding": [float("nan")]}]}, "not a list of numbers"),
        ({"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}, "differ in length"),
    ],
)
def test_vectors_that_do_not_match_the_texts_are_refused(body: object, why: str) -> None:
    request = ModelRequest(
        model=ModelName(provider="server", model="m"),
        connection=Connection(protocol="openai", base_url="http://127.0.0.1:9/v1"),
        question="",
        passages=("a", "b"),
        messages=(),
    )
    with pytest.raises(ModelFailed, match=why):
        embedding_server._vectors(request, body)


def test_an_unreachable_server_is_reported_without_its_address(
    stub: StubModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDING_SERVER_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(ModelFailed, match="server:m cannot be reached") as failed:
        embeddings("m", ["a"])
    assert failed.value.code == "model_unreachable"
    assert "127.0.0.1" not in failed.value.message


def test_a_server_whose_address_has_a_password_in_it_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDDING_SERVER_URL", "http://user:s3cret@127.0.0.1:9/v1")
    with pytest.raises(Unavailable, match="EMBEDDING_SERVER_URL contains a user or password") as refused:
        embeddings("m", ["a"])
    assert "s3cret" not in refused.value.message
    assert [(each.id, "s3cret" in each.msg) for each in check_base_urls(None)] == [
        ("timemachine.E002", False)
    ]


def test_a_missing_server_is_reported_with_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EMBEDDING_SERVER_URL", raising=False)
    with pytest.raises(Unavailable, match="EMBEDDING_SERVER_URL") as missing:
        embeddings("m", ["a"])
    assert missing.value.code == "no_embeddings"
