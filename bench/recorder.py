"""What recording an action costs the recording thread, and how soon it is delivered.

Baselines in the same run: `json.dumps` and `copy.deepcopy` of the same dict. The server is a stub on loopback that accepts everything,
so that only the recorder's delivery is measured. The recorder's threads run meanwhile, as they do next to an agent. `ACTIONS` sets another number.
Measured are the processor time of the recording thread, and its wall-clock delay, because waiting for a lock costs no processor time.
"""

import copy
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bench.common.report import figure, finish
from timemachine.client import TimeMachine

ACTIONS = int(os.environ.get("ACTIONS", "10000"))
RUNS = 5
MESSAGES = [
    {"role": "user", "content": "How long are invoices kept, and who says so? " * 5} for _ in range(20)
]
SHORT = {
    "kind": "message",
    "role": "agent",
    "output": "Invoices are kept for ten years. " * 10,
    "significance": "decision",
}
LONG = {"kind": "llm_call", "model": "openai:gpt-4o", "input": MESSAGES, "output": "Ten years."}


class Accepting(BaseHTTPRequestHandler):
    """Accepts everything."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(201)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Accepting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        tm = TimeMachine(f"http://127.0.0.1:{server.server_address[1]}", "tmk_bench", spool=folder)
        with tm.session("bench") as s:
            s.record("user", "warm")
            s.flush()
            measure("a message of 330 characters", s.add, SHORT, tm)
            measure("a call with 20 messages", s.add, LONG, tm)

            @s.tool_call
            def look(name: str) -> str:
                return name

            figure("a decorated function, processor time", each(lambda: look("x")), "µs")
            half, most = waited(lambda: look("x"), tm)
            figure("a decorated function, by the clock", half, "µs")
            figure("a decorated function, by the clock, p99", most, "µs")
            began = time.perf_counter()
            for _ in range(ACTIONS):
                s.add(dict(SHORT))
            if not s.flush(120):
                sys.exit("Not everything was delivered.")
            rate = ACTIONS / (time.perf_counter() - began)
            figure("recorded and delivered, to a server that does nothing", rate, "/s")
    server.shutdown()


def measure(
    label: str, record: Callable[[dict[str, Any]], None], action: dict[str, Any], tm: TimeMachine
) -> None:
    """Measure what an action costs its thread, with a figure for each alternative."""
    recorded = statistics.median(each(lambda: record(dict(action)), tm) for _ in range(RUNS))
    others: dict[str, Callable[[], object]] = {
        "json.dumps": lambda: json.dumps(action),
        "deepcopy": lambda: copy.deepcopy(action),
    }
    for name, work in others.items():
        baseline = statistics.median(each(work) for _ in range(RUNS))
        figure(f"{label}, beside {name}", recorded, "µs", against=(name, baseline), most=50)
    half, most = waited(lambda: record(dict(action)), tm)
    figure(f"{label}, by the clock", half, "µs")
    figure(f"{label}, by the clock, p99", most, "µs")


def waited(work: Callable[[], object], tm: TimeMachine) -> tuple[float, float]:
    """Return the wall-clock microseconds that one call delays the thread, over many: p50 and p99."""
    took = []
    for _ in range(ACTIONS):
        began = time.perf_counter_ns()
        work()
        took.append(time.perf_counter_ns() - began)
    tm.flush(120)
    parts = statistics.quantiles(took, n=100)
    return parts[49] / 1000, parts[98] / 1000


def each(work: Callable[[], object], tm: TimeMachine | None = None) -> float:
    """Return the microseconds of this thread's own processor time for one call, over many."""
    count = ACTIONS // RUNS
    began = time.thread_time_ns()
    for _ in range(count):
        work()
    took = (time.thread_time_ns() - began) / count / 1000
    if tm is not None:
        tm.flush(120)
    return took


if __name__ == "__main__":
    main()
    sys.exit(finish())
