"""The choice of tests with branch coverage, and the conversion of branches to lines."""

from pathlib import Path

import pytest
from coverage import CoverageData

from tests.branches import MARK, as_lines


def test_a_test_without_a_database_is_measured(request: pytest.FixtureRequest) -> None:
    assert request.node.get_closest_marker(MARK) is not None


def test_both_ends_of_a_branch_count_as_reached_lines(tmp_path: Path) -> None:
    measured = CoverageData(str(tmp_path / "branches"))
    measured.add_arcs({"one.py": [(-1, 1), (1, 3), (3, -1)]})
    measured.write()
    as_lines(tmp_path / "branches", tmp_path / "lines.branches")
    lines = CoverageData(str(tmp_path / "lines.branches"))
    lines.read()
    assert not lines.has_arcs()
    assert sorted(lines.lines("one.py") or []) == [1, 3]
