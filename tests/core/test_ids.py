import time
import uuid

import pytest

from timemachine.core.pure.ids import uuid7


def test_an_id_has_the_form_of_version_7_and_contains_its_time() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid7()
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert before <= made.int >> 80 <= time.time_ns() // 1_000_000 + 1


def test_ids_are_ordered_by_creation() -> None:
    made = [uuid7() for _ in range(10_000)]
    assert made == sorted(made)
    assert len({each.int & (1 << 62) - 1 for each in made}) == len(made)


def test_ids_stay_ordered_when_the_clock_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    first = uuid7()
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    second, third = uuid7(), uuid7()
    assert first < second < third
