"""Models over HTTP: the list, write-only keys, model servers, and paid test calls."""

from collections.abc import Iterator

import pytest

from tests.api.conftest import Program, program
from tests.stub_model_server import Script, StubModelServer
from timemachine.core.accounts.models import Project

KEY = "sk-project-0123456789-wxyz"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only OpenAI has a key in the environment."""
    for name in ("ANTHROPIC", "GEMINI", "XAI", "GROQ", "MISTRAL"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment-0123456789")


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    """The stub that the operator configured as OpenAI's base URL."""
    with StubModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


def test_every_model_is_listed_with_its_key_prices_and_availability(project: Project) -> None:
    found = {each["provider"]: each for each in program(project, "read").get("/models").json()["items"]}
    assert list(found) == ["local", "openai", "anthropic", "gemini", "xai", "groq", "mistral", "ollama"]
    openai = found["openai"]
    assert (openai["model"], openai["usable"], openai["key"]) == ("openai:gpt-6.1-terra", True, "environment")
    assert openai["prices"]["per_million_tokens"]["input"] == 1
    xai = found["xai"]
    assert (xai["usable"], xai["key"], xai["key_variable"]) == (False, "missing", "XAI_API_KEY")
    assert "XAI_API_KEY is not set" in xai["why_not"]
    states = {name: each["state"] for name, each in found.items()}
    assert [states[name] for name in ("local", "openai", "xai", "ollama")] == [
        "yes",
        "yes",
        "no",
        "not_checked",
    ]
    assert (found["ollama"]["key"], found["ollama"]["last_test"]) == ("none_needed", None)


def test_all_local_models_are_listed(api: Program) -> None:
    names = [each["model"] for each in api.get("/models").json()["items"] if each["provider"] == "local"]
    assert names == ["local:extractive-1", "local:extractive-3", "local:extractive-5"]


def test_a_key_is_write_only(api: Program, stranger: Program) -> None:
    before = api.get("/models/keys/claude").json()
    assert (before["provider"], before["set"], before["source"]) == ("anthropic", False, "missing")
    stored = api.put("/models/keys/claude", {"key": KEY, "default_model": "claude-3-haiku"})
    assert stored.status_code == 200
    body = stored.json()
    assert body | {"set_at": None} == {
        "provider": "anthropic",
        "source": "project",
        "set": True,
        "last_four": "wxyz",
        "default_model": "claude-3-haiku",
        "set_by": "key test",
        "set_at": None,
        "readable": True,
        "variable": "ANTHROPIC_API_KEY",
        "base_url": "https://api.anthropic.com",
    }
    assert api.get("/models/keys/anthropic").json() == body
    everything = [api.get(path) for path in ("/models", "/models/keys", "/project", "/keys")]
    assert not any(KEY in answer.text or KEY[3:20] in answer.text for answer in [stored, *everything])
    assert stranger.get("/models/keys/anthropic").json()["set"] is False
    deleted = api.delete("/models/keys/anthropic")
    assert (deleted.status_code, deleted.json()["source"]) == (200, "missing")
    assert api.delete("/models/keys/anthropic").json()["code"] == "no_such_provider_key"


@pytest.mark.parametrize(
    ("provider", "body", "status", "code"),
    [
        ("openai", {}, 422, "invalid_request"),
        ("openai", {"key": KEY, "secret": 1}, 422, "invalid_request"),
        ("openai", {"key": [KEY]}, 422, "invalid_request"),
        ("openai", {"key": ""}, 422, "bad_server_value"),
        ("openai", {"key": f"{KEY} {KEY}"}, 422, "bad_server_value"),
        ("ollama", {"key": KEY}, 422, "no_key_needed"),
        ("nobody", {"key": KEY}, 404, "no_such_provider"),
    ],
)
def test_a_refusal_does_not_repeat_the_key(
    api: Program, provider: str, body: dict[str, object], status: int, code: str
) -> None:
    answer = api.put(f"/models/keys/{provider}", body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert KEY not in answer.text


def test_a_server_is_added_listed_and_removed(api: Program) -> None:
    made = api.post(
        "/models/servers",
        {"name": "house", "base_url": "https://8.8.8.8/v1", "key": KEY, "default_model": "qwen3"},
    )
    assert made.status_code == 201
    assert made.json() == {
        "name": "house",
        "base_url": "https://8.8.8.8/v1",
        "default_model": "qwen3",
        "has_key": True,
    }
    assert api.get("/models/servers").json()["items"] == [made.json()]
    house = api.get("/models").json()["items"][-1]
    assert (house["model"], house["kind"], house["prices"]) == ("house:qwen3", "server", None)
    assert api.delete("/models/servers/house").json() == {"removed": "house"}
    assert api.delete("/models/servers/house").status_code == 404
    inner = api.post("/models/servers", {"name": "inner", "base_url": "http://10.0.0.1/v1"})
    assert (inner.status_code, inner.json()["code"]) == (422, "address_not_allowed")


def test_a_test_call_reports_its_result_and_is_rate_limited(api: Program, stub: StubModelServer) -> None:
    stub.script(Script(answer="OK", usage={"prompt_tokens": 12, "completion_tokens": 2, "total_tokens": 14}))
    body = api.post("/models/test", {"model": "gpt-4o-mini"}).json()
    assert (body["model"], body["ok"], body["words"]) == ("openai:gpt-4o-mini", True, "OK")
    assert (body["cost_usd"], body["input_tokens"], body["by"]) == (0.000003, 12, "key test")
    stub.script(Script(mode="error", status=401, body='{"error": {"message": "Bad key."}}'))
    failed = api.post("/models/test", {"model": "openai"}).json()
    assert (failed["ok"], failed["error"], failed["cost_usd"]) == (False, "model_failed", None)
    assert "Bad key." in failed["words"]
    (openai,) = (each for each in api.get("/models").json()["items"] if each["provider"] == "openai")
    assert openai["last_test"] == failed
    for _ in range(4):
        api.post("/models/test", {"model": "openai"})
    limited = api.post("/models/test", {"model": "openai"})
    assert (limited.status_code, limited.json()["code"]) == (429, "too_many_tests")
    assert int(limited["Retry-After"]) <= 60
