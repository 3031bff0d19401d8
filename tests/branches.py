"""Choose the tests that run with branch coverage; the others run with line coverage.

Before Python 3.14, branch coverage slows down everything that a process runs, and only the files in `pure` folders need
it. Tests without a database, those of the verifier, and the files in `WITH_DATABASE` reach every branch of them.
`make test` runs these and all others at the same time. As a program, it converts the branches of their run to lines, so
that coverage can add up both: `python -m tests.branches MEASURED LINES`.
"""

import sys
from pathlib import Path
from typing import Final
from unittest import TestCase

import pytest
from coverage import Coverage, CoverageData

from tests.scheduling import starts_programs

MARK: Final = "branches"
_VERIFIER: Final = "tests/verifier/"
WITH_DATABASE: Final = (
    "tests/evidence/test_anchors.py",
    "tests/evidence/test_checking.py",
    "tests/evidence/test_replacing.py",
    "tests/governance/deletion/erasure/test_chosen.py",
    "tests/governance/deletion/erasure/test_proven.py",
    "tests/governance/sharing/test_heads.py",
    "tests/governance/sharing/test_makers.py",
    "tests/governance/sharing/test_opening.py",
    "tests/governance/sharing/test_policy.py",
    "tests/llm/test_keys.py",
    "tests/memory/search/test_indexing.py",
    "tests/memory/training/test_pairs.py",
    "tests/recording/answering/test_running_asks.py",
    "tests/recording/importing/exports/test_exporting.py",
    "tests/recording/importing/exports/test_exports.py",
    "tests/recording/importing/exports/test_partial_exports.py",
    "tests/recording/importing/exports/test_exports_imported.py",
    "tests/recording/importing/test_growing_lines.py",
    "tests/recording/importing/test_joining.py",
    "tests/recording/importing/every_format/test_unreadable_files.py",
    "tests/recording/intake/test_putting.py",
    "tests/recording/otel/traces/test_receiving.py",
    "tests/recording/sessions/test_append.py",
    "tests/replay/judging/test_judging.py",
    "tests/replay/runs/test_replays.py",
    "tests/replay/suites/test_suites.py",
    "tests/text/redaction/test_profiles.py",
)
"""Files whose tests reach branches of pure files through the database."""
_DATABASE: Final = {"db", "transactional_db", "django_db_setup"}


def measured(item: pytest.Item) -> bool:
    """Return whether a test runs with branch coverage."""
    file = item.nodeid.partition("::")[0]
    if starts_programs(file):
        return False
    return file.startswith(_VERIFIER) or file in WITH_DATABASE or not _needs_a_database(item)


def are_measured() -> bool:
    """Return whether this process measures branches."""
    measuring = Coverage.current()
    return measuring is not None and bool(measuring.get_option("run:branch"))


def _needs_a_database(item: pytest.Item) -> bool:
    if isinstance(item, pytest.Function) and item.cls and issubclass(item.cls, TestCase):
        return True  # Django's, without a fixture or a marker
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
