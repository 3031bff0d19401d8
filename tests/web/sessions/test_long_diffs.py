"""Diffs that a page does not wait for: noted, enqueued, computed by a worker, and shown in pages of rows."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from pytest_django import DjangoCaptureOnCommitCallbacks

from tests.brokers import received
from timemachine.core.accounts.models import Project
from timemachine.core.leases import MOST_ATTEMPTS
from timemachine.core.pure.clock import now
from timemachine.jobs.registry import overdue
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.deletions import erase_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.alignment import long_diffs
from timemachine.replay.alignment.models import LongDiff
from timemachine.replay.tasks import make_long_diff

LINES = [f"Line {number} says what line {number} says." for number in range(400)]
POLL = {"HX-Request": "true", "HX-Target": "values"}


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make texts of this length count as long."""
    monkeypatch.setattr(long_diffs, "LONG", 10_000)


@pytest.fixture
def both(project: Project) -> list[Session]:
    found = []
    for text in ("\n".join(LINES), "\n".join(line.replace("says what", "tells what") for line in LINES)):
        session = start_session(project, name="a run", by="test")
        append(session.id, [ActionDraft(kind="message", role="agent", output=text)])
        found.append(session)
    return found


def address(both: list[Session]) -> str:
    return f"/compare/steps/?a={both[0].key}&b={both[1].key}&left=1&right=1"


def page(browser: Client, where: str) -> str:
    answer = browser.get(where)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_page_waits_for_a_long_diff_by_polling_or_reloading_and_then_shows_it(
    viewer: Client, both: list[Session]
) -> None:
    waiting = page(viewer, address(both))
    assert "Comparing long texts in the background" in waiting
    assert 'hx-trigger="every 1s"' in waiting
    assert "<noscript>" in waiting
    assert viewer.get(address(both), headers=POLL).status_code == 204
    make_long_diff(LongDiff.objects.get().id)
    part = viewer.get(address(both), headers=POLL)
    assert part.status_code == 200
    assert "<html" not in part.content.decode()
    assert "hx-trigger" not in part.content.decode()
    shown = page(viewer, address(both))
    assert shown.count("data-difference") == 150
    assert "<del" in shown
    assert "250 more rows" in shown


def test_differing_numbers_come_before_a_diff_of_any_length(viewer: Client, project: Project) -> None:
    prose = "The harbour was quiet that night and nobody saw the ship. " * 1_500
    runs = []
    for number in ("412", "977"):
        session = start_session(project, name="a run", by="test")
        text = f"{prose}Bertha Krupp owes {number} dollars. {prose}"
        append(session.id, [ActionDraft(kind="message", role="agent", output=text)])
        runs.append(session)
    page(viewer, address(runs))
    long_diffs.make(LongDiff.objects.get().id)
    shown = page(viewer, address(runs))
    assert shown.index("Numbers only on the left") < shown.index('role="table"')
    assert "412" in shown
    assert "977" in shown


def test_long_json_is_compared_by_its_structure_by_a_worker(viewer: Client, project: Project) -> None:
    runs = []
    for price in (70_007, 80_008):
        session = start_session(project, name="a run", by="test")
        rows = [{"id": number, "price": price if number == 700 else 5} for number in range(1_000)]
        append(session.id, [ActionDraft(kind="tool_result", tool="list", output=rows)])
        runs.append(session)
    assert "Comparing long texts in the background" in page(viewer, address(runs))
    long_diffs.make(LongDiff.objects.get().id)
    shown = " ".join(re.sub(r"<[^>]*>", " ", page(viewer, address(runs))).split())
    assert "/700/price changed 70007 80008" in shown
    assert "Numbers only on the left 70007" in shown
    assert "hx-trigger" not in page(viewer, address(runs))


def test_long_json_with_only_a_different_key_order_counts_as_the_same(
    viewer: Client, project: Project
) -> None:
    runs = []
    for keys in (range(3_000), reversed(range(3_000))):
        session = start_session(project, name="a run", by="test")
        append(
            session.id, [ActionDraft(kind="tool_result", tool="x", output={f"{key}": key for key in keys})]
        )
        runs.append(session)
    page(viewer, address(runs))
    long_diffs.make(LongDiff.objects.get().id)
    assert "Same values, formatted differently" in page(viewer, address(runs))


def test_the_rows_of_a_long_diff_are_paged(viewer: Client, both: list[Session]) -> None:
    page(viewer, address(both))
    long_diffs.make(LongDiff.objects.get().id)
    later = re.search(r'href="([^"]*row=150[^"]*)"', page(viewer, address(both)))
    assert later is not None
    second = page(viewer, f"/compare/steps/{later.group(1).replace('&amp;', '&')}")
    assert "Line 150" in second.replace("</del>", "").replace("<del>", "")
    assert "Line 149" not in second
    assert "row=0" in second
    assert "100 more rows" in second


def test_several_waiting_pages_enqueue_a_diff_once(
    viewer: Client,
    both: list[Session],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    silent_queue: None,
) -> None:
    for _ in range(3):
        with django_capture_on_commit_callbacks(execute=True):
            page(viewer, address(both))
    assert received() == [("make_long_diff", [str(LongDiff.objects.get().id)])]


def test_the_sweep_enqueues_a_diff_and_finally_gives_up(viewer: Client, both: list[Session]) -> None:
    page(viewer, address(both))
    found = LongDiff.objects.get()
    assert overdue(make_long_diff) == [found.id]
    assert overdue(make_long_diff) == []
    LongDiff.objects.update(enqueued_at=now() - timedelta(minutes=1), attempts=MOST_ATTEMPTS)
    assert overdue(make_long_diff) == []
    assert not long_diffs.is_due(found.id)
    assert "could not be compared (three attempts)" in page(viewer, address(both))


def test_a_finished_diff_is_not_recomputed_and_is_deleted_after_a_week(
    viewer: Client, both: list[Session]
) -> None:
    page(viewer, address(both))
    found = LongDiff.objects.get()
    for _ in range(2):
        long_diffs.make(found.id)
    found.refresh_from_db()
    assert found.attempts == 1
    LongDiff.objects.update(created_at=now() - timedelta(days=8))
    overdue(make_long_diff)
    assert not LongDiff.objects.exists()


def test_a_diff_is_erased_with_either_session(viewer: Client, both: list[Session]) -> None:
    page(viewer, address(both))
    found = LongDiff.objects.get()
    erase_session(both[1])
    assert not LongDiff.objects.exists()
    long_diffs.make(found.id)


def test_identical_texts_need_no_long_diff(viewer: Client, both: list[Session]) -> None:
    one = both[0].key
    assert "Identical" in page(viewer, f"/compare/steps/?a={one}&b={one}&left=1&right=1")
    assert not LongDiff.objects.exists()
