"""Whether everything at once works for ten minutes: readers of pages, recording agents, and replays.

50 readers open a page, look at it for two seconds and open the next; 20 agents record ten steps a second each; four
replays of sessions run all the time, with models of a stub server. Every answer must succeed and every step must be there at
the end. Baseline in the same run: one reader alone, and the memory after the first minute. `MINUTES` sets another length.
"""

import os
import random
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx

from bench.common.product import settle, signed_in
from bench.common.report import figure, finish
from bench.common.timing import quantile
from tests.e2e.product import OwnProduct
from tests.e2e.replaying import client, finished, launched, recorded
from tests.embedded.machine import Machine
from tests.stub_model_server import Script, StubModelServer

MINUTES: Final = float(os.environ.get("MINUTES", "10"))
READERS, AGENTS, REPLAYS = 50, 20, 4
LOOK, STEPS_AT_ONCE, LONG = 2.0, 10, 2_000
PAGES: Final = (
    "/",
    "/sessions/long/?step={step}",
    "/sessions/long/?step={step}&tab=state",
    "/sessions/long/transcript/",
    "/search/?q=parser",
    "/recall/?q=what+about+the+parser",
    "/costs/",
    "/patterns/",
    "/replays/",
)


@dataclass(kw_only=True)
class Run:
    """What has happened so far."""

    product: OwnProduct
    ends: float
    pages: list[float] = field(default_factory=list)
    recorded: list[int] = field(default_factory=lambda: [0] * AGENTS)
    replays: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def goes_on(self) -> bool:
        return time.monotonic() < self.ends


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, StubModelServer() as stub:
        stub.script(Script(mode="slow", seconds=0.3))
        models = {"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": f"{stub.url}/v1"}
        machine = Machine(Path(folder) / "home", **models).ready()
        try:
            product = OwnProduct(machine)
            session = _prepared(product)
            settle(machine)
            alone = Run(product=product, ends=time.monotonic() + 20)
            _read(alone, 0)
            run = Run(product=product, ends=time.monotonic() + MINUTES * 60)
            _everything(run, session)
            _report(run, alone)
        finally:
            machine.end()


def _prepared(product: OwnProduct) -> str:
    """Record a long session to read and return the id of one to replay."""
    with client(product) as api:
        api.post("/sessions", json={"name": "Long", "key": "long"}).raise_for_status()
        for first in range(0, LONG, 1_000):
            steps = [_step(number) for number in range(first, first + 1_000)]
            api.post("/sessions/long/actions", json={"actions": steps}).raise_for_status()
        return recorded(api)


def _step(number: int) -> dict[str, object]:
    return {
        "kind": ("llm_call", "tool_call", "tool_result", "message")[number % 4],
        "input": f"Step {number}: look at module {number % 400} of the parser",
        "output": f"The tests of module {number % 400} pass when fetch is awaited.",
        "duration_ms": 100,
    }


def _everything(run: Run, session: str) -> None:
    """Run all of it until the end, and print the memory after a minute and at the end."""
    work: list[Callable[[], None]] = [
        *(lambda n=n: _read(run, n) for n in range(READERS)),
        *(lambda n=n: _write(run, n) for n in range(AGENTS)),
        *[lambda: _replay(run, session)] * REPLAYS,
    ]
    threads = [threading.Thread(target=_noted, args=(run, each)) for each in work]
    for each in threads:
        each.start()
    time.sleep(min(60, MINUTES * 30))
    before = _memory(run.product.machine)
    time.sleep(max(0, run.ends - time.monotonic()))
    after = _memory(run.product.machine)
    for each in threads:
        each.join()
    for name, megabytes in after.items():
        figure(
            f"memory of the {name} at the end",
            megabytes,
            "MB",
            against=("after a minute", before[name]),
            ratio_most=1.15,
        )


def _noted(run: Run, work: Callable[[], None]) -> None:
    try:
        work()
    except (httpx.HTTPError, AssertionError, KeyError, ValueError) as why:
        run.errors.append(repr(why))


def _read(run: Run, reader: int) -> None:
    chance = random.Random(reader)
    with signed_in(run.product) as browser:
        time.sleep(chance.random() * LOOK)
        while run.goes_on():
            address = chance.choice(PAGES).format(step=chance.randint(1, LONG))
            began = time.perf_counter()
            answer = browser.get(address)
            run.pages.append((time.perf_counter() - began) * 1000)
            if answer.status_code != 200:
                run.errors.append(f"{address}: {answer.status_code}")
            time.sleep(LOOK)


def _write(run: Run, agent: int) -> None:
    with client(run.product) as api:
        api.post("/sessions", json={"name": f"Agent {agent}", "key": f"agent-{agent}"}).raise_for_status()
        while run.goes_on():
            began, first = time.monotonic(), run.recorded[agent]
            actions = [_step(first + number) for number in range(STEPS_AT_ONCE)]
            answer = api.post(f"/sessions/agent-{agent}/actions", json={"actions": actions})
            if answer.is_success:
                run.recorded[agent] += STEPS_AT_ONCE
            else:
                run.errors.append(f"recording: {answer.status_code} {answer.text[:200]}")
            time.sleep(max(0, 1 - (time.monotonic() - began)))


def _replay(run: Run, session: str) -> None:
    with client(run.product) as api:
        while run.goes_on():
            replay = launched(api, session)
            if finished(api, replay)["status"] != "done":
                run.errors.append(f"replay {replay} is not done")
            run.replays.append(replay)


def _memory(machine: Machine) -> dict[str, float]:
    """Return the megabytes that the web server and the worker hold for themselves."""
    found = {"web server": 0.0, "worker": 0.0}
    for pid, line in machine.processes().items():
        name = "worker" if "celery" in line else "web server" if "config.server" in line else None
        if name:
            status = Path(f"/proc/{pid}/status").read_text()
            found[name] += int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024
    return found


def _report(run: Run, alone: Run) -> None:
    with client(run.product) as api:
        stored = [
            api.get(f"/sessions/agent-{agent}").raise_for_status().json()["actions"]
            for agent in range(AGENTS)
        ]
    missing = sum(run.recorded) - sum(stored)
    for each in run.errors[:20]:
        print(each)
    figure("errors", len(run.errors) + len(alone.errors), most=0)
    figure("acknowledged steps that are missing", missing, most=0)
    figure("steps recorded", sum(stored) / MINUTES / 60, "/s")
    figure("replays done", len(run.replays) / MINUTES, "/min")
    baseline = ("one reader alone", quantile(alone.pages, 0.5))
    figure("a page", quantile(run.pages, 0.5), "ms", against=baseline)
    figure("a page, p95", quantile(run.pages, 0.95), "ms", most=1_000)


if __name__ == "__main__":
    main()
    sys.exit(finish())
