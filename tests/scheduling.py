"""The order of test files: long ones first, and only a few at a time of those that start programs."""

import re
from collections.abc import Collection, Iterable
from typing import Final

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

LONG: Final = (
    "tests/test_migrations.py",
    "tests/e2e/test_pages.py",
    "tests/e2e/test_hostile.py",
    "tests/e2e/test_long_timeline.py",
    "tests/e2e/test_stepping.py",
    "tests/e2e/test_session_views.py",
    "tests/e2e/test_by_keyboard.py",
    "tests/e2e/test_files.py",
    "tests/e2e/test_live.py",
    "tests/e2e/test_newcomer.py",
    "tests/e2e/test_search.py",
    "tests/embedded/test_up.py",
    "tests/e2e/test_worker_killed.py",
    "tests/e2e/test_crash_lab.py",
    "tests/e2e/test_brokers.py",
    "tests/e2e/test_with_a_model.py",
    "tests/web/access/test_matrix.py",
    "tests/web/test_looks.py",
    "tests/web/test_query_counts.py",
    "tests/api/test_schema.py",
    "tests/governance/deletion/erasure/test_erasing.py",
    "tests/replay/suites/test_suites.py",
    "tests/recording/importing/exports/test_exporting.py",
)
"""Files that take long. Started last, they would keep one worker busy while the others idle.

Those that share a product are next to each other, so that it is started once.
"""
AT_A_TIME: Final = 2
"""How many files that start programs run at a time: each starts a database, a web server, a worker and a browser."""
_STARTING: Final = re.compile(
    r"tests/(e2e|embedded|docker)/|_in_a_browser\.py$|/test_(looks|newcomer|crash_lab)\.py$"
)


class LongFilesFirst(LoadFileScheduling):  # type: ignore[misc]  # xdist's scheduler has no types
    """Schedules whole files like `--dist loadfile`, in the order of `next_file`."""

    def _assign_work_unit(self, node: WorkerController) -> None:
        running = [
            file
            for units in self.assigned_work.values()
            for file, tests in units.items()
            if not all(tests.values())
        ]
        self.workqueue.move_to_end(next_file(self.workqueue, running), last=False)
        super()._assign_work_unit(node)


def next_file(waiting: Collection[str], running: Iterable[str]) -> str:
    """Return which of the waiting files to run next. `waiting` is sorted by number of tests."""
    ordered = [*(file for file in LONG if file in waiting), *(file for file in waiting if file not in LONG)]
    starting = [file for file in ordered if starts_programs(file)]
    rest = [file for file in ordered if not starts_programs(file)]
    enough = sum(map(starts_programs, running)) >= AT_A_TIME
    return (rest + starting if enough else starting + rest)[0]


def starts_programs(file: str) -> bool:
    """Return whether the tests of a file start the product or a browser."""
    return bool(_STARTING.search(file))
