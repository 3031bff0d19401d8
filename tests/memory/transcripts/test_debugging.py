"""The five-turn debugging session and the one of 150 turns: told whole they are exact, told in part they are a fraction of the tokens."""

from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import Program, api, stranger
from tests.memory.transcripts.debugging import FIVE, LENGTH, TELLING, turns
from tests.memory.transcripts.test_transcripts import record, sequences, told
from timemachine.core.accounts.models import Project
from timemachine.memory.search import indexing

__all__ = ["api", "stranger"]
DOCUMENT = (Path(__file__).parents[3] / "docs" / "recorder.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.django_db


def said_in(found: Any) -> list[tuple[str, str, str]]:
    return [(each["role"], each["output"], each["significance"]) for each in found["items"]]


def test_five_turns_tell_how_the_error_was_solved(api: Program) -> None:
    record(api, "five", *({"kind": "message", "role": a, "output": b, "significance": c} for a, b, c in FIVE))
    assert said_in(told(api, "five")) == list(FIVE)
    kept = told(api, "five", significance="decision,solution,breakthrough")
    assert said_in(kept) == [FIVE[3], FIVE[4]]
    assert [each["left_out_before"] for each in kept["items"]] == [3, 0]
    text = told(api, "five", **{"as": "text", "significance": "solution,breakthrough"})
    assert text.index("[3 turns left out]") < text.index(FIVE[3][1]) < text.index(FIVE[4][1])


def test_a_hundred_and_fifty_turns_are_exact_and_their_decisions_a_fortieth_of_the_tokens(
    api: Program, project: Project
) -> None:
    sent = list(turns())
    record(api, "long", *sent)
    indexing.index_new_steps(project.id)
    whole = told(api, "long")
    assert said_in(whole) == [(each["role"], each["output"], each["significance"]) for each in sent]
    assert sequences(whole) == list(range(1, LENGTH + 1))
    assert (whole["turns"]["kept"], whole["tokens"]["estimated"]) == (LENGTH, False)
    kept = told(api, "long", significance="decision,solution,breakthrough")
    assert sequences(kept) == [number for number in TELLING if number > 1]
    assert kept["tokens"]["recorded"] == whole["tokens"]["kept"]
    assert kept["tokens"]["kept"] * 20 < kept["tokens"]["recorded"]
    print(
        f"{kept['turns']['kept']} of {LENGTH} turns, {kept['tokens']['kept']} of {kept['tokens']['recorded']} tokens"
    )
