"""What cannot be recorded is refused by field."""

from datetime import UTC, datetime, timedelta

import pytest

from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.sessions.pure.draft import ActionDraft, copy_of
from timemachine.recording.sessions.pure.validation import (
    LONGEST_ID_BYTES,
    LONGEST_WORD,
    check_action,
    check_end,
    check_id,
    check_parents,
)


def test_an_id_may_have_at_most_as_many_bytes_as_an_index_holds() -> None:
    check_id("id", "ü" * (LONGEST_ID_BYTES // 2))
    with pytest.raises(InvalidInput, match=r"`call_id` has 2,002 bytes .* the maximum is 2,000\.") as refused:
        check_id("call_id", "ü" * (LONGEST_ID_BYTES // 2 + 1))
    assert refused.value.facts["field"] == "call_id"


def test_a_session_cannot_end_before_it_started() -> None:
    began = datetime(2026, 11, 23, 9, tzinfo=UTC)
    check_end(began, began)
    check_end(began, None)
    with pytest.raises(InvalidInput, match="2026-11-23T09:00:00") as refused:
        check_end(began, began - timedelta(microseconds=1))
    assert refused.value.facts["field"] == "ended_at"


@pytest.mark.parametrize(
    "copied_from", [None, copy_of(), copy_of("parent"), copy_of("parent", "id"), copy_of("parent", 7)]
)
def test_a_copied_step_may_name_its_original(copied_from: JsonObject | None) -> None:
    check_action(ActionDraft(kind="event", copied_from=copied_from))


@pytest.mark.parametrize(
    ("copied_from", "refusal"),
    [
        ({}, InvalidInput),
        ({"session": "parent", "step": 1, "at": "noon"}, InvalidInput),
        ({"session": 1, "step": None}, InvalidInput),
        ({"session": "parent", "step": True}, InvalidInput),
        ({"session": "parent", "step": [1]}, InvalidInput),
        ({"session": "parent", "step": -1}, InvalidInput),
        ({"session": "x" * (LONGEST_WORD + 1), "step": None}, TooLarge),
        ({"session": None, "step": "x" * (LONGEST_WORD + 1)}, TooLarge),
    ],
)
def test_another_form_of_the_original_is_refused(copied_from: JsonObject, refusal: type[Exception]) -> None:
    with pytest.raises(refusal):
        check_action(ActionDraft(kind="event", copied_from=copied_from))


def test_a_parent_cycle_is_refused_and_a_tree_is_not() -> None:
    def step(name: str | None, parent: str | int | None) -> ActionDraft:
        return ActionDraft(kind="event", id=name, parent=parent)

    check_parents([step("a", None), step("b", "a"), step("c", "b"), step("d", 1), step(None, "b")])
    with pytest.raises(InvalidInput, match="is its own ancestor"):
        check_parents([step("x", "a"), step("a", "b"), step("b", "c"), step("c", "a")])
