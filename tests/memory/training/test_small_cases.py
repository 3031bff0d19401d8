"""Training pairs: unsolved problems, an attempt equal to the solution, and invalid options."""

import pytest

from timemachine.core.pure.errors import InvalidInput
from timemachine.memory.training.pure.options import export_options
from timemachine.memory.training.pure.pairs import Skipped, chats_of, preferences_of
from timemachine.memory.training.pure.split import split_of
from timemachine.recording.sessions.pure.turn_text import Turn

PROBLEM = Turn(sequence=1, kind="message", role="user", output="It fails.", significance="error")
FIX = "Close the connection."
CHOICES = {"form": "chat", "what": "resolution", "part": "", "seed": "", "shares": "", "redaction": ""}


def test_an_unsolved_problem_gives_no_pair() -> None:
    assert list(chats_of([PROBLEM], "resolution")) == []
    assert list(preferences_of([], "chain")) == []


def test_an_attempt_equal_to_the_solution_is_not_rejected() -> None:
    turns = [
        PROBLEM,
        Turn(sequence=2, kind="message", role="agent", output=FIX),
        Turn(sequence=3, kind="message", role="user", output="It still fails.", significance="error"),
        Turn(sequence=4, kind="message", role="agent", output=FIX, significance="solution"),
    ]
    assert list(preferences_of(turns, "chain")) == [Skipped(solution=4, reason="no_rejected_attempt")]


def test_a_seed_has_a_maximum_length() -> None:
    with pytest.raises(InvalidInput, match="`seed` can have at most"):
        split_of("x" * 10_000, "")


@pytest.mark.parametrize("name", ["form", "what", "part"])
def test_an_unknown_option_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"Invalid `{name}` 'other'. Use one of") as refused:
        export_options(**{**CHOICES, name: "other"})
    assert refused.value.facts["field"] == name
