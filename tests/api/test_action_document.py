"""docs/actions.md lists every term of an action that the API accepts, and no other."""

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
from timemachine.recording.timeline.schemas.actions import ReadAction

DOCUMENT = (Path(__file__).parents[2] / "docs" / "actions.md").read_text(encoding="utf-8")


def words_of(head: str) -> list[str]:
    """The first column of the table with this header."""
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
        ("part of `copied_from`", schemas.CopiedFromIn),
        ("part of `cached_from`", schemas.CachedFromIn),
    ],
)
def test_exactly_the_fields_of_an_action_are_documented(head: str, schema: type[BaseModel]) -> None:
    assert words_of(head) == list(schema.model_fields)


def test_exactly_the_additional_fields_of_a_read_action_are_documented() -> None:
    (paragraph,) = re.findall(
        r"^An action that you read also has (.*?)\n\n", DOCUMENT, re.MULTILINE | re.DOTALL
    )
    assert {*words_of("field"), *re.findall(r"`([a-z_]+)`", paragraph)} == set(ReadAction.model_fields)
    assert "recorded_at" not in ReadAction.model_fields


@pytest.mark.parametrize(
    ("head", "words"),
    [("kind", KINDS), ("layer", LAYERS), ("role", ROLES), ("significance", SIGNIFICANCES)],
)
def test_exactly_the_vocabulary_of_an_action_is_documented(head: str, words: tuple[str, ...]) -> None:
    assert words_of(head) == list(words)


def test_the_documented_importance_values_and_modes_are_correct() -> None:
    rows = re.findall(r"^\| `([a-z]+)` \| (0\.\d\d) \|", DOCUMENT, re.MULTILINE)
    assert {word: float(number) for word, number in rows} == DEFAULT_IMPORTANCE
    assert "| `mode` | " + ", ".join(f"`{mode}`" for mode in MODES[:-1]) + f" or `{MODES[-1]}` |" in DOCUMENT


def test_the_documented_example_can_be_recorded(api: Program, session: str) -> None:
    (example,) = re.findall(r"```json\n(.*?)```", DOCUMENT, re.DOTALL)
    sent = json.loads(example)
    answer = api.post("/sessions/run-1/actions", sent)
    assert answer.status_code == 201, answer.json()
    (sequence,) = answer.json()["sequences"]
    stored = api.get(f"/sessions/run-1/actions/{sequence}").json()
    assert stored["importance"] is None
    for name in set(sent) - {"started_at"}:
        assert stored[name] == sent[name], name
    chosen = [
        len(api.get("/sessions/run-1/actions", min_importance=least).json()["items"])
        for least in (0.75, 0.76)
    ]
    assert chosen == [1, 0]
