"""A project's own keys for built-in providers: they override the environment, are never shown, and record who set them."""

import logging
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.llm.asking import request_to
from tests.stub_model_server import Script, StubModelServer
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput, ModelFailed, NotFound, Unavailable
from timemachine.llm.calling import complete
from timemachine.llm.commands import add_server, remove_key, remove_server, set_key
from timemachine.llm.models import ModelAccessChange, ProviderKey
from timemachine.llm.offers import offers_of
from timemachine.llm.pure.catalogue import ModelName
from timemachine.llm.pure.listing import Listed
from timemachine.llm.queries import (
    changes_of,
    connection_of,
    keys_of,
    listed_models,
    model_choices,
    usable_model,
)

KEY = "sk-project-0123456789-wxyz"
NEWER = "sk-project-9876543210-abcd"
OPENAI = ModelName(provider="openai", model="gpt-4o-mini")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave no key in the environment but OpenAI's."""
    for name in ("ANTHROPIC", "GEMINI", "XAI", "GROQ", "MISTRAL"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment")


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    """Return the server to which calls for OpenAI are redirected."""
    with StubModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


def listed(project: Project, provider: str) -> Listed:
    return next(each for each in listed_models(project.id) if each.provider == provider)


def test_a_project_key_overrides_the_environment_until_it_is_removed(project: Project) -> None:
    assert connection_of(project.id, OPENAI).api_key == "sk-environment"
    set_key(project.id, "openai", f" {KEY}\n", by="ada@example.org")
    assert connection_of(project.id, OPENAI).api_key == KEY
    assert listed(project, "openai").key_source == "project"
    set_key(project.id, "OpenAI", NEWER, by="key ci")
    assert connection_of(project.id, OPENAI).api_key == NEWER
    remove_key(project.id, "openai", by="ada@example.org")
    assert connection_of(project.id, OPENAI).api_key == "sk-environment"
    assert listed(project, "openai").key_source == "environment"
    with pytest.raises(NotFound, match="does not have its own key for openai"):
        remove_key(project.id, "openai", by="ada@example.org")


def test_a_key_makes_a_provider_usable_in_its_project_only(project: Project, other_project: Project) -> None:
    set_key(project.id, "claude", KEY, default_model="claude-3-haiku", by="ada")
    assert str(usable_model(project.id, "claude")) == "anthropic:claude-3-haiku"
    assert str(usable_model(project.id, "anthropic:claude-opus-5-5")) == "anthropic:claude-opus-5-5"
    assert "anthropic:claude-3-haiku" in {str(each.name) for each in model_choices(project.id)}
    assert listed(other_project, "anthropic").key_source == "missing"
    with pytest.raises(
        Unavailable, match="ANTHROPIC_API_KEY is not set, and this project does not have its own key"
    ) as no:
        usable_model(other_project.id, "claude")
    assert no.value.code == "model_not_usable"


def test_changes_are_recorded_with_user_and_time(project: Project) -> None:
    set_key(project.id, "openai", KEY, by="ada@example.org")
    set_key(project.id, "openai", NEWER, by="key ci")
    remove_key(project.id, "openai", by="bob@example.org")
    add_server(project.id, name="house", base_url="https://8.8.8.8/v1", by="ada@example.org")
    remove_server(project.id, "house", by="bob@example.org")
    assert list(changes_of(project.id).values_list("subject", "change", "last_four", "by")) == [
        ("house", "server_removed", "", "bob@example.org"),
        ("house", "server_added", "", "ada@example.org"),
        ("openai", "key_removed", "abcd", "bob@example.org"),
        ("openai", "key_replaced", "abcd", "key ci"),
        ("openai", "key_set", "wxyz", "ada@example.org"),
    ]


def test_the_key_is_stored_encrypted_and_only_its_end_is_shown(project: Project) -> None:
    saved = set_key(project.id, "openai", KEY, by="ada")
    assert (saved.last_four, saved.set_by, saved.readable) == ("wxyz", "ada", True)
    stored = ProviderKey.objects.get()
    assert KEY.encode() not in bytes(stored.encrypted_key)
    connection = connection_of(project.id, OPENAI)
    shown = [
        repr(connection),
        repr(keys_of(project.id)),
        repr(offers_of(project.id)),
        repr(stored),
        str(stored),
    ]
    assert not any(KEY in each or KEY[3:20] in each for each in shown)


def test_of_a_short_key_not_even_the_end_is_shown(project: Project) -> None:
    assert set_key(project.id, "openai", "k" * 19, by="ada").last_four == ""


def test_a_key_is_in_no_error_and_no_log(
    project: Project, stub: StubModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    set_key(project.id, "openai", KEY, by="ada")
    stub.script(Script(mode="error", status=401, body=f'{{"error": {{"message": "Bad key {KEY}"}}}}'))
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelFailed) as failed:
        complete(request_to(connection_of(project.id, OPENAI), model=OPENAI))
    assert "Bad key [key]" in failed.value.message
    assert KEY not in str(failed.value.as_json())
    assert KEY not in caplog.text
    assert stub.calls()[0].headers["authorization"] == f"Bearer {KEY}"


def test_the_operator_s_account_is_not_sent_with_a_project_s_key(
    project: Project, stub: StubModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-the-operator")
    complete(request_to(connection_of(project.id, OPENAI), model=OPENAI))
    set_key(project.id, "openai", KEY, by="ada")
    complete(request_to(connection_of(project.id, OPENAI), model=OPENAI))
    with_environments, with_own = (call.headers for call in stub.calls())
    assert with_environments["openai-organization"] == "org-of-the-operator"
    assert "openai-organization" not in with_own


def test_a_key_is_sent_only_to_its_provider_at_the_operator_s_address(
    project: Project, stub: StubModelServer
) -> None:
    set_key(project.id, "openai", KEY, by="ada")
    assert connection_of(project.id, OPENAI).base_url == f"{stub.url}/v1"
    assert listed(project, "openai").moved
    xai = listed(project, "xai")
    assert (xai.moved, xai.base_url, xai.key_source) == (False, "https://api.x.ai/v1", "missing")
    with pytest.raises(Unavailable, match="XAI_API_KEY is not set"):
        connection_of(project.id, ModelName(provider="xai", model="grok-4"))


def test_a_key_survives_a_new_secret_only_if_the_old_one_is_available(
    project: Project, settings: Settings
) -> None:
    set_key(project.id, "openai", KEY, by="ada")
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another secret"
    with pytest.raises(Unavailable, match="cannot be decrypted because SECRET_KEY has changed") as refused:
        connection_of(project.id, OPENAI)
    assert refused.value.code == "key_unreadable"
    with pytest.raises(
        Unavailable, match="openai:gpt-4o-mini cannot be used: Its stored key cannot be decrypted"
    ):
        usable_model(project.id, "openai:gpt-4o-mini")
    assert listed(project, "openai").why_not
    settings.SECRET_KEY_FALLBACKS = [old]
    assert connection_of(project.id, OPENAI).api_key == KEY


def test_a_server_with_an_unreadable_key_is_unusable_too(project: Project, settings: Settings) -> None:
    add_server(
        project.id, name="house", base_url="https://8.8.8.8/v1", api_key=KEY, default_model="m", by="a"
    )
    settings.SECRET_KEY = "another secret"
    with pytest.raises(Unavailable, match="Its stored key cannot be decrypted"):
        usable_model(project.id, "house")


@pytest.mark.parametrize(
    ("provider", "key", "model", "code"),
    [
        ("openai", " ", "", "bad_server_value"),
        ("openai", "a b", "", "bad_server_value"),
        ("openai", "k" * 1001, "", "bad_server_value"),
        ("openai", "kéy", "", "bad_server_value"),
        ("openai", KEY, "a b", "bad_server_value"),
        ("ollama", KEY, "", "no_key_needed"),
    ],
)
def test_an_invalid_key_is_refused_without_being_repeated(
    project: Project, provider: str, key: str, model: str, code: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        set_key(project.id, provider, key, default_model=model, by="ada")
    assert refused.value.code == code
    assert not key.strip() or key not in str(refused.value.as_json())
    assert not ProviderKey.objects.exists()
    assert not ModelAccessChange.objects.exists()


@pytest.mark.parametrize("provider", ["local", "nobody", "house", ""])
def test_only_a_built_in_provider_has_a_key(project: Project, provider: str) -> None:
    with pytest.raises(NotFound, match="There is no built-in provider") as refused:
        set_key(project.id, provider, KEY, by="ada")
    assert refused.value.code == "no_such_provider"


def test_a_server_that_the_operator_would_have_to_allow_is_reported_without_a_call(
    project: Project, settings: Settings
) -> None:
    settings.MODEL_HOSTS_ALLOWED = ["127.0.0.1", "localhost", "models.example.com"]
    for name, url in (
        ("plain", "http://models.example.com"),
        ("near", "https://127.0.0.1"),
        ("here", "https://localhost"),
        ("far", "https://models.example.com"),
    ):
        add_server(project.id, name=name, base_url=url, default_model="m", by="ada")
    assert not any(listed(project, name).why_not for name in ("plain", "near", "here", "far"))
    settings.MODEL_HOSTS_ALLOWED = []
    assert [listed(project, name).why_not is None for name in ("plain", "near", "here", "far")] == [
        False,
        False,
        False,
        True,
    ]
    assert "see MODEL_HOSTS_ALLOWED" in (listed(project, "near").why_not or "")


def test_a_server_without_a_default_model_is_listed_but_not_selectable(project: Project) -> None:
    add_server(project.id, name="bare", base_url="https://8.8.8.8", by="ada")
    (offer,) = (each for each in offers_of(project.id) if each.listed.provider == "bare")
    assert (offer.listed.model, offer.prices, offer.listed.why_not) == (None, None, None)
    assert "bare" not in {each.name.provider for each in model_choices(project.id)}
