"""The minimap of a session counts every step once."""

from collections import Counter

import pytest

from tests.recording.timeline.conftest import Record
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.vocabulary import KINDS
from timemachine.recording.timeline import minimap as drawing
from timemachine.recording.timeline.minimap import LANE_OF, StepRange, minimap

pytestmark = pytest.mark.django_db


def drafts(number: int) -> list[ActionDraft]:
    return [
        ActionDraft(kind=KINDS[n * n % len(KINDS)], error_message="broken" if n % 7 == 3 else None)
        for n in range(number)
    ]


def test_every_kind_has_a_lane() -> None:
    assert set(LANE_OF) == set(KINDS)


def test_a_session_without_steps_has_no_minimap(record: Record) -> None:
    assert minimap(record([])) is None


@pytest.mark.parametrize("number", [1, 5, 399, 400, 401, 1_050])
@pytest.mark.parametrize("most_read", [6_000, 0])
def test_the_lanes_and_errors_count_every_step_once(
    record: Record, monkeypatch: pytest.MonkeyPatch, number: int, most_read: int
) -> None:
    monkeypatch.setattr(drawing, "MOST_READ", most_read)
    session = record(drafts(number))
    found = minimap(session)
    assert found is not None
    lanes = Counter(
        LANE_OF[kind] for kind in Action.objects.filter(session=session).values_list("kind", flat=True)
    )
    assert {lane: sum(columns) for lane, columns in found.lanes.items() if sum(columns)} == lanes
    assert sum(found.errors) == session.error_count
    assert found.columns <= drawing.MOST_COLUMNS
    assert [sum(column) for column in zip(*found.lanes.values(), strict=True)][:-1] == [found.width] * (
        found.columns - 1
    )


def test_a_range_is_drawn_alone_and_never_beyond_the_session(record: Record) -> None:
    session = record(drafts(50))
    part = minimap(session, StepRange(first=41, last=900))
    assert part is not None
    assert (part.span, part.width, part.columns) == (StepRange(first=41, last=50), 1, 10)
    assert (
        sum(part.errors)
        == Action.objects.filter(session=session, sequence__gt=40, error_message__isnull=False).count()
    )


def test_a_long_range_is_rounded_to_full_hundreds(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "MOST_READ", 100)
    part = minimap(record(drafts(450)), StepRange(first=150, last=420))
    assert part is not None
    assert (part.span, part.width, part.columns) == (StepRange(first=101, last=450), 100, 4)
