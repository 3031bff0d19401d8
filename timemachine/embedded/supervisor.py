"""Keep the web server and the worker running: restart what exits, with increasing pauses."""

import signal
import subprocess
import time
from dataclasses import dataclass

from timemachine.embedded import children
from timemachine.embedded.children import Program
from timemachine.embedded.terminal import print_error

_LONGEST_PAUSE = 30.0
_HEALTHY_AFTER = 60.0


@dataclass(slots=True, kw_only=True)
class _Supervised:
    program: Program
    process: subprocess.Popen[bytes]
    started: float
    pause: float = 0.0
    due: float | None = None


class Supervisor:
    """The supervised programs. Use it from the main thread."""

    def __init__(self) -> None:
        self._programs: list[_Supervised] = []

    def start(self, program: Program) -> None:
        """Start a program that `tend` keeps running."""
        self._programs.append(
            _Supervised(program=program, process=children.spawn(program), started=time.monotonic())
        )

    def has_ended(self, program: Program) -> bool:
        """Whether the program is not running now."""
        return any(each.process.poll() is not None for each in self._programs if each.program is program)

    def tend(self) -> None:
        """Check every program once: report those that exited, and restart those that are due."""
        for each in self._programs:
            if each.due is None and each.process.poll() is not None:
                _schedule_restart(each)
            if each.due is not None and time.monotonic() >= each.due:
                each.process, each.started, each.due = children.spawn(each.program), time.monotonic(), None

    def stop(self) -> None:
        """Stop all programs."""
        children.stop(each.process for each in self._programs)


def _schedule_restart(each: _Supervised) -> None:
    children.kill_group(each.process)
    lived = time.monotonic() - each.started
    each.pause = 1.0 if lived > _HEALTHY_AFTER else min(max(1.0, each.pause * 2), _LONGEST_PAUSE)
    each.due = time.monotonic() + each.pause
    what, log = _ending(each.process.returncode)
    print_error(
        f"The {each.program.name} {what} and restarts in {each.pause:.0f} s. {log} {each.program.log}."
    )


def _ending(code: int) -> tuple[str, str]:
    """How a program ended, and what its log can show."""
    if code >= 0:
        return f"exited (exit code {code})", "See"
    return f"was killed by the signal {_signal(-code)}", "Its last messages are in"


def _signal(number: int) -> str:
    """`SIGKILL (9)`, or only the number."""
    try:
        return f"{signal.Signals(number).name} ({number})"
    except ValueError:  # real-time signals have no names
        return str(number)
