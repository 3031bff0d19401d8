"""The order in which test files run."""

from pathlib import Path

from tests.scheduling import LONG, next_file, starts_programs

ROOT = Path(__file__).resolve().parent.parent
LIGHT, OTHER = "tests/core/test_clock.py", "tests/core/test_home.py"
LONG_FILE, BROWSER = "tests/e2e/test_live.py", "tests/web/sessions/test_notes_in_a_browser.py"


def test_every_long_file_exists() -> None:
    assert [file for file in LONG if not (ROOT / file).exists()] == []


def test_files_that_start_programs_come_first_and_long_ones_before_others() -> None:
    assert starts_programs(LONG_FILE)
    assert next_file([LIGHT, BROWSER, LONG_FILE, OTHER], []) == LONG_FILE
    assert next_file([LIGHT, BROWSER], [LONG_FILE, LIGHT]) == BROWSER


def test_while_two_are_running_other_files_come_in_order() -> None:
    assert next_file([LIGHT, LONG_FILE, OTHER], [LONG_FILE, BROWSER]) == LIGHT
    assert next_file([LIGHT, LONG_FILE, LONG[-1]], [LONG_FILE, BROWSER]) == LONG[-1]


def test_at_the_end_all_workers_take_the_remaining_files() -> None:
    assert next_file([BROWSER], [LONG_FILE, LONG_FILE]) == BROWSER
