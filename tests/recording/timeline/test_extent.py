"""The scrollbar of a timeline: as long as the list, with every step at its position."""

import pytest

from tests.recording.timeline.conftest import Record
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.timeline.extent import scale_of
from timemachine.recording.timeline.pure.filter import parse
from timemachine.recording.timeline.rows import matches

pytestmark = pytest.mark.django_db


def drafts(number: int) -> list[ActionDraft]:
    kinds = ("event", "message", "tool_call")
    return [ActionDraft(kind=kinds[n % 3], error_type="Odd" if n % 10 == 9 else None) for n in range(number)]


@pytest.mark.parametrize(
    "written",
    [
        "",
        "kind:event",
        "status:error",
        "status:ok kind:message",
        "kind:put",
        "step:101-300",
        "step:<=50",
        "step:>=301 kind:event",
        "tool:x",
        "-tool:x step:7-9",
    ],
)
def test_a_list_is_as_long_as_its_filtered_steps(record: Record, written: str) -> None:
    session = record(drafts(370))
    shown = parse(written)
    assert scale_of(session, shown).total == matches(session, shown)


def test_every_step_of_a_flat_session_is_at_the_position_of_its_number(record: Record) -> None:
    scale = scale_of(record(drafts(250)), parse(""))
    assert [scale.before(step) for step in (1, 2, 100, 101, 201)] == [0, 1, 99, 100, 200]


def test_folded_steps_do_not_make_the_list_longer(record: Record) -> None:
    session = record(
        [ActionDraft(kind="ask", id="q"), *(ActionDraft(kind="find", parent="q") for _ in range(5))]
    )
    assert scale_of(session, parse("")).total == 1
    assert scale_of(session, parse("kind:find")).total == 5


def test_a_session_without_steps_has_no_rows(record: Record) -> None:
    assert scale_of(record([]), parse("")).total == 0
