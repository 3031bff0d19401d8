"""A debugging session of five turns and one of 150: the full transcript is exact, a selection is a fraction of the tokens."""

from pathlib import Path
from typing import Any

import pytest

from tests.api.conftest import Program, api, stranger
from tests.memory.transcripts.debugging import FIVE, LENGTH, SIGNIFICANT_TURNS, turns
from tests.memory.transcripts.test_transcripts import read_transcript, record, sequences
from timemachine.core.accounts.models import Project
from timemachine.memory.search import indexing

__all__ = ["api", "stranger"]
DOCUMENT = (Path(__file__).parents[3] / "docs" / "recorder.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.django_db


def turns_of(found: Any) -> list[tuple[str, str, str]]:
    return [(each["role"], each["output"], each["significance"]) for each in found["items"]]


def test_five_turns_show_how_the_error_was_solved(api: Program) -> None:
    record(api, "five", *({"kind": "message", "role": a, "output": b, "significance": c} for a, b, c in FIVE))
    assert turns_of(read_transcript(api, "five")) == list(FIVE)
    selected = read_transcript(api, "five", significance="decision,solution,breakthrough")
    assert turns_of(selected) == [FIVE[3], FIVE[4]]
    assert [each["left_out_before"] for each in selected["items"]] == [3, 0]
    text = read_transcript(api, "five", **{"as": "text", "significance": "solution,breakthrough"})
    assert text.index("[3 turns left out]") < text.index(FIVE[3][1]) < text.index(FIVE[4][1])


def test_transcript_of_150_turns_is_exact_and_its_decisions_a_fortieth_of_the_tokens(
    api: Program, project: Project
) -> None:
    sent = list(turns())
    record(api, "long", *sent)
    indexing.index_new_steps(project.id)
    complete = read_transcript(api, "long")
    assert turns_of(complete) == [(each["role"], each["output"], each["significance"]) for each in sent]
    assert sequences(complete) == list(range(1, LENGTH + 1))
    assert (complete["turns"]["kept"], complete["tokens"]["estimated"]) == (LENGTH, False)
    selected = read_transcript(api, "long", significance="decision,solution,breakthrough")
    assert sequences(selected) == [number for number in SIGNIFICANT_TURNS if number > 1]
    assert selected["tokens"]["recorded"] == complete["tokens"]["kept"]
    assert selected["tokens"]["kept"] * 20 < selected["tokens"]["recorded"]
    print(
        f"{selected['turns']['kept']} of {LENGTH} turns, {selected['tokens']['kept']} of {selected['tokens']['recorded']} tokens"
    )
