"""The picture of a recorded session counts every step once, whoever counts them."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.recording.timeline.conftest import Record
from timemachine.governance.deletion.erasure import commands as erasing
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.recording.timeline import pieces
from timemachine.recording.timeline.pieces import StepRange, session_picture
from timemachine.text.redaction.pure.profile import Profile
from timemachine.text.redaction.pure.rules import Pattern, Rules

pytestmark = pytest.mark.django_db

PROFILE = Profile(name="names", version=1, rules=Rules(patterns=(Pattern(name="name", pattern="scout"),)))
NINE = datetime(2026, 11, 20, 9, tzinfo=UTC)


def drafts(number: int, gap_at: int = 0) -> list[ActionDraft]:
    return [
        ActionDraft(
            kind=KINDS[n * n % len(KINDS)],
            agent="scout" if n % 5 == 0 else None,
            started_at=NINE + timedelta(seconds=n, hours=9 if gap_at and n >= gap_at else 0),
            duration_ms=800.0,
            cost_usd=Decimal("0.25") if n % 10 == 0 else None,
            error_message="broken" if n % 7 == 3 else None,
        )
        for n in range(number)
    ]


def test_a_session_without_steps_or_without_times_has_no_picture(record: Record) -> None:
    assert session_picture(record([]), "steps") is None
    assert session_picture(record([ActionDraft(kind="event")]), "time") is None


@pytest.mark.parametrize(("number", "counted_above"), [(1, 20_000), (300, 20_000), (950, 20_000), (950, 400)])
def test_lanes_and_groups_count_every_step_once(
    record: Record, monkeypatch: pytest.MonkeyPatch, number: int, counted_above: int
) -> None:
    monkeypatch.setattr(pieces, "MOST_COUNTED", counted_above)
    session = record(drafts(number), agent="planner")
    for axis in ("steps", "time"):
        found = session_picture(session, axis)
        assert found is not None
        assert sum(lane.number for lane in found.lanes) == found.number == number
        assert sum(group.number for group in found.groups) == number
        assert found.errors == session.error_count
        assert found.cost == pytest.approx(-(-number // 10) / 4)
        assert (found.groups[0].first, max(group.last for group in found.groups)) == (1, number)
    several = number > 1 and counted_above > number
    assert found is not None
    assert {lane.agent for lane in found.lanes} == ({"planner", "scout"} if several else {""})


@pytest.mark.parametrize(("number", "counted_above"), [(200, 20_000), (900, 20_000), (900, 400)])
def test_no_count_reaches_across_an_idle_gap(
    record: Record, monkeypatch: pytest.MonkeyPatch, number: int, counted_above: int
) -> None:
    monkeypatch.setattr(pieces, "MOST_COUNTED", counted_above)
    found = session_picture(record(drafts(number, gap_at=number // 2)), "time")
    assert found is not None
    [gap] = found.axis.gaps
    assert gap.seconds == pytest.approx(9 * 3600 + 0.2)
    assert not [each for each in found.groups if each.left < gap.left - 1 and each.right > gap.right]


def test_a_range_is_drawn_alone_and_never_beyond_the_session(
    record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = record(drafts(450))
    part = session_picture(session, "time", StepRange(first=441, last=900))
    assert part is not None
    assert (part.first, part.last, part.number) == (441, 450, 10)
    monkeypatch.setattr(pieces, "MOST_COUNTED", 100)
    rounded = session_picture(session, "steps", StepRange(first=150, last=420))
    assert rounded is not None
    assert (rounded.first, rounded.last, rounded.number) == (101, 450, 350)


def test_steps_are_nested_under_the_parent_that_was_recorded(record: Record) -> None:
    session = record(
        [
            ActionDraft(kind="event", id="turn"),
            ActionDraft(kind="ask", id="ask", parent="turn"),
            ActionDraft(kind="tool_call", parent="ask"),
        ]
    )
    found = session_picture(session, "steps")
    assert found is not None
    assert [bar.row for lane in found.lanes for bar in lane.bars] == [0, 1, 2]


def test_a_picture_is_drawn_once_but_never_shows_a_name_that_was_erased(
    record: Record, django_assert_num_queries: Any
) -> None:
    session = record(drafts(450), agent="planner")
    before = session_picture(session, "steps")
    assert before is not None
    assert {lane.agent for lane in before.lanes} == {"planner", "scout"}
    erasure = erasing.prepare(session, by="ada", profile=PROFILE)
    found = erasing.work(erasure.id)
    assert found is not None
    erasing.confirm(found, reason="asked for", by="ada")
    erasing.work(found.id)
    with django_assert_num_queries(1):
        after = session_picture(session, "steps")
    assert after is not None
    assert {lane.agent for lane in after.lanes} == {"planner", "[erased: name]"}
    assert [each.number for each in after.lanes] == [each.number for each in before.lanes]
