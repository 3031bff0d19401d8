"""Choose the tests that run with branch coverage; the others run with line coverage.

Before Python 3.14, branch coverage is slow, and only the files in `pure` folders need it. The tests of the domain packages reach
every branch of them, together with those tests of api, cli, client and web that need no database. `make test` runs these
first, then all others. As a program, it converts the branches of the first run to lines, so that coverage can add up
both: `python -m tests.branches MEASURED LINES`.
"""

import re
import sys
from pathlib import Path
from typing import Final

import pytest
from coverage import CoverageData

from tests.scheduling import starts_programs

MARK: Final = "branches"
_INTERFACES: Final = re.compile(r"tests/(api|cli|client|web)/")
_DATABASE: Final = {"db", "transactional_db", "django_db_setup"}


def measured(item: pytest.Item) -> bool:
    """Return whether a test runs with branch coverage."""
    file = item.nodeid.partition("::")[0]
    return not starts_programs(file) and not (_INTERFACES.match(file) and _needs_a_database(item))


def _needs_a_database(item: pytest.Item) -> bool:
    named = set(item.fixturenames) if isinstance(item, pytest.Function) else set()
    return bool(named & _DATABASE) or item.get_closest_marker("django_db") is not None


def as_lines(measured: Path, lines: Path) -> None:
    """Write to `lines` the lines that the branches in `measured` reach."""
    found, made = CoverageData(str(measured)), CoverageData(str(lines))
    found.read()
    made.add_lines({file: found.lines(file) or [] for file in found.measured_files()})
    made.write()


if __name__ == "__main__":
    as_lines(*map(Path, sys.argv[1:]))
