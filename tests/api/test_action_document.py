"""docs/actions.md names every word of an action as the API takes it, and no other."""

import json
import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from tests.api.conftest import Program
from timemachine.recording.sessions.pure.vocabulary import (
    DEFAULT_IMPORTANCE,
    KINDS,
    LAYERS,
    MODES,
    ROLES,
    SIGNIFICANCES,
)
from timemachine.recording.timeline.schemas import requests as schemas
from timemachine.recording.timeline.schemas.actions import ActionOut

DOCUMENT = (Path(__file__).parents[2] / "docs" / "actions.md").read_text(encoding="utf-8")


def words_of(head: str) -> list[str]:
    """The first column of the table whose first column has this head."""
    (table,) = re.findall(rf"^\| {head} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", DOCUMENT, re.MULTILINE)
    return re.findall(r"^\| `([a-z0-9_]+)` \|", table, re.MULTILINE)


@pytest.mark.parametrize(
    ("head", "schema"),
    [
        ("field", schemas.ActionIn),
        ("part of `error`", schemas.ErrorIn),
        ("part of `usage`", schemas.UsageIn),
        ("part of `retrieval`", schemas.RetrievalIn),
        ("part of a hit", schemas.HitIn),
        ("part of `cached_from`", schemas.CachedFromIn),
    ],
)
def test_every_field_is_described_and_no_other(head: str, schema: type[BaseModel]) -> None:
    assert words_of(head) == list(schema.model_fields)


def test_what_a_reading_adds_is_told_and_nothing_else() -> None:
    (told,) = re.findall(r"^An action that you read also has (.*?)\n\n", DOCUMENT, re.MULTILINE | re.DOTALL)
    assert {*words_of("field"), *re.findall(r"`([a-z_]+)`", told)} == set(ActionOut.model_fields)
    assert "recorded_at" not in ActionOut.model_fields


@pytest.mark.parametrize(
    ("head", "words"),
    [("kind", KINDS), ("layer", LAYERS), ("role", ROLES), ("significance", SIGNIFICANCES)],
)
def test_every_word_is_described_and_no_other(head: str, words: tuple[str, ...]) -> None:
    assert words_of(head) == list(words)


def test_the_importance_of_each_significance_and_the_modes_are_as_they_are() -> None:
    told = re.findall(r"^\| `([a-z]+)` \| (0\.\d\d) \|", DOCUMENT, re.MULTILINE)
    assert {word: float(number) for word, number in told} == DEFAULT_IMPORTANCE
    assert "| `mode` | " + ", ".join(f"`{mode}`" for mode in MODES[:-1]) + f" or `{MODES[-1]}` |" in DOCUMENT


def test_the_example_is_recorded_as_it_stands(api: Program, session: str) -> None:
    (example,) = re.findall(r"```json\n(.*?)```", DOCUMENT, re.DOTALL)
    sent = json.loads(example)
    answer = api.post("/sessions/run-1/actions", sent)
    assert answer.status_code == 201, answer.json()
    (sequence,) = answer.json()["sequences"]
    kept = api.get(f"/sessions/run-1/actions/{sequence}").json()
    assert kept["importance"] is None
    for name in set(sent) - {"started_at"}:
        assert kept[name] == sent[name], name
    chosen = [
        len(api.get("/sessions/run-1/actions", min_importance=least).json()["items"])
        for least in (0.75, 0.76)
    ]
    assert chosen == [1, 0]
