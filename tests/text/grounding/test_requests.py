"""Grounding requests: one answer, or several."""

from typing import Any

import pytest

from timemachine.core.pure.errors import InvalidInput
from timemachine.text.pure.grounding.schemas import GroundIn

ONE = {"answer": "It rains.", "context": ["It rains in Kiel."]}


@pytest.mark.parametrize("sent", [ONE, {"items": [ONE]}])
def test_one_answer_or_a_list_of_answers_is_accepted(sent: dict[str, Any]) -> None:
    assert [each.model_dump() for each in GroundIn(**sent).answers()] == [ONE]


@pytest.mark.parametrize("sent", [{}, ONE | {"items": [ONE]}, {"answer": "It rains."}, {"context": []}])
def test_anything_else_is_refused(sent: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="Send either `answer` and `context`, or `items`"):
        GroundIn(**sent).answers()
