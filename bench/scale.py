"""How fast lists, search, recall, costs and patterns are in a project with many sessions of 1,000 steps.

1,000 sessions take about ten minutes. `SESSIONS` sets another number; with 10,000, these are the ten million actions of the
goal. `SCALE_HOME` names a data folder that is kept, so that a second run adds only what is missing. Baseline in the same run:
the same pages of ten sessions.
"""

import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx

from bench.common.product import settle, signed_in
from bench.common.report import figure, finish
from bench.common.timing import quantile
from tests.e2e.product import OwnProduct
from tests.embedded.machine import Machine

SESSIONS: Final = int(os.environ.get("SESSIONS", "1000"))
STEPS, FEW, SENDERS, REQUESTS = 1_000, 10, 4, 40
AGENTS, MODELS, TOOLS = 20, 8, 40
MOST: Final = 300
"""Milliseconds that a page may take, as its p95."""
PAGES: Final = {
    "sessions": "/",
    "sessions with a word in their name": "/?named=run+{number}",
    "sessions of an agent": "/?agent=agent-{agent}",
    "sessions with a word in a step": "/?q={word}",
    "search, two words": "/search/?q={word}+{other}",
    "search, two words in text": "/search/?q={word}+{other}&mode=text",
    "search, a word and a tool": "/search/?q={word}&tool=tool-{tool}",
    "recall": "/recall/?q=What+did+we+find+about+{word}",
    "costs": "/costs/",
    "patterns": "/patterns/",
    "a timeline": "/sessions/run-{number}/",
    "replays": "/replays/",
    "audit log": "/settings/audit-log/",
}


def main() -> None:
    words = _vocabulary()
    with tempfile.TemporaryDirectory() as folder, _product(Path(folder) / "home") as product:
        _fill(product, words, FEW)
        settle(product.machine)
        few = _measured(product, words, FEW)
    with _home() as home, _product(home) as product:
        began = time.monotonic()
        added = _fill(product, words, SESSIONS)
        settle(product.machine)
        if added:
            took = time.monotonic() - began
            figure("actions recorded and indexed", added * STEPS / took, "/s")
        for name, times in _measured(product, words, SESSIONS).items():
            baseline = (f"of {FEW} sessions", quantile(few[name], 0.5))
            figure(name, quantile(times, 0.5), "ms", against=baseline)
            figure(f"{name}, p95", quantile(times, 0.95), "ms", most=MOST)


@contextmanager
def _home() -> Iterator[Path]:
    if kept := os.environ.get("SCALE_HOME"):
        yield Path(kept)
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "home"


@contextmanager
def _product(home: Path) -> Iterator[OwnProduct]:
    machine = Machine(home).ready()
    try:
        yield OwnProduct(machine)
    finally:
        machine.end()


def _measured(product: OwnProduct, words: Sequence[str], sessions: int) -> dict[str, list[float]]:
    """Return the milliseconds that each page took, asked for something else each time."""
    chance, took = random.Random(11), {name: list[float]() for name in PAGES}
    with signed_in(product) as client:
        for _ in range(REQUESTS):
            for name, page in PAGES.items():
                address = page.format(
                    number=chance.randrange(sessions),
                    agent=chance.randrange(AGENTS),
                    tool=chance.randrange(TOOLS),
                    word=words[chance.randrange(50, 5_000)],
                    other=words[chance.randrange(50, 5_000)],
                )
                began = time.perf_counter()
                client.get(address).raise_for_status()
                took[name].append((time.perf_counter() - began) * 1000)
    return took


def _fill(product: OwnProduct, words: Sequence[str], sessions: int) -> int:
    """Record the sessions that are missing, from several senders at the same time; return how many."""
    headers = {"Authorization": f"Bearer {product.key}"}
    with httpx.Client(base_url=f"{product.url}/api", headers=headers, timeout=120) as client:
        missing = [number for number in range(sessions) if not _is_there(client, number)]
        with ThreadPoolExecutor(SENDERS) as senders:
            list(senders.map(partial(_record, client, words), missing))
    return len(missing)


def _is_there(client: httpx.Client, number: int) -> bool:
    found = client.get(f"/sessions/run-{number}")
    return found.status_code == 200 and found.json()["status"] == "ended"


def _record(client: httpx.Client, words: Sequence[str], number: int) -> None:
    chance = random.Random(number)
    began = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=40 * number)
    session = {
        "name": f"Run {number}: {' '.join(chance.choices(words[50:], k=4))}",
        "key": f"run-{number}",
        "agent": f"agent-{number % AGENTS}",
        "started_at": began.isoformat(),
    }
    client.post("/sessions", json=session)
    actions = [_action(chance, words, began, step) for step in range(STEPS)]
    client.post(f"/sessions/run-{number}/actions", json={"actions": actions}).raise_for_status()
    client.post(f"/sessions/run-{number}/end").raise_for_status()


def _action(chance: random.Random, words: Sequence[str], began: datetime, step: int) -> dict[str, Any]:
    """Return a step of an agent, with an id, so that a repeated request adds nothing."""
    kind = ("message", "llm_call", "tool_call", "tool_result")[step % 4]
    made: dict[str, Any] = {
        "id": f"step-{step}",
        "kind": kind,
        "output": _text(chance, words, 20),
        "started_at": (began + timedelta(seconds=step)).isoformat(),
        "duration_ms": chance.random() * 3_000,
    }
    if kind == "llm_call":
        made |= {
            "model": f"acme:model-{chance.randrange(MODELS)}",
            "cost_usd": chance.randrange(1_000) / 10**5,
        }
        made["usage"] = {"input_tokens": 900, "output_tokens": 90}
    if kind.startswith("tool"):
        made |= {"tool": f"tool-{chance.randrange(TOOLS)}", "input": {"path": _text(chance, words, 2)}}
    if chance.random() < 0.004:
        made["error"] = {"type": "Timeout", "message": f"{_text(chance, words, 3)} timed out after 30 s"}
    return made


def _text(chance: random.Random, words: Sequence[str], length: int) -> str:
    """Return words, the common ones more often."""
    ranks = (int(chance.paretovariate(0.6)) for _ in range(length))
    return " ".join(words[min(len(words), rank) - 1] for rank in ranks)


def _vocabulary() -> list[str]:
    chance = random.Random(7)
    return ["".join(chance.choices("etaoinshrdlu", k=chance.randint(3, 9))) for _ in range(20_000)]


if __name__ == "__main__":
    main()
    sys.exit(finish())
