from collections.abc import Iterator
from typing import Any

from timemachine.cli.output.timeline import action_lines


def step(sequence: int, name: str | None, parent: Any) -> Any:
    facts = dict.fromkeys(
        ("tool", "role", "error", "input", "output", "model", "duration_ms", "cost_usd", "copied_from")
    )
    return facts | {"sequence": sequence, "id": name, "parent": parent, "kind": "event", "name": name}


def indents(*steps: Any) -> list[int]:
    """The indentation of each step."""
    return [line.index("event") for line in action_lines(steps, last=9)]


def test_a_child_is_indented_whether_its_parent_comes_before_or_after_it() -> None:
    assert indents(
        step(1, "a", None),
        step(2, None, "a"),
        step(3, "deep", "late"),
        step(4, "late", "a"),
        step(5, None, 4),
    ) == [3, 5, 7, 5, 7]


def test_children_of_a_step_with_a_missing_parent_stay_under_that_step() -> None:
    assert indents(step(1, "a", "gone"), step(2, "b", "a"), step(3, None, "b")) == [3, 5, 7]


def test_steps_are_printed_once_their_parent_number_has_passed() -> None:
    printed: list[str] = []

    def steps() -> Iterator[Any]:
        yield step(2, "a", 1)
        yield step(3, None, "a")
        assert len(printed) == 2

    for line in action_lines(steps(), last=9):
        printed.append(line)  # noqa: PERF402  # each line is checked while more follow
    assert [line.index("event") for line in printed] == [3, 5]


def test_missing_parents_and_parent_cycles_do_not_block_the_output() -> None:
    assert indents(step(1, "a", "gone"), step(2, "b", "c"), step(3, "c", "b")) == [3, 9, 9]
