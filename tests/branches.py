"""Measure which branches of the pure files the tests reach, next to coverage, which measures lines of everything.

Before Python 3.14, coverage can measure branches only by following every line that a process runs, also those of
Django. This gets events from the pure files alone, and from most of their places only the first. It is a pytest plugin
that has to be loaded with `-p`, because it must start before the pure files are imported; it measures if
`MEASURED_BRANCHES` names the files to write, to which each process appends its own ending.
"""

import dis
import os
import sys
from functools import cached_property
from pathlib import Path
from types import CodeType
from typing import Final

from coverage import CoverageData, bytecode
from coverage.sysmon import compute_multiline_map

from tests.pure import pure_files

DESTINATION: Final = "MEASURED_BRANCHES"
_TOOL: Final = 3
_ENDINGS: Final = 2
"""A conditional jump goes to one of two places."""
_on = sys.monitoring
_events = sys.monitoring.events

# coverage resolves jumps only on 3.14, which does not have it
bytecode.RETURNS.update({dis.opmap[name] for name in ("RETURN_CONST",) if name in dis.opmap})


class Branches:
    """The branches that one process reached in some files."""

    def __init__(self, *files: Path, tool: int = _TOOL) -> None:
        self._names = {str(file) for file in files}
        self._tool = tool
        self._files: dict[str, _File] = {}
        self._codes: dict[int, _Code] = {}

    def start(self) -> None:
        """Record from now on."""
        _on.use_tool_id(self._tool, "branches of pure files")
        for event, heard in (
            (_events.PY_START, self._started),
            (_events.LINE, self._line),
            (_events.PY_RETURN, self._returned),
            (_events.BRANCH, self._branched),
        ):
            _on.register_callback(self._tool, event, heard)
        _on.set_events(self._tool, _events.PY_START)

    def stop(self) -> None:
        """Record no longer."""
        _on.set_events(self._tool, 0)
        _on.free_tool_id(self._tool)

    def save(self, data: CoverageData) -> None:
        """Write what was reached as coverage does, and which files were not reached at all."""
        data.add_arcs({name: set(file.arcs) for name, file in self._files.items()})
        data.touch_files(self._names)
        data.write()

    def _started(self, code: CodeType, _: int) -> object:
        name = code.co_filename
        if name in self._names and id(code) not in self._codes:
            file = self._files.setdefault(name, _File(name))
            self._codes[id(code)] = _Code(code, file)
            _on.set_local_events(self._tool, code, _events.LINE | _events.PY_RETURN | _events.BRANCH)
        return _on.DISABLE

    def _line(self, code: CodeType, line: int) -> object:
        self._codes[id(code)].reach(line)
        return _on.DISABLE

    def _returned(self, code: CodeType, offset: int, _: object) -> object:
        self._codes[id(code)].leave(offset)
        return _on.DISABLE

    def _branched(self, code: CodeType, offset: int, destination: int) -> object:
        return _on.DISABLE if self._codes[id(code)].jump(offset, destination) else None


class _File:
    def __init__(self, name: str) -> None:
        self.name = name
        self.arcs: set[tuple[int, int]] = set()

    @cached_property
    def statements(self) -> dict[int, int]:
        """The first line of the statement that a line belongs to."""
        return compute_multiline_map(self.name)


class _Code:
    """The branches of one function or module. The arcs are those that coverage records on Python 3.14."""

    def __init__(self, code: CodeType, file: _File) -> None:
        self._first_line = code.co_firstlineno
        self._code = code
        self._file = file
        self._lines = bytecode.bytes_to_lines(code)
        self._line: int | None = None
        self._jumped: dict[int, set[int]] = {}

    @cached_property
    def _resolver(self) -> bytecode.BranchArcResolver:
        return bytecode.BranchArcResolver(self._code, self._lines, self._file.statements)

    def reach(self, line: int) -> None:
        self._file.arcs.add((line, line))
        if self._line not in {None, line}:
            self._file.arcs.add((self._line, line))
        self._line = line

    def leave(self, offset: int) -> None:
        if line := self._lines.get(offset):
            self._file.arcs.add((line, -self._first_line))
        self._line = None

    def jump(self, offset: int, destination: int) -> bool:
        """Record a conditional jump and return whether it was seen to go to both places: the events of both end together."""
        seen = self._jumped.setdefault(offset, set())
        if destination not in seen:
            seen.add(destination)
            if arc := self._resolver.resolve(offset, destination):
                self._file.arcs.add(arc)
        return len(seen) == _ENDINGS


def _measure_this_process() -> Branches | None:
    if DESTINATION not in os.environ:
        return None
    branches = Branches(*pure_files())
    branches.start()
    return branches


_of_this_process: Final = _measure_this_process()


def pytest_sessionfinish() -> None:
    """Save immediately: a worker process that ends slowly is killed."""
    if _of_this_process is not None:
        _of_this_process.save(CoverageData(os.environ[DESTINATION], suffix=str(os.getpid())))
