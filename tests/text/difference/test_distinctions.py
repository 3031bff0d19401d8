import pytest

from timemachine.text.pure.difference.changes import find_distinctions


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("The same.", "The same.", []),
        ("It took 9 days.", "It took 9 long days.", []),
        ("It took 9 days.", "It took 12 days.", [("numbers", ["9 days"], ["12 days"])]),
        (
            "The bill was paid by Anna Weber with $5, and $5 again.",
            "The bill was paid by Otto Brandt with $7.",
            [("numbers", ["$5"], ["$7"]), ("names", ["Anna Weber"], ["Otto Brandt"])],
        ),
    ],
)
def test_numbers_and_names_that_only_one_text_states_come_first(
    left: str, right: str, expected: list[tuple[str, list[str], list[str]]]
) -> None:
    assert [
        (each.what, list(each.left), list(each.right)) for each in find_distinctions(left, right)
    ] == expected


def test_the_list_is_limited_to_a_readable_length() -> None:
    numbers = " ".join(f"It counted {number} things." for number in range(1_000, 1_200))
    assert [len(each.left) for each in find_distinctions(numbers, "Nothing.")] == [50]
