"""What every child process gets: an environment, and an end when we end, however that comes."""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def environment(**more: str) -> dict[str, str]:
    """Our environment and more. Bytecode is written: a machine that forbids it would compile everything at each start."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | more


def tied_to_us(last: signal.Signals) -> Callable[[], None] | None:
    """For `preexec_fn`: the kernel sends the child this signal when the thread that made it is gone, SIGKILL or not.

    Linux only; elsewhere None. Use it from the main thread.
    """
    if sys.platform != "linux":
        return None
    control = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def tie() -> None:
        control(_PR_SET_PDEATHSIG, int(last))
        if os.getppid() != parent:  # gone before we asked
            os._exit(1)

    return tie
