"""Branches are measured as coverage measures them."""

import runpy
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

from coverage import Coverage, CoverageData

from tests.branches import Branches

PROGRAM = dedent("""
    import contextlib

    class Short: each = 1

    def conditions(a, b):
        if a:
            if b:
                return "both"
        elif b: return "one"
        if (
            a
            and b
            or not a
        ):
            b = [
                each
                for each in range(3)
                if each
            ]
        return b if a else (1 if a is None
            else 2)

    def loops(numbers):
        for number in numbers:
            if number == 2: continue
            if number == 3:
                break
        else:
            numbers = []
        while numbers:
            numbers = numbers[1:]
            if len(numbers) == 5:
                return None

    def exceptions(text):
        try:
            int(text)
        except TypeError:
            return 1
        except ValueError:
            text = ""
        finally:
            number = 1
        with contextlib.suppress(KeyError):
            if number:
                raise KeyError
        assert number
        while True:
            try:
                if number > 2:
                    return number
                if number == 5:
                    continue
            finally:
                number += 1

    def cases(one):
        match one:
            case 1:
                return "one"
            case [_, 2]:
                return "pair"
            case _ if one == 3:
                return "three"

    def steps(each):
        for one in each:
            if one:
                yield one
        if each:
            yield from each

    conditions(0, 0), conditions(0, 1), conditions(1, 0)
    loops([]), loops([1, 2])
    exceptions("x")
    cases(1), cases([1, 2]), cases(4)
    list(steps([0]))
""")


def test_the_same_branches_are_missing_as_with_coverage(tmp_path: Path) -> None:
    program, here, there = tmp_path / "program.py", tmp_path / "here", tmp_path / "there"
    program.write_text(PROGRAM)
    measured = Branches(program, tool=4)
    measured.start()
    runpy.run_path(str(program))
    measured.stop()
    measured.save(CoverageData(str(here)))
    command = ["-m", "coverage", "run", "--rcfile=", "--branch", f"--data-file={there}", str(program)]
    subprocess.run([sys.executable, *command], check=True, timeout=60)
    assert _reached(here, program) == _reached(there, program)


def _reached(measured: Path, program: Path) -> tuple[list[int], dict[int, tuple[int, int]]]:
    found = Coverage(data_file=str(measured), config_file=False)
    found.load()
    _, _, _, missing_lines, _ = found.analysis2(str(program))
    of_each_line = found.branch_stats(str(program))
    assert len(of_each_line) > 10
    return missing_lines, of_each_line
