"""Workers that die on command: `python -m tests.replay.crash_worker`, then a line `REPLAY AT_ONCE POINT NTH SIGNAL` for each.

A child is forked for each line; it works on the replay, with so many calls side by side, and sends itself the signal when it
passes the point for the nth time (`-` never dies). The answer is `ended`, `killed`, or `stopped PID` for one that only sleeps.
"""

import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from typing import Any
from uuid import UUID

import django

django.setup()

from django.conf import settings  # noqa: E402

from timemachine.llm import openai_chat  # noqa: E402, F401
from timemachine.replay.continuation import worker as continuation  # noqa: E402
from timemachine.replay.runs import leases, step_results, steps  # noqa: E402
from timemachine.replay.tasks import run_replay  # noqa: E402

POINTS: dict[str, tuple[Any, str]] = {
    "after_claim": (leases, "claim"),
    "before_call": (leases, "intend_call"),
    "after_call": (steps, "answer"),
    "after_write": (step_results, "write"),
}


OF_A_CONTINUATION: dict[str, tuple[Any, str]] = {
    "after_claim": (leases, "claim"),
    "before_call": (leases, "intend_call"),
    "after_send": (continuation, "send"),
    "inside_write": (continuation, "append"),
    "after_turn": (continuation, "_write"),
}


def install_trap(point: str, nth: int, number: signal.Signals) -> None:
    """Make this process send itself a signal right after passing the point for the nth time."""
    module, name = {**OF_A_CONTINUATION, **POINTS}[point]
    passed: Callable[..., Any] = getattr(module, name)
    times = count(1)

    def run_and_signal(*given: Any, **named: Any) -> Any:
        result = passed(*given, **named)
        if next(times) == nth:
            os.kill(os.getpid(), number)
        return result

    setattr(module, name, run_and_signal)


def child(replay_id: str, at_once: str, point: str, nth: str, name: str) -> None:
    """Work until the end or the signal; never returns."""
    settings.MODEL_CALLS_AT_ONCE = int(at_once)
    if point != "-":
        install_trap(point, int(nth), signal.Signals[name])
    run_replay(UUID(replay_id))
    os._exit(0)


def main() -> None:
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            child(*line.split())
        _, status = os.waitpid(pid, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            print(f"stopped {pid}", flush=True)
        else:
            print("killed" if os.WIFSIGNALED(status) else "ended", flush=True)


if __name__ == "__main__":
    main()
