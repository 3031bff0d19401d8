import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.recording.answering.pure.cache_key import SameAsk, cache_key

ASK = SameAsk(
    provider="openai",
    model="gpt-4o-mini",
    base_url="https://api.openai.com/v1",
    adapter_version=1,
    prompt_template="ask/1",
    system_prompt="Answer.",
    question="Wie lange läuft Zoë?",
    passages=(("a" * 64, "One"), ("b" * 64, "Two")),
    temperature=0.0,
    seed=7,
    max_tokens=100,
)
OTHERS: list[tuple[str, Any]] = [
    ("provider", "azure"),
    ("model", "gpt-4o"),
    ("base_url", "https://models.example/v1"),
    ("adapter_version", 2),
    ("prompt_template", "ask/2"),
    ("system_prompt", "Answer!"),
    ("question", "Wie lange läuft Zoe?"),
    ("question", "Wie lange läuft Zoë? "),
    ("question", "\ud800"),
    ("passages", (("b" * 64, "Two"), ("a" * 64, "One"))),
    ("passages", (("a" * 64, "One"), ("b" * 64, "two"))),
    ("passages", (("a" * 64, "One"),)),
    ("passages", ()),
    ("temperature", 0.1),
    ("temperature", None),
    ("seed", 8),
    ("seed", None),
    ("max_tokens", 101),
    ("max_tokens", None),
]
texts = st.text(max_size=20)
asks = st.builds(
    SameAsk,
    provider=texts,
    model=texts,
    base_url=texts,
    adapter_version=st.integers(1, 3),
    prompt_template=texts,
    system_prompt=texts,
    question=texts,
    passages=st.lists(st.tuples(texts, texts), max_size=3).map(tuple),
    temperature=st.none() | st.floats(0, 2),
    seed=st.none() | st.integers(0, 5),
    max_tokens=st.none() | st.integers(1, 5),
)


@pytest.mark.parametrize(("part", "value"), OTHERS)
def test_each_part_changes_the_key(part: str, value: Any) -> None:
    assert cache_key(replace(ASK, **{part: value})) != cache_key(ASK)


def test_every_part_of_the_key_is_tested() -> None:
    assert {part for part, _ in OTHERS} == set(SameAsk.__slots__)


def test_an_integer_temperature_equals_its_float() -> None:
    assert cache_key(replace(ASK, temperature=1)) == cache_key(replace(ASK, temperature=1.0))


@given(asks)
def test_the_question_is_unicode_normalized(ask: SameAsk) -> None:
    taken_apart = replace(ask, question=unicodedata.normalize("NFD", ask.question))
    assert cache_key(taken_apart) == cache_key(ask)


@given(asks, asks)
def test_two_asks_have_the_same_key_only_if_they_are_equal(one: SameAsk, other: SameAsk) -> None:
    normal = [replace(ask, question=unicodedata.normalize("NFC", ask.question)) for ask in (one, other)]
    assert (cache_key(one) == cache_key(other)) == (normal[0] == normal[1])
