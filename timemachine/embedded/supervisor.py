"""Keeps the web server and the worker running: what ends by itself is started again, later each time."""

import signal
import subprocess
import time
from dataclasses import dataclass

from timemachine.embedded import children
from timemachine.embedded.children import Program
from timemachine.embedded.terminal import complain

_LONGEST_PAUSE = 30.0
_HEALTHY_AFTER = 60.0


@dataclass(slots=True, kw_only=True)
class _Kept:
    program: Program
    process: subprocess.Popen[bytes]
    started: float
    pause: float = 0.0
    due: float | None = None


class Supervisor:
    """The programs that it was given, as processes. Use it from the main thread."""

    def __init__(self) -> None:
        self._kept: list[_Kept] = []

    def start(self, program: Program) -> None:
        """Start a program; from now on `tend` keeps it running."""
        self._kept.append(_Kept(program=program, process=children.spawn(program), started=time.monotonic()))

    def has_ended(self, program: Program) -> bool:
        """Whether the program is not running now."""
        return any(kept.process.poll() is not None for kept in self._kept if kept.program is program)

    def tend(self) -> None:
        """Look once at every program: say which one ended, and start again what is due."""
        for kept in self._kept:
            if kept.due is None and kept.process.poll() is not None:
                _lay_aside(kept)
            if kept.due is not None and time.monotonic() >= kept.due:
                kept.process, kept.started, kept.due = children.spawn(kept.program), time.monotonic(), None

    def stop(self) -> None:
        """End all of them, together."""
        children.stop(kept.process for kept in self._kept)


def _lay_aside(kept: _Kept) -> None:
    children.kill_group(kept.process)
    lived = time.monotonic() - kept.started
    kept.pause = 1.0 if lived > _HEALTHY_AFTER else min(max(1.0, kept.pause * 2), _LONGEST_PAUSE)
    kept.due = time.monotonic() + kept.pause
    what, log = _ending(kept.process.returncode)
    complain(
        f"The {kept.program.name} {what} and starts again in {kept.pause:.0f} s; {kept.program.log} {log}."
    )


def _ending(code: int) -> tuple[str, str]:
    """How a program ended, and what its log says to that: of who was killed it has nothing but what went before."""
    if code >= 0:
        return f"ended by itself (exit code {code})", "says why"
    return f"was killed by the signal {_signal(-code)}", "has what it said before"


def _signal(number: int) -> str:
    """`SIGKILL (9)`; a number without a name as it is."""
    try:
        return f"{signal.Signals(number).name} ({number})"
    except ValueError:  # of real time, they have no names
        return str(number)
