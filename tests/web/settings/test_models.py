"""The models page: usable models, their prices and tests; and the keys and servers set by administrators."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from tests.builders import recorded_session
from tests.stub_model_server import Script, StubModelServer
from tests.web.people import browser_of
from timemachine.core.accounts.models import ADMIN, OPERATOR, VIEWER, Project
from timemachine.llm.commands import set_key
from timemachine.llm.models import ModelServer, ModelTrial, ProviderKey
from timemachine.llm.queries import model_choices

KEY = "sk-project-0123456789-wxyz"
PAGE = "/settings/models/"


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No provider except OpenAI has a key in the environment."""
    for name in ("ANTHROPIC", "GEMINI", "XAI", "GROQ", "MISTRAL"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-environment-0123456789")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    """The server that receives the requests to OpenAI."""
    with StubModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        yield server


def page_text(browser: Client) -> str:
    """Return the text of the page."""
    page = browser.get(PAGE).text
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_every_member_sees_which_models_are_usable_and_why_others_are_not(project: Project) -> None:
    browser = browser_of(project, VIEWER)
    assert f'href="{PAGE}"' in browser.get("/settings/").text
    words = page_text(browser)
    for each in (
        "local:extractive-1 Best-matching sentence (not a language model) yes none needed",
        "local:extractive-5",
        "openai:gpt-6.1-terra OpenAI yes from the server OPENAI_API_KEY $1.00 input , $5.00 output",
        "xai:grok-4.7 xAI no XAI_API_KEY is not set, and this project does not have its own key. missing an administrator can set one here, or the operator sets XAI_API_KEY",
        "runs on your own machine",
        "up to 272,000 input tokens",
        "default model local:extractive-3",
    ):
        assert each in words
    for each in ("Keys of this project", ">Test<", "History"):
        assert each not in browser.get(PAGE).text


def test_an_unknown_price_says_how_an_operator_sets_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_DEFAULT_MODEL", "no-such-model")
    words = page_text(browser_of(project, VIEWER))
    assert (
        "openai:no-such-model OpenAI yes from the server OPENAI_API_KEY unknown the operator can set it in MODEL_PRICES"
        in words
    )


def test_an_administrator_sets_replaces_and_removes_a_key_that_no_page_shows(project: Project) -> None:
    browser = browser_of(project, ADMIN)
    sent = browser.post(f"{PAGE}keys/anthropic/", {"key": KEY, "default_model": "claude-3-haiku"})
    assert (sent.status_code, sent["Location"]) == (303, f"{PAGE}#keys")
    words = page_text(browser)
    assert "Key for Anthropic saved." in words
    assert "anthropic:claude-3-haiku Anthropic yes from this project ends in wxyz" in words
    assert "anthropic key set (ends in wxyz )" in words
    assert KEY not in browser.get(PAGE).text
    assert KEY[3:20] not in browser.get(PAGE).text
    assert browser.post(f"{PAGE}keys/anthropic/", {"key": KEY + "1"}).status_code == 303
    assert "anthropic:claude-sonnet-5-5 Anthropic yes from this project ends in xyz1" in page_text(browser)
    assert browser.post(f"{PAGE}keys/anthropic/remove/").status_code == 303
    assert "anthropic:claude-sonnet-5-5 Anthropic no ANTHROPIC_API_KEY is not set" in page_text(browser)
    assert browser.post(f"{PAGE}keys/anthropic/remove/").status_code == 404


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"key": ""}, "This field is required"),
        ({"key": "a b"}, "printable ASCII characters without spaces"),
    ],
)
def test_an_invalid_key_is_refused_at_its_field_and_not_repeated(
    project: Project, sent: dict[str, str], message: str
) -> None:
    answer = browser_of(project, ADMIN).post(f"{PAGE}keys/xai/", sent)
    assert answer.status_code == 422
    assert message in answer.text
    assert 'value="a b"' not in answer.text
    assert 'aria-describedby="key_xai_key_helptext key_xai_key_error"' in answer.text
    assert not ProviderKey.objects.exists()


def test_the_form_says_where_the_key_of_a_redirected_provider_is_sent(
    project: Project, stub: StubModelServer
) -> None:
    assert f"to {stub.url}/v1 . A key set here is sent there too" in page_text(browser_of(project, ADMIN))


def test_a_key_that_can_no_longer_be_decrypted_is_reported(project: Project, settings: Settings) -> None:
    current_secret, settings.SECRET_KEY = settings.SECRET_KEY, "the secret of then"
    set_key(project.id, "xai", KEY, by="ada")
    settings.SECRET_KEY = current_secret
    words = page_text(browser_of(project, ADMIN))
    assert "xai:grok-4.7 xAI no Its stored key cannot be decrypted because SECRET_KEY has changed" in words
    assert "no longer readable" in words


def test_an_administrator_adds_and_removes_a_server(project: Project) -> None:
    browser = browser_of(project, ADMIN)
    server = {"name": "house", "base_url": "https://8.8.8.8/v1", "key": KEY, "default_model": "qwen3"}
    assert browser.post(f"{PAGE}servers/", server)["Location"] == f"{PAGE}#servers"
    words = page_text(browser)
    assert (
        "house:qwen3 https://8.8.8.8/v1 not checked not tested yet; a test shows whether it answers" in words
    )
    assert ModelServer.objects.get().created_by is not None
    taken = browser.post(f"{PAGE}servers/", server)
    assert (taken.status_code, "already has a model server named house" in taken.text) == (409, True)
    inner = browser.post(f"{PAGE}servers/", server | {"name": "inner", "base_url": "http://10.0.0.1"})
    assert (inner.status_code, "in MODEL_HOSTS_ALLOWED" in inner.text) == (422, True)
    assert KEY not in inner.text
    assert browser.post(f"{PAGE}servers/house/remove/").status_code == 303
    assert "house server removed" in page_text(browser)


def test_an_operator_tests_a_model_and_sees_its_usage_and_cost(
    project: Project, stub: StubModelServer
) -> None:
    stub.script(Script(answer="<b>OK", usage={"prompt_tokens": 12, "completion_tokens": 2}))
    browser = browser_of(project, OPERATOR)
    assert "A test makes one small call, which may cost money" in page_text(browser)
    assert browser.post(f"{PAGE}test/", {"model": "openai:gpt-4o-mini"}).status_code == 303
    words = page_text(browser)
    assert "openai:gpt-4o-mini answered “&lt;b&gt;OK” in" in words
    assert "12 input tokens, 2 output tokens, cost $0.000003." in words
    stub.script(Script(mode="500"))
    browser.post(f"{PAGE}test/", {"model": "openai:gpt-6.1-terra"})
    assert "The test failed. openai:gpt-6.1-terra returned 500" in page_text(browser)
    assert "failed openai:gpt-6.1-terra returned 500" in page_text(browser)


def test_a_provider_is_called_unreachable_only_after_a_failed_test(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:9")
    browser = browser_of(project, OPERATOR)
    assert "not reachable" not in page_text(browser)
    browser.post(f"{PAGE}test/", {"model": "ollama"})
    assert "ollama:llama3.2 Ollama (on this machine) not reachable" in page_text(browser)


def test_an_impossible_test_is_refused_with_the_reason(project: Project) -> None:
    browser = browser_of(project, OPERATOR)
    for model, status, message in (
        ("", 422, "there is nothing to test"),
        ("xai", 503, "XAI_API_KEY is not set"),
        ("nobody:x", 422, "There is no model provider"),
    ):
        answer = browser.post(f"{PAGE}test/", {"model": model})
        assert (answer.status_code, message in answer.text) == (status, True)
    assert not ModelTrial.objects.exists()


def test_the_address_of_the_test_form_redirects_to_its_page(project: Project) -> None:
    assert browser_of(project, OPERATOR).get(f"{PAGE}test/")["Location"] == PAGE


def test_a_server_without_a_key_is_not_called_usable_before_it_was_tested(project: Project) -> None:
    browser = browser_of(project, OPERATOR)
    assert "Ollama (on this machine) not checked not tested yet; a test shows" in page_text(browser)
    assert "not tested yet none needed" in page_text(browser_of(project, VIEWER))


def test_a_refused_server_says_so_above_its_form(project: Project) -> None:
    browser = browser_of(project, ADMIN)
    assert "autofocus" not in browser.get(PAGE).text
    page = browser.post(f"{PAGE}servers/", {"name": "Bad name", "base_url": "https://example.org/v1"}).text
    alert = page[page.index('role="alert"') :]
    assert '<a href="#server_name">Name</a>:' in alert[:400]
    assert re.search('<input[^>]* autofocus[^>]* id="server_name"', page)
    assert "<details open>" in page


def test_prices_of_models_named_only_by_the_operator_are_listed(
    project: Project, settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('[[prices]]\nmodel = "openai:our-own"\ninput = 3\noutput = 9\n')
    settings.MODEL_PRICES = str(file)
    shown = page_text(browser_of(project, VIEWER))
    assert "openai:our-own $3.00 input , $9.00 output the operator" in " ".join(shown.split())
    assert "openai:our-own" in {str(each.name) for each in model_choices(project.id)}


def test_an_answer_marks_a_server_as_usable_and_a_failed_test_is_shown(
    project: Project, stub: StubModelServer, settings: Settings
) -> None:
    settings.MODEL_HOSTS_ALLOWED = ["127.0.0.1"]
    ModelServer.objects.create(
        project=project, name="house", base_url=f"{stub.url}/v1", default_model="qwen3"
    )
    browser = browser_of(project, OPERATOR)
    assert "not checked not tested yet; a test shows whether it answers none needed" in page_text(browser)
    stub.script(Script(answer="Ten years."))
    recorded_session(project, questions=["How long?"], model="house:other")
    words = page_text(browser)
    assert re.search(r"house:qwen3 \S+ yes none needed", words)
    assert "house:other answered" in words
    stub.script(Script(mode="500"))
    browser.post(f"{PAGE}test/", {"model": "house:qwen3"})
    assert "yes , but its last test failed: house:qwen3 returned 500" in page_text(browser)
