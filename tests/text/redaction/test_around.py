"""The text around passages that were withheld or erased."""

from typing import Any

import pytest

from timemachine.text.redaction.pure.marks import OPENING_ERASED
from timemachine.text.redaction.pure.values import excerpts

MARK = "[erased: e-mail]"


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        ("nothing", []),
        (None, []),
        (7, []),
        (f"to {MARK}, and {MARK}", [("f", f"to {MARK}, and {MARK}")]),
        (["none", f"a {MARK}"], [("f[1]", f"a {MARK}")]),
        ((MARK,), [("f[0]", MARK)]),
        ({MARK: 1, "b": {"c": [MARK]}}, [("f", MARK), ("f.b.c[0]", MARK)]),
        ([{"withheld": MARK}], [("f[0]", MARK)]),
        ({"withheld": MARK, "more": 1}, [("f.withheld", MARK)]),
        ({"a key": MARK}, [('f["a key"]', MARK)]),
        ("[withheld: e-mail]", []),
    ],
)
def test_the_text_around_the_first_mark_of_each_text_is_shown_with_its_path(
    value: Any, texts: list[tuple[str, str]]
) -> None:
    assert list(excerpts(value, OPENING_ERASED, "f")) == texts


def test_long_texts_are_cut_with_a_notice() -> None:
    ((_, text),) = excerpts("a" * 1_000 + MARK + "b" * 1_000, OPENING_ERASED, "f")
    assert text == "…" + "a" * 80 + MARK + "b" * (240 - 80 - len(MARK)) + "…"
