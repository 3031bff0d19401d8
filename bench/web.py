"""How a session of 100,000 steps performs in a browser four times slower than this machine, against the budgets of the design.

Baseline in the same run: the same page of a session of 1,000 steps. The worker has finished with new steps before. Every figure
is a median of `RUNS` unless it says p95.
`STEPS` sets another size. A Chromium is required (`CHROMIUM` names another one).
"""

import gzip
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

from bench.common.product import settle, signed_in
from bench.common.report import figure, finish
from bench.common.timing import quantile
from tests.chromium import installed
from tests.e2e.conftest import FLAGS
from tests.e2e.product import OwnProduct, Product
from tests.embedded.machine import Machine

STEPS = int(os.environ.get("STEPS", "100000"))
SMALL, BATCH, RUNS, REQUESTS, SCROLLS = 1_000, 1_000, 5, 60, 200
READERS, PAGES_EACH = 20, 30
READ = (
    "/",
    "/sessions/long-{steps}/?step={step}",
    "/sessions/long-{steps}/?step={step}",
    "/sessions/long-{steps}/?step={step}&tab=state",
    "/sessions/long-{steps}/?filter=status:error",
    "/sessions/long-{steps}/transcript/",
    "/search/?q=parser",
    "/costs/",
)
"""What each reader opens in turn; the timeline twice."""
SLOWER = 4
SCRIPT, STYLES = (
    re.compile(r'<script[^>]* src="([^"]+)"'),
    re.compile(r'<link rel="stylesheet" href="([^"]+)"'),
)
WINDOW_OPENS = 3_000
"""Milliseconds until a new window of Chromium has loaded its own interface, which takes a core for over a second."""
WATCHED = ("paint", "shift", "nodes")
WATCH = """() => {
    window.seen = {paint: 0, shift: 0, slowest: 0};
    new PerformanceObserver(list => list.getEntries().forEach(e => seen.paint = e.startTime)).observe({type: "largest-contentful-paint", buffered: true});
    new PerformanceObserver(list => list.getEntries().forEach(e => { if (!e.hadRecentInput) seen.shift += e.value; })).observe({type: "layout-shift", buffered: true});
    new PerformanceObserver(list => list.getEntries().forEach(e => { if (e.interactionId) seen.slowest = Math.max(seen.slowest, e.duration); })).observe({type: "event", durationThreshold: 16, buffered: true});
}"""
PRESSED = """key => new Promise(done => {
    const before = document.getElementById("step").dataset.sequence;
    const began = performance.now();
    const watch = new MutationObserver(() => {
        if (document.getElementById("step")?.dataset.sequence === before) return;
        watch.disconnect();
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
    });
    watch.observe(document.documentElement, {childList: true, subtree: true});
    document.body.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
})"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(Path(folder) / "home").ready()
        try:
            product = OwnProduct(machine)
            for size in (SMALL, STEPS):
                record(product, size)
            settle(machine)
            first_bytes(product)
            weights(product)
            many_readers(product)
            in_a_browser(product)
        finally:
            machine.end()


def first_bytes(product: Product) -> None:
    """Measure the time until a page answers, at random steps of both sessions in turn."""
    chance = random.Random(5)
    took: dict[int, list[float]] = {SMALL: [], STEPS: []}
    with signed_in(product) as client:
        for _ in range(REQUESTS):
            for size, times in took.items():
                began = time.perf_counter()
                with client.stream("GET", f"/sessions/long-{size}/?step={chance.randint(1, size)}") as answer:
                    next(answer.iter_raw())
                times.append((time.perf_counter() - began) * 1000)
                assert answer.status_code == 200
    small, large = (statistics.median(took[size]) for size in (SMALL, STEPS))
    baseline = (f"at {SMALL:,} steps", small)
    figure(f"first byte at {STEPS:,} steps", large, "ms", against=baseline, most=100, ratio_most=1.2)
    figure("first byte, p95", quantile(took[STEPS], 0.95), "ms")


def weights(product: Product) -> None:
    """Measure the compressed size of a page of the long session, and of its scripts and styles."""
    with signed_in(product) as client:
        page = client.get(f"/sessions/long-{STEPS}/?step={STEPS // 2}").text
        figure("HTML, packed", packed(page), "KB", most=60)
        for what, files, most in (("JavaScript", SCRIPT, 45), ("CSS", STYLES, 20)):
            figure(
                f"{what}, packed",
                sum(packed(client.get(at).text) for at in files.findall(page)),
                "KB",
                most=most,
            )


def packed(text: str) -> float:
    """Return the compressed size in kilobytes."""
    return len(gzip.compress(text.encode(), 6)) / 1024


def many_readers(product: Product) -> None:
    """Measure how long whole pages take while `READERS` open one after the other, and one reader alone beside it."""
    alone = read(product, 0)
    with ThreadPoolExecutor(READERS) as pool:
        together = [
            took for each in pool.map(lambda reader: read(product, reader), range(READERS)) for took in each
        ]
    baseline = ("one reader alone", quantile(alone, 0.95))
    figure(f"page with {READERS} readers at once", statistics.median(together), "ms")
    figure(
        f"page with {READERS} readers at once, p95",
        quantile(together, 0.95),
        "ms",
        against=baseline,
        most=1_000,
    )


def read(product: Product, reader: int) -> list[float]:
    """Open pages one after the other; return the milliseconds that each took."""
    chance, took = random.Random(reader), []
    with signed_in(product) as client:
        for number in range(PAGES_EACH):
            address = READ[(number + reader) % len(READ)].format(steps=STEPS, step=chance.randint(1, STEPS))
            began = time.perf_counter()
            client.get(address).raise_for_status()
            took.append((time.perf_counter() - began) * 1000)
    return took


def in_a_browser(product: Product) -> None:
    with sync_playwright() as running:
        browser = running.chromium.launch(
            executable_path=str(installed()), args=[*FLAGS, "--enable-precise-memory-info"]
        )
        measures = [opened(browser, product) for _ in range(RUNS)]
        paint, shift, nodes = (statistics.median(each[name] for each in measures) for name in WATCHED)
        figure("largest paint", paint, "ms", most=1_000)
        figure("layout shift", shift, most=0.02)
        figure("nodes", nodes, most=2_500)
        with desk(browser, product) as (page, session):
            steps(page, session)
            scrolling(page, session)
        browser.close()


def opened(browser: Browser, product: Product) -> dict[str, float]:
    """Return the largest paint, the layout shift and the nodes of a first visit to the middle of the session."""
    with desk(browser, product) as (page, _):
        page.add_init_script(f"({WATCH})()")
        page.goto(f"{product.url}/sessions/long-{STEPS}/?step={STEPS // 2}")
        page.wait_for_timeout(1_500)
        found: dict[str, float] = page.evaluate("seen")
        return found | {"nodes": page.evaluate("document.querySelectorAll('*').length")}


def steps(page: Page, session: str) -> None:
    """Measure the time from a key press to the next step on the screen, in quick succession and after a pause."""
    page.goto(f"{session}?step={STEPS // 2}")
    page.wait_for_timeout(500)
    for how, pause in (("one after the other", 0), ("after a look of 0.3 s", 300)):
        took = []
        for _ in range(40):
            page.wait_for_timeout(pause)
            took.append(page.evaluate(PRESSED, "j"))
        figure(f"step to step, {how}", statistics.median(took), "ms", most=100)
        figure(f"step to step, {how}, p95", quantile(took, 0.95), "ms")


def scrolling(page: Page, session: str) -> None:
    """Measure the memory of the tab and its nodes before and after scrolling the list from end to end."""
    page.goto(session)
    page.wait_for_timeout(500)
    protocol = page.context.new_cdp_session(page)
    before = heap(protocol)
    most = 0
    for turn in range(SCROLLS):
        page.evaluate(
            "part => { const list = document.querySelector('.list'); list.scrollTop = part * list.scrollHeight; }",
            (turn + 1) / SCROLLS,
        )
        page.wait_for_timeout(150)
        most = max(most, page.evaluate("document.querySelectorAll('*').length"))
    after = heap(protocol)
    figure(f"nodes, scrolled from end to end in {SCROLLS} places", most, most=2_500)
    figure("memory of the tab after that", after, "MB", against=("before", before), ratio_most=2)


def heap(protocol: CDPSession) -> float:
    protocol.send("HeapProfiler.collectGarbage")
    used: float = protocol.send("Runtime.getHeapUsage")["usedSize"]
    return used / 2**20


@contextmanager
def desk(browser: Browser, product: Product) -> Iterator[tuple[Page, str]]:
    """Yield a signed-in page of a browser slowed down this many times, and the address of the long session."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_cookies(product.cookies())  # type: ignore[arg-type]
    page = context.new_page()
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    page.wait_for_timeout(WINDOW_OPENS)
    yield page, f"{product.url}/sessions/long-{STEPS}/"
    context.close()


def record(product: Product, size: int) -> None:
    """Record a session of this many steps, with the kinds and costs of a real agent; the same ones in every run."""
    chance = random.Random(3)
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=120) as client:
        client.post(
            "/sessions", json={"name": f"Run of {size:,} steps", "key": f"long-{size}"}
        ).raise_for_status()
        for first in range(1, size + 1, BATCH):
            actions = [action(chance, number) for number in range(first, min(first + BATCH, size + 1))]
            client.post(f"/sessions/long-{size}/actions", json={"actions": actions}).raise_for_status()


def action(chance: random.Random, number: int) -> dict[str, Any]:
    kind = chance.choice(("llm_call", "llm_call", "tool_call", "tool_result", "find", "message"))
    made: dict[str, Any] = {
        "kind": kind,
        "input": f"Step {number}: look at module {chance.randrange(400)} of the parser",
        "output": " ".join(
            chance.choices(
                [
                    "the",
                    "tests",
                    "pass",
                    "when",
                    "fetch",
                    "is",
                    "awaited",
                    "and",
                    "checks",
                    "come",
                    "before",
                    "it",
                ],
                k=20,
            )
        ),
        "started_at": (datetime(2026, 11, 20, tzinfo=UTC) + timedelta(seconds=number)).isoformat(),
        "duration_ms": chance.random() * 3_000,
    }
    if kind == "llm_call":
        made |= {"model": "acme:large", "usage": {"input_tokens": 900, "output_tokens": 90}}
        made["cost_usd"] = float(Decimal(chance.randrange(1_000)) / 10**5)
    if kind.startswith("tool"):
        made["tool"] = chance.choice(("read_file", "write_file", "run_tests"))
    if chance.random() < 0.004:
        made["error"] = {"type": "Timeout", "message": "Timed out after 30 s"}
    return made


if __name__ == "__main__":
    main()
    sys.exit(finish())
