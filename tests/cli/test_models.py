"""`models`, against a real server."""

from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from tests.cli.terminal import Here


def test_the_models_are_listed_with_their_keys_and_prices(tm: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XAI_API_KEY", raising=False)
    heads, *rows = tm.run("models").out.splitlines()
    assert heads.split() == ["model", "usable", "key", "input", "output", "price", "source", "remark"]
    found = {row.split()[0]: " ".join(row.split()[1:]) for row in rows}
    assert found["local:extractive-5"] == "yes none needed $0 $0 local"
    assert found["ollama:llama3.2"].startswith("not checked none needed $0 $0 ")
    assert found["ollama:llama3.2"].endswith("not tested yet")
    assert found["xai:grok-4.7"].startswith("no missing $2.00 $6.00 genai-prices ")
    assert found["xai:grok-4.7"].endswith(
        "XAI_API_KEY is not set, and this project does not have its own key."
    )


def test_an_unknown_price_is_not_shown_as_a_number(tm: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_DEFAULT_MODEL", "no-such-model")
    (row,) = (row for row in tm.run("models").out.splitlines() if row.startswith("openai:no-such-model"))
    assert " unknown  unknown  unknown" in row


def test_json_output_is_the_api_document(tm: Here) -> None:
    found = tm.json("models")
    assert (found["next"], found["items"][0]["model"]) == (None, "local:extractive-1")


def test_a_model_with_only_an_operator_price_is_listed(tm: Here, settings: Settings, tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text('[[prices]]\nmodel = "ollama:our-own"\ninput = 3\noutput = 9\n')
    settings.MODEL_PRICES = str(file)
    (row,) = (row for row in tm.run("models").out.splitlines() if row.startswith("ollama:our-own"))
    words = "not checked none needed $3.00 $9.00 override ollama:our-own not tested yet"
    assert " ".join(row.split()[1:]) == words
