from typing import Any

import pytest

from timemachine.web.payloads.pure.partial_json import Number
from timemachine.web.payloads.pure.tables import LONGEST_CELL, MOST_COLUMNS, MOST_ROWS, of_csv, of_objects


def test_flat_objects_are_rows() -> None:
    found = of_objects([{"a": "x", "b": Number("1.10")}, {"a": None, "b": True, "c": "y"}])
    assert found is not None
    assert list(found.columns) == ["a", "b", "c"]
    assert [list(row) for row in found.rows] == [["x", "1.10", None], ["null", "true", "y"]]


@pytest.mark.parametrize(
    "value",
    [
        [{"a": "x"}],
        [{"a": "x"}, "y"],
        [{"a": "x"}, {}],
        [{"a": "x"}, {"b": "y"}, {"c": "z"}],
        [{"a": {"b": 1}}, {"a": {"b": 2}}],
        [{"a": "two\nlines"}, {"a": "x"}],
        [{"a": "x" * (LONGEST_CELL + 1)}, {"a": "x"}],
        [{str(each): "x" for each in range(MOST_COLUMNS + 1)}] * 2,
    ],
)
def test_other_lists_are_no_tables(value: list[Any]) -> None:
    assert of_objects(value) is None


def test_only_the_first_rows_are_shown() -> None:
    found = of_objects([{"a": "x"}] * (MOST_ROWS + 2))
    assert found is not None
    assert (len(found.rows), found.more) == (MOST_ROWS, 2)


def test_csv_with_a_head_is_a_table() -> None:
    found = of_csv('name,price\nbolt,"1,20"\nnut,3\n')
    assert found is not None
    assert list(found.columns) == ["name", "price"]
    assert [list(row) for row in found.rows] == [["bolt", "1,20"], ["nut", "3"]]


@pytest.mark.parametrize(
    "text",
    [
        "no separator\nat all\nhere",
        "f(a, b)\nc,d\ne,f",
        "Well, this is\nprose, too\nof course",
        "a,b\n1,2",
        "a,b\n1,2\n3",
        "a,a\n1,2\n3,4",
        "a,\n1,2\n3,4",
        f"a,b\n1,{'x' * (LONGEST_CELL + 1)}\n3,4",
        'a,b\n"x"y,2\n3,4',
    ],
)
def test_other_texts_with_commas_are_no_tables(text: str) -> None:
    assert of_csv(text) is None
