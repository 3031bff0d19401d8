"""Model names: what a text resolves to, and whether the model is usable here."""

from pathlib import Path

import pytest

from timemachine.core.pure.errors import InvalidInput, Unavailable
from timemachine.llm.prices import price
from timemachine.llm.pure.catalogue import (
    LOCAL_CONNECTION,
    Connection,
    ModelName,
    ModelServerValue,
    connection_to,
    require_usable,
    resolve,
    sentences_of,
    why_not_usable,
)
from timemachine.llm.pure.listing import choices, listed
from timemachine.llm.table import PROVIDERS

DEFAULT = "local:extractive"
SERVERS = {
    "house": ModelServerValue(
        name="house", base_url="https://models.example.com/v1", default_model="qwen3", has_key=True
    ),
    "bare": ModelServerValue(
        name="bare", base_url="https://bare.example.com/v1", default_model=None, has_key=False
    ),
}

NAMES = [
    ("", "local:extractive-3"),
    ("  ", "local:extractive-3"),
    ("local", "local:extractive-3"),
    ("local:extractive", "local:extractive-3"),
    ("local:extractive-1", "local:extractive-1"),
    ("Local:Extractive-5", "local:extractive-5"),
    ("openai", "openai:gpt-6.1-terra"),
    ("openai:", "openai:gpt-6.1-terra"),
    ("openai:gpt-4o-mini", "openai:gpt-4o-mini"),
    ("OpenAI:gpt-4o", "openai:gpt-4o"),
    ("claude:claude-opus-5-5", "anthropic:claude-opus-5-5"),
    ("claude", "anthropic:claude-sonnet-5-5"),
    ("anthropic", "anthropic:claude-sonnet-5-5"),
    ("gemini", "gemini:gemini-3.8-flash"),
    ("xai:grok-4", "xai:grok-4"),
    ("groq:openai/gpt-oss-20b", "groq:openai/gpt-oss-20b"),
    ("mistral:mistral-large-2512", "mistral:mistral-large-2512"),
    ("ollama:llama3.2:3b", "ollama:llama3.2:3b"),
    (" house ", "house:qwen3"),
    ("house:other", "house:other"),
    ("bare:tiny", "bare:tiny"),
    ("gpt-4o-mini", "openai:gpt-4o-mini"),
    ("o3", "openai:o3"),
    ("o4-mini", "openai:o4-mini"),
    ("claude-4-sonnet", "anthropic:claude-4-sonnet"),
    ("gemini-2.5-flash", "gemini:gemini-2.5-flash"),
    ("grok-4", "xai:grok-4"),
    ("mistral-large", "mistral:mistral-large"),
    ("codestral", "mistral:codestral"),
]


@pytest.mark.parametrize(("written", "resolved"), NAMES)
def test_a_text_resolves_to_provider_and_model(written: str, resolved: str) -> None:
    assert str(resolve(written, DEFAULT, SERVERS)) == resolved


@pytest.mark.parametrize("resolved", sorted({name for _, name in NAMES}))
def test_a_resolved_name_resolves_to_itself(resolved: str) -> None:
    assert str(resolve(resolved, DEFAULT, SERVERS)) == resolved


UNKNOWN = [
    ("opnai:gpt-4o", ["openai"], "Did you mean openai?"),
    ("gpt-oss-120b", [], "the providers are local, openai"),
    ("llama-3.3-70b", [], "the providers are local, openai"),
    ("grok", ["groq"], "Did you mean groq"),
    ("o100", [], "the providers are local, openai"),
    ("gpt-4o-mini:x", [], "the providers are local, openai"),
    ("hose:qwen3", ["house"], "Did you mean house?"),
    ("cluade:x", ["anthropic"], "Did you mean anthropic?"),
    ("zzzz:x", [], "are local, openai, anthropic, gemini, xai, groq, mistral, ollama, house, "),
    ("zzzz", [], "an administrator can add servers"),
    ("local:llama", ["local:extractive", "local:extractive-1"], "There is no local model 'llama'"),
    ("local:extractive-2", ["local:extractive", "local:extractive-1"], "local:extractive-5"),
    ("bare", [], "has no default model; name one, like bare:MODEL"),
    ("openai:gpt 4o", [], "no spaces"),
    ("openai:a\nb", [], "no spaces"),
    ("openai:" + "x" * 200, [], "at most 200 characters"),
]


@pytest.mark.parametrize(("written", "closest", "words"), UNKNOWN)
def test_an_unknown_name_is_refused_with_similar_ones(written: str, closest: list[str], words: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        resolve(written, DEFAULT, SERVERS)
    assert refused.value.code == "unknown_model"
    assert refused.value.facts["closest"][: len(closest)] == closest
    assert words in refused.value.message


def test_the_environment_changes_the_default_model_of_a_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_DEFAULT_MODEL", "gpt-4o-mini")
    assert str(resolve("openai", DEFAULT)) == "openai:gpt-4o-mini"


@pytest.mark.parametrize("provider", sorted(set(PROVIDERS) - {"ollama"}))
def test_every_default_model_is_on_the_price_list(provider: str) -> None:
    assert price_is_known(resolve(provider, DEFAULT))


def price_is_known(name: ModelName) -> bool:
    from datetime import UTC, datetime

    from timemachine.llm.pure.usage import TokenUsage

    usage = TokenUsage(input_tokens=1000, output_tokens=1000)
    return price(name, usage, datetime(2026, 11, 20, tzinfo=UTC)).cost_usd is not None


@pytest.mark.parametrize("name", sorted(set(PROVIDERS) - {"ollama"}))
def test_a_provider_is_usable_once_its_key_is_set(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    variable = str(PROVIDERS[name].key_variable)
    model = ModelName(provider=name, model="m")
    monkeypatch.delenv(variable, raising=False)
    assert why_not_usable(model) == f"{variable} is not set, and this project does not have its own key."
    monkeypatch.setenv(variable, "  ")
    assert why_not_usable(model)
    monkeypatch.setenv(variable, "key")
    assert why_not_usable(model) is None


@pytest.mark.parametrize("written", ["local", "ollama", "house:other", "bare:tiny"])
def test_local_models_and_added_servers_need_no_key_from_the_environment(written: str) -> None:
    assert why_not_usable(resolve(written, DEFAULT, SERVERS), SERVERS) is None


def test_a_removed_server_is_not_usable_and_the_reason_is_given() -> None:
    found = why_not_usable(ModelName(provider="house", model="qwen3"))
    assert found == "This project has no model server named house."


def test_an_unusable_model_is_refused_before_anything_is_created(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(
        Unavailable, match="openai:gpt-4o cannot be used: OPENAI_API_KEY is not set"
    ) as refused:
        require_usable(ModelName(provider="openai", model="gpt-4o"))
    assert refused.value.code == "model_not_usable"
    assert refused.value.facts == {"model": "openai:gpt-4o"}


def test_a_connection_has_the_provider_s_address_and_key(monkeypatch: pytest.MonkeyPatch) -> None:
    name = ModelName(provider="xai", model="grok-4")
    monkeypatch.setenv("XAI_API_KEY", "key")
    assert connection_to(name) == Connection(
        protocol="openai",
        base_url="https://api.x.ai/v1",
        api_key="key",
        limit_parameter="max_completion_tokens",
    )
    monkeypatch.delenv("XAI_API_KEY")
    with pytest.raises(Unavailable, match="XAI_API_KEY is not set"):
        connection_to(name)


def test_a_key_in_a_file_is_read_again_for_each_call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("XAI_API_KEY", raising=False)
    monkeypatch.setenv("XAI_API_KEY_FILE", str(tmp_path / "key"))
    for key in ("first", "second"):
        (tmp_path / "key").write_text(f"{key}\n")
        assert connection_to(ModelName(provider="xai", model="m")).api_key == key


def test_the_operator_can_change_the_address_of_a_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1/")
    found = connection_to(ModelName(provider="openai", model="m"))
    assert (found.base_url, found.pinned) == ("http://127.0.0.1:9/v1", False)


ADDRESSES_WITH_A_USER = [
    "https://user:s3cret@inside:9/v1",
    "https://user:s3/cr?et@inside:9/v1",
    "s3cret@inside/v1",
]


@pytest.mark.parametrize("address", ADDRESSES_WITH_A_USER)
@pytest.mark.parametrize("own_key", [None, "project-key"])
def test_an_address_with_a_user_in_it_is_refused_and_never_shown(
    address: str, own_key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(Unavailable, match="OPENAI_BASE_URL contains a user or password") as refused:
        connection_to(ModelName(provider="openai", model="m"), own_key=own_key)
    (openai,) = [each for each in listed({}, {}) if each.provider == "openai"]
    assert openai.why_not
    assert "inside" in str(openai.base_url)
    assert "s3" not in f"{refused.value.message} {openai.base_url} {openai.why_not}"


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("", "http://localhost:11434/v1"),
        ("http://gpu:11434", "http://gpu:11434/v1"),
        ("http://gpu:11434/v1/", "http://gpu:11434/v1"),
    ],
)
def test_ollama_is_found_with_and_without_its_path(
    written: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", written)
    found = connection_to(ModelName(provider="ollama", model="m"))
    assert (found.base_url, found.api_key) == (url, None)


def test_the_local_model_has_no_address() -> None:
    assert connection_to(resolve("local", DEFAULT)) is LOCAL_CONNECTION
    assert [sentences_of(resolve(f"local:extractive-{n}", DEFAULT)) for n in (1, 3, 5)] == [1, 3, 5]


def test_a_key_is_not_in_the_repr_of_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "secret")
    assert "secret" not in repr(connection_to(ModelName(provider="groq", model="m")))


def test_a_form_offers_every_provider_and_marks_unusable_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("GROQ_API_KEY", "k")
    found = choices(listed(SERVERS, {}), {})
    offered = {str(choice.name): choice.why_not for choice in found}
    assert list(offered)[:3] == ["local:extractive-1", "local:extractive-3", "local:extractive-5"]
    assert (
        offered["openai:gpt-6.1-terra"]
        == "OPENAI_API_KEY is not set, and this project does not have its own key."
    )
    assert offered["groq:openai/gpt-oss-120b"] is None
    assert offered["house:qwen3"] is None
    assert len(offered) == len(PROVIDERS) + 4


@pytest.mark.parametrize(
    ("recorded", "protocol"),
    [
        ("local:extractive-1", "local"),
        ("anthropic:claude-sonnet-4-5", "anthropic"),
        ("mistral:mistral-small", "openai"),
        ("house:llama3:8b", "openai"),
    ],
)
def test_a_recorded_name_is_read_again_and_says_how_its_server_is_called(
    recorded: str, protocol: str
) -> None:
    name = ModelName.of(recorded)
    assert (str(name), name.protocol) == (recorded, protocol)
