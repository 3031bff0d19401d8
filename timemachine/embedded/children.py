"""Child processes that end with this process, even if it is killed: their logs, and what outlived a killed `make up`."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from timemachine.core.pure.errors import Unavailable
from timemachine.embedded.terminal import nap

_PR_SET_PDEATHSIG = 1
_ROTATE_AT = 5_000_000  # bytes of a log
_TAIL = 16_384  # bytes of a log


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What a child runs. The kernel sends it `last_signal` if this process is killed."""

    name: str
    command: tuple[str, ...]
    log: Path
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    last_signal: signal.Signals = signal.SIGINT


def run(program: Program, text: str = "") -> str:
    """Run it with the text as input and return its output (at most 64 KB, the size of a pipe).

    Raises `Unavailable` with the end of its log if it fails.
    """
    before = log_size(program.log)
    child = spawn(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        with contextlib.suppress(BrokenPipeError), cast("IO[bytes]", child.stdin) as question:
            question.write(text.encode())
        while child.poll() is None:
            nap(0.02)
    finally:
        kill_group(child)
        with cast("IO[bytes]", child.stdout) as answer:
            written = answer.read().decode()
    if child.returncode != 0:
        raise Unavailable(
            f"The {program.name} failed: {last_words(program.log, since=before)} (see {program.log})",
            code="start_failed",
        )
    return written


def spawn(
    program: Program, *, stdin: int = subprocess.DEVNULL, stdout: int | None = None
) -> subprocess.Popen[bytes]:
    """Start it in its own process group, so that Ctrl-C on the terminal reaches only this process.

    Its output goes to its log; `stdout` can be `subprocess.PIPE`. Call this from the main thread.
    """
    environment = os.environ | program.environment
    with open_log(program.log) as log:
        return subprocess.Popen(
            program.command,
            cwd=program.folder,
            # without bytecode files, everything would be compiled at each start
            env={name: value for name, value in environment.items() if name != "PYTHONDONTWRITEBYTECODE"},
            stdin=stdin,
            stdout=log if stdout is None else stdout,
            stderr=log,
            process_group=0,
            preexec_fn=_tied_to_us(program.last_signal),  # noqa: PLW1509  # there are no threads here
        )


def stop(children: Iterable[subprocess.Popen[bytes]], patience: float = 5) -> None:
    """Ask all of them to end, wait at most `patience` seconds in total, and kill their process groups."""
    children = list(children)
    for child in children:
        if child.poll() is None:
            child.terminate()
    deadline = time.monotonic() + patience
    for child in children:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(max(0, deadline - time.monotonic()))
        kill_group(child)


def kill_group(child: subprocess.Popen[bytes]) -> None:
    """Kill the child and its own children."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS refuses for a group of zombies
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _tied_to_us(last_signal: signal.Signals) -> Callable[[], None] | None:
    """On Linux, have the kernel send the signal when the thread that started the child ends.

    The signal's default action is restored first, because children of a shell can inherit ignored SIGINT and SIGQUIT.
    """
    if sys.platform != "linux":
        return None
    control = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def tie() -> None:
        signal.signal(last_signal, signal.SIG_DFL)
        control(_PR_SET_PDEATHSIG, int(last_signal))
        if os.getppid() != parent:  # the parent ended before
            os._exit(1)

    return tie


def open_log(path: Path) -> IO[bytes]:
    """Open the log for appending; a large one is first renamed to `….1` and replaces the older one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if path.exists() and path.stat().st_size > _ROTATE_AT:
        path.replace(path.with_name(path.name + ".1"))
    return path.open("ab")


def log_size(path: Path) -> int:
    """The bytes in a log, 0 if it does not exist."""
    return path.stat().st_size if path.exists() else 0


def last_words(path: Path, *, since: int = 0) -> str:
    """The error of the last traceback in the log, else its last line, of what was written after the first `since` bytes."""
    size = log_size(path)
    with path.open("rb") as log:
        log.seek(max(since if since <= size else 0, size - _TAIL))  # a smaller log is a new one
        lines = [line for line in log.read().decode(errors="replace").splitlines() if line.strip()]
    tracebacks = [place for place, line in enumerate(lines) if line.startswith("Traceback ")]
    after = lines[tracebacks[-1] + 1 :] if tracebacks else lines[-1:]
    words = next((line.strip() for line in after if not line.startswith(" ")), "its log is empty")
    return words.removeprefix("CommandError: ")


def processes_in(folder: Path) -> Iterator[int]:
    """Every process with this working folder (Linux only). Titles can be rewritten and ids reused, so they are not used."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink() == folder:
                yield int(process.name)


def kill_leftovers(folder: Path) -> None:
    """Kill the processes of our own Python in a folder that only our children use."""
    ours = Path(sys.executable).resolve()
    for pid in processes_in(folder):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/exe").readlink() == ours:
                os.kill(pid, signal.SIGKILL)
