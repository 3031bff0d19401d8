"""The order in which test files run."""

from pathlib import Path

from tests.scheduling import LONG, next_file, starts_programs

ROOT = Path(__file__).resolve().parent.parent
LIGHT, OTHER = "tests/core/test_clock.py", "tests/core/test_home.py"
STORY, BROWSER = "tests/e2e/test_live.py", "tests/web/sessions/test_notes_in_a_browser.py"


def test_every_long_file_is_there() -> None:
    assert [file for file in LONG if not (ROOT / file).exists()] == []


def test_a_file_that_starts_programs_comes_first_and_a_long_one_before_it() -> None:
    assert starts_programs(STORY)
    assert next_file([LIGHT, BROWSER, STORY, OTHER], []) == STORY
    assert next_file([LIGHT, BROWSER], [STORY, LIGHT]) == BROWSER


def test_while_two_are_under_way_others_come_in_their_order() -> None:
    assert next_file([LIGHT, STORY, OTHER], [STORY, BROWSER]) == LIGHT
    assert next_file([LIGHT, STORY, LONG[-1]], [STORY, BROWSER]) == LONG[-1]


def test_at_the_end_all_workers_take_what_is_left() -> None:
    assert next_file([BROWSER], [STORY, STORY]) == BROWSER
