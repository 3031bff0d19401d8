"""The chain of an access log: any changed byte breaks it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.governance.sharing.pure.log_line import BEFORE_THE_FIRST, Line, first_break, sha256_of

AT = datetime(2026, 11, 22, 9, tzinfo=UTC)


def chained(results: list[str]) -> list[tuple[Line, str]]:
    """Return lines as they are stored, one after the other."""
    lines: list[tuple[Line, str]] = []
    for number, result in enumerate(results, 1):
        line = Line(
            chain="link 1",
            sequence=number,
            at=AT + timedelta(seconds=number),
            result=result,
            by="Zoë ☃",
            address="203.0.113.0/24",
            browser="Firefox",
            facts={"max_opens": 3},
            previous_sha256=lines[-1][1] if lines else BEFORE_THE_FIRST,
        )
        lines.append((line, sha256_of(line)))
    return lines


@given(st.lists(st.sampled_from(["opened", "expired", "created"]), max_size=6))
def test_an_unchanged_log_is_intact(results: list[str]) -> None:
    assert first_break(chained(results)) is None


@pytest.mark.parametrize(
    "change",
    [
        {"at": AT},
        {"result": "opened"},
        {"by": "Zoë"},
        {"address": None},
        {"browser": "Chrome"},
        {"facts": {"max_opens": 4}},
        {"chain": "link 2"},
    ],
)
def test_a_changed_line_is_reported(change: dict[str, Any]) -> None:
    lines = chained(["created", "expired", "ended"])
    lines[1] = replace(lines[1][0], **change), lines[1][1]
    found = first_break(lines)
    assert found is not None
    assert (found.sequence, found.why) == (2, "it was changed")


def test_a_line_changed_together_with_its_hash_breaks_the_next_one() -> None:
    lines = chained(["created", "expired", "ended"])
    changed = replace(lines[1][0], result="opened")
    lines[1] = changed, sha256_of(changed)
    found = first_break(lines)
    assert found is not None
    assert (found.sequence, found.why) == (3, "it does not follow the previous line")


@pytest.mark.parametrize("missing", [0, 1])
def test_a_removed_line_is_missing(missing: int) -> None:
    lines = chained(["created", "expired", "ended"])
    del lines[missing]
    found = first_break(lines)
    assert found is not None
    assert (found.sequence, found.why) == (missing + 1, "the line is missing")


def test_the_hash_depends_on_the_moment_and_not_on_its_time_zone() -> None:
    line = chained(["created"])[0][0]
    elsewhere = line.at.astimezone(timezone(timedelta(hours=2)))
    assert sha256_of(replace(line, at=elsewhere)) == sha256_of(line)
