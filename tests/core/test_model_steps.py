"""Steps that a model answered are counted with the right noun."""

import pytest

from timemachine.core.pure.model_steps import ModelSteps


@pytest.mark.parametrize(
    ("kinds", "words", "noun"),
    [
        (["ask"] * 12, "12 asks", "ask"),
        (["llm_call"] * 35, "35 model calls", "model call"),
        (["ask", "llm_call", "llm_call"], "1 ask and 2 model calls", "step"),
        ([], "no steps", "step"),
    ],
)
def test_the_noun_comes_from_the_kinds(kinds: list[str], words: str, noun: str) -> None:
    steps = ModelSteps.of(kinds)
    assert (str(steps), steps.noun, steps.total) == (words, noun, len(kinds))
