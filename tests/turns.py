"""Which file of tests a worker takes next: the long ones first, and only some at a time of those that start programs."""

import re
from collections.abc import Collection, Iterable
from typing import Final

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

LONG: Final = (
    "tests/embedded/test_up.py",
    "tests/test_migrations.py",
    "tests/e2e/test_pages.py",
    "tests/e2e/test_files.py",
    "tests/e2e/test_hostile.py",
    "tests/e2e/test_crash_lab.py",
    "tests/e2e/test_long_timeline.py",
    "tests/e2e/test_live.py",
    "tests/web/test_looks.py",
    "tests/e2e/test_replay_on_the_timeline.py",
    "tests/web/test_query_counts.py",
    "tests/api/test_schema.py",
    "tests/replay/suites/test_suites.py",
    "tests/memory/transcripts/test_transcripts.py",
    "tests/recording/importing/test_exporting.py",
    "tests/recording/importing/test_registry.py",
    "tests/recording/otel/traces/test_receiving.py",
    "tests/memory/recall/test_filters.py",
    "tests/replay/comparison/test_comparisons.py",
    "tests/replay/runs/test_replays.py",
    "tests/replay/runs/test_where.py",
)
"""At the end of a run one worker would be busy with such a file while the others have nothing left."""
AT_A_TIME: Final = 2
"""Each of these files has a database, a web server, a worker and a browser: with more of them, each waits too long."""
_STARTING: Final = re.compile(
    r"tests/(e2e|embedded|docker)/|_in_a_browser\.py$|/test_(looks|newcomer|crash_lab)\.py$"
)


class Turns(LoadFileScheduling):  # type: ignore[misc]  # xdist's scheduler has no types
    """Whole files, as `--dist loadfile` gives them, in this order."""

    def _assign_work_unit(self, node: WorkerController) -> None:
        under_way = [
            file
            for units in self.assigned_work.values()
            for file, tests in units.items()
            if not all(tests.values())
        ]
        self.workqueue.move_to_end(next_file(self.workqueue, under_way), last=False)
        super()._assign_work_unit(node)


def next_file(waiting: Collection[str], under_way: Iterable[str]) -> str:
    """The file to take of those that wait, which are in the order of how many tests they have."""
    ordered = [*(file for file in LONG if file in waiting), *(file for file in waiting if file not in LONG)]
    starting = [file for file in ordered if starts_programs(file)]
    rest = [file for file in ordered if not starts_programs(file)]
    enough = sum(map(starts_programs, under_way)) >= AT_A_TIME
    return (rest + starting if enough else starting + rest)[0]


def starts_programs(file: str) -> bool:
    """Whether the tests of the file start a product or a browser."""
    return bool(_STARTING.search(file))
