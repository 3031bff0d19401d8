"""Testing a model with one small call and reporting the result."""

from collections.abc import Iterator
from decimal import Decimal

import pytest

from tests.stub_model_server import Script, StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput, TooManyRequests, Unavailable
from timemachine.llm.models import ModelTrial
from timemachine.llm.offers import offers_of
from timemachine.llm.trials import MOST, latest_trials, try_model

GPT = "openai:gpt-4o-mini"


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    """Return OpenAI on the loopback."""
    with StubModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        yield server


def test_a_model_that_answers_is_reported_with_its_text_time_tokens_and_cost(
    project: Project, stub: StubModelServer
) -> None:
    stub.script(Script(answer="OK", usage={"prompt_tokens": 12, "completion_tokens": 2, "total_tokens": 14}))
    trial = try_model(project.id, GPT, by="ada@example.org")
    trial.refresh_from_db()
    assert (trial.words, trial.error_code, trial.by) == ("OK", None, "ada@example.org")
    assert (trial.input_tokens, trial.output_tokens) == (12, 2)
    assert trial.cost_usd == Decimal("0.000003")
    assert trial.prices is not None
    assert trial.prices["source"] == "genai-prices"
    assert trial.duration_ms is not None
    (call,) = stub.calls()
    assert call.prompt == "Reply with the word OK."
    assert call.body["max_completion_tokens"] == 128


@pytest.mark.parametrize("mode", ["500", "error"])
def test_a_model_that_fails_is_reported_in_the_provider_s_words_and_not_retried(
    project: Project, stub: StubModelServer, mode: str
) -> None:
    stub.script(Script(mode=mode, status=404))  # type: ignore[arg-type]
    trial = try_model(project.id, GPT, by="ada")
    assert trial.error_code == "model_failed"
    assert f"{GPT} returned" in trial.words
    assert (trial.cost_usd, trial.ended_at is None) == (None, False)
    assert len(stub.calls()) == 1


def test_the_last_test_of_each_model_is_shown_with_it(project: Project, stub: StubModelServer) -> None:
    try_model(project.id, GPT, by="ada")
    try_model(project.id, GPT, by="bob")
    try_model(project.id, "openai", by="eve")
    assert {name: trial.by for name, trial in latest_trials(project.id).items()} == {
        GPT: "bob",
        "openai:gpt-6.1-terra": "eve",
    }
    (openai,) = (each for each in offers_of(project.id) if each.listed.provider == "openai")
    assert openai.trial is not None


def test_the_number_of_tests_per_minute_is_limited(
    project: Project, other_project: Project, stub: StubModelServer
) -> None:
    for _ in range(MOST):
        try_model(project.id, GPT, by="ada")
    with pytest.raises(TooManyRequests, match="each test may cost money") as refused:
        try_model(project.id, GPT, by="bob")
    assert 0 < refused.value.facts["retry_after_seconds"] <= 60
    assert len(stub.calls()) == MOST
    try_model(other_project.id, GPT, by="eve")


def test_a_model_without_calls_is_not_tested(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InvalidInput, match="there is nothing to test"):
        try_model(project.id, "local", by="ada")
    with pytest.raises(Unavailable, match="OPENAI_API_KEY is not set"):
        try_model(project.id, GPT, by="ada")
    assert not ModelTrial.objects.exists()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (Script(answer="O\ud800\x00K"), "O\ufffd\ufffdK"),
        (
            Script(mode="error", status=400, body='{"error": {"message": "no\\u0000 \\ud800"}}'),
            "no\ufffd \ufffd",
        ),
    ],
    ids=["answer", "error"],
)
def test_text_that_the_database_cannot_store_is_still_reported(
    project: Project, stub: StubModelServer, script: Script, words: str
) -> None:
    stub.script(script)
    trial = try_model(project.id, GPT, by="ada")
    trial.refresh_from_db()
    assert words in trial.words
    assert trial.ended_at is not None


def test_a_name_that_its_provider_makes_too_long_is_refused(project: Project, stub: StubModelServer) -> None:
    with pytest.raises(InvalidInput, match="at most 200 characters"):
        try_model(project.id, "gpt-" + "x" * 190, by="ada")
    assert not stub.calls()
