"""An answer takes at most as many tokens as are asked for, whatever was recorded."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.core.pure.json_types import JsonObject
from timemachine.mcp.api import Refused
from timemachine.mcp.pages import page, place_of
from timemachine.mcp.parts import cut_parts
from timemachine.mcp.pure.fitting import beginning, filled, readable, shares, shortened
from timemachine.mcp.pure.tokens import size, tokens

HEAD = {"notice": "Recorded data."}
texts = st.text(max_size=3_000) | st.text("ab \n", max_size=9_000) | st.text('日🦆\u0000"\\', max_size=3_000)
items = st.lists(
    st.fixed_dictionaries(
        {"step": st.integers(1, 10**6), "text": texts, "tags": st.lists(texts, max_size=3)}
    ),
    max_size=12,
)


@given(items, st.integers(500, 3_000))
def test_pages_fit_and_together_have_every_item(recorded: list[JsonObject], limit: int) -> None:
    seen: list[int] = []
    after: str | None = None
    while True:
        found = page(HEAD, "items", readable(recorded), after=after, following=None, limit=limit)
        assert size(found) <= limit
        seen += [each["step"] for each in found["items"]]
        after = found.get("next")
        if after is None:
            break
    assert seen == [each["step"] for each in recorded]


@given(
    st.dictionaries(st.sampled_from(["input", "output", "error"]), texts, min_size=1), st.integers(500, 3_000)
)
def test_the_parts_of_a_long_field_fit_and_together_are_the_field(fields: dict[str, str], limit: int) -> None:
    name, whole = max(fields.items(), key=lambda each: len(each[1]))
    assert size(cut_parts(HEAD, fields, 0, limit)) <= limit
    read, offset = "", 0
    while offset is not None:
        found = cut_parts(HEAD, {name: whole}, offset, limit)
        assert size(found) <= limit
        (part,) = found["fields"]
        read += part["text"]
        offset = part.get("next_offset")
    assert read == readable(whole)


@given(texts, st.integers(1, 500))
def test_the_beginning_of_a_text_is_as_long_as_fits(text: str, limit: int) -> None:
    start = beginning(text, limit)
    assert text.startswith(start)
    assert start == "" or size(start) <= limit
    assert start == text or size(text[: len(start) + 1]) > limit


def test_tokens_are_counted_on_the_safe_side() -> None:
    assert tokens("the cat") == 4
    assert tokens("a" * 12) == 5
    assert tokens("f" * 24) == 14
    assert tokens("ERROR 404") == 6
    assert tokens("\n\n  x") == 3
    assert tokens("é🦆") == 6
    assert tokens("!!") == 2


def test_a_long_item_leaves_room_for_others_and_is_marked() -> None:
    def build(kept: list[JsonObject]) -> JsonObject:
        return {"items": kept}

    long: dict[str, Any] = {
        "step": 1,
        "text": "word " * 9_000,
        "around": [{"step": 0, "text": "x" * 900, "cost": None}],
    }
    found = filled(build, [long, {"step": 2, "text": "short"}], 1_000)
    first, second = found["items"]
    assert first["cut"]
    assert first["text"].endswith("…")
    assert second == {"step": 2, "text": "short"}
    assert shortened({"step": 1}, 100) == {"step": 1}
    assert shares([10, 500, 500], 210) == [10, 100, 100]
    assert shares([], 5) == []
    assert readable({"\ud800": ["\udfff", 1]}) == {"\ufffd": ["\ufffd", 1]}


def test_a_long_cursor_takes_the_place_of_items() -> None:
    steps = [{"step": number} for number in range(200)]

    def build(kept: list[JsonObject]) -> JsonObject:
        return {"items": kept, **({"next": "4f" * 200} if 0 < len(kept) < len(steps) else {})}

    found = filled(build, steps, 1_000)
    assert size(found) <= 1_000
    assert found["next"] == "4f" * 200


@pytest.mark.parametrize("after", ["", "x", "1", "-1:", "1234567:"])
def test_a_cursor_that_no_answer_gave_is_refused(after: str) -> None:
    with pytest.raises(Refused, match="`next` of a previous answer"):
        place_of(after)


def test_cursors_name_the_page_of_the_api_and_the_place_in_it() -> None:
    many = [{"step": number} for number in range(200)]
    first = page(HEAD, "items", many, after=None, following="abc", limit=500)
    place, cursor = place_of(first["next"])
    assert (place, cursor) == (len(first["items"]), None)
    last = page(HEAD, "items", many, after="195:xyz", following="abc", limit=500)
    assert last["next"] == "0:abc"
    assert place_of("3:xyz") == (3, "xyz")
