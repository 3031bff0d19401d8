"""Of which tests the branches are measured, and of which the lines: before Python 3.14 coverage sees branches by a slow way only.

Branches count in the pure files. The tests of the rooms reach every one of them, and those of the doors that need no database; the
others, stories through a door, need not be slowed down. `make test` runs the ones, then the others. As a program it makes lines
of the branches that the first run measured, as coverage adds up only what is alike: `python -m tests.branches MEASURED LINES`.
"""

import re
import sys
from pathlib import Path
from typing import Final

import pytest
from coverage import CoverageData

from tests.turns import starts_programs

MARK: Final = "branches"
_DOORS: Final = re.compile(r"tests/(api|cli|client|web)/")
_DATABASE: Final = {"db", "transactional_db", "django_db_setup"}


def measured(item: pytest.Item) -> bool:
    """Whether the branches are measured that this test reaches."""
    file = item.nodeid.partition("::")[0]
    return not starts_programs(file) and not (_DOORS.match(file) and _needs_a_database(item))


def _needs_a_database(item: pytest.Item) -> bool:
    named = set(item.fixturenames) if isinstance(item, pytest.Function) else set()
    return bool(named & _DATABASE) or item.get_closest_marker("django_db") is not None


def as_lines(measured: Path, lines: Path) -> None:
    """Write to `lines` which lines were reached by the branches in `measured`."""
    found, made = CoverageData(str(measured)), CoverageData(str(lines))
    found.read()
    made.add_lines({file: found.lines(file) or [] for file in found.measured_files()})
    made.write()


if __name__ == "__main__":
    as_lines(*map(Path, sys.argv[1:]))
