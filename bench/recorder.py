"""What recording an action costs the thread that records, and how soon it is delivered.

Baselines in the same run: appending the same dict to a list, `json.dumps` of it, and `copy.deepcopy` of it. `SERVER` is a stub on loopback that takes everything, so
that the delivery measured is the recorder's own. The recorder's threads run meanwhile, as they do beside an agent. `ACTIONS` sets how many.
Told are the processor time of the thread that records, and how long it is held up by the clock, p50 and p99: waiting for a lock costs no processor.
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


class Taking(BaseHTTPRequestHandler):
    """Takes everything."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(201)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Taking)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        tm = TimeMachine(f"http://127.0.0.1:{server.server_address[1]}", "tmk_bench", spool=folder)
        with tm.session("bench") as s:
            s.record("user", "warm")
            s.flush()
            told = [
                measure("a message of 330 characters", s.add, SHORT, tm),
                measure("a call with 20 messages", s.add, LONG, tm),
            ]

            @s.tool_call
            def look(name: str) -> str:
                return name

            took = each(lambda: look("x"))
            half, most = waited(lambda: look("x"), tm)
            print(
                f"a decorated function: {took:.1f} µs of processor time a call, {half:.1f} µs by the clock (p50; p99 {most:.1f} µs)"
            )
            began = time.perf_counter()
            for _ in range(ACTIONS):
                s.add(dict(SHORT))
            if not s.flush(120):
                sys.exit("Not everything was delivered.")
            took = time.perf_counter() - began
            print(
                f"recorded and delivered: {ACTIONS / took:,.0f} actions/s through spool and HTTP, to a server that does nothing"
            )
    server.shutdown()
    if max(told) > 50:
        sys.exit("An action costs more than 50 µs.")


def measure(
    what: str, record: Callable[[dict[str, Any]], None], action: dict[str, Any], tm: TimeMachine
) -> float:
    """Print what an action costs its thread, with the baselines; µs of the median run."""
    recorded = statistics.median(each(lambda: record(dict(action)), tm) for _ in range(RUNS))
    kept: list[Any] = []
    listed = statistics.median(each(lambda: kept.append(dict(action))) for _ in range(RUNS))
    dumped = statistics.median(each(lambda: json.dumps(action)) for _ in range(RUNS))
    copied = statistics.median(each(lambda: copy.deepcopy(action)) for _ in range(RUNS))
    half, most = waited(lambda: record(dict(action)), tm)
    print(
        f"{what}: {recorded:.1f} µs of processor time, {half:.1f} µs by the clock (p50; p99 {most:.1f} µs); baselines: list.append {listed:.2f} µs (ratio {recorded / listed:.0f}), "
        f"json.dumps {dumped:.1f} µs (ratio {recorded / dumped:.2f}), deepcopy {copied:.1f} µs (ratio {recorded / copied:.2f})"
    )
    return recorded


def waited(work: Callable[[], object], tm: TimeMachine) -> tuple[float, float]:
    """Microseconds that the thread is held up by one of them, by the clock, over many: p50 and p99."""
    took = []
    for _ in range(ACTIONS):
        began = time.perf_counter_ns()
        work()
        took.append(time.perf_counter_ns() - began)
    tm.flush(120)
    parts = statistics.quantiles(took, n=100)
    return parts[49] / 1000, parts[98] / 1000


def each(work: Callable[[], object], tm: TimeMachine | None = None) -> float:
    """Microseconds of this thread's own processor time for one of them, over many."""
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
