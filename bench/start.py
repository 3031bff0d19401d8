"""How long a warm `make up` takes to its first page, and the memory of web and worker when idle.

Baseline in the same run: `manage.py check`, which imports the same Django project and does nothing else.
Memory is the proportional set size (PSS) of all processes of a kind, from /proc, with the embeddings loaded in both.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from bench.common.report import figure, finish
from tests.embedded.machine import Machine

RUNS = 5
MEGABYTE = 1024 * 1024


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        with running(home):
            pass  # the cold start: initdb, every migration
        start = statistics.median(warm_start(home) for _ in range(RUNS))
        checked = statistics.median(check() for _ in range(RUNS))
        figure("warm start to the first page", start, "s", against=("manage.py check", checked), ratio_most=3)
        with running(home) as machine:
            report_memory(machine)


def warm_start(home: Path) -> float:
    began = time.perf_counter()
    with running(home):
        return time.perf_counter() - began


@contextmanager
def running(home: Path) -> Iterator[Machine]:
    machine = Machine(home)
    while machine.process.poll() is None and not answers(machine):
        time.sleep(0.01)
    yield machine
    machine.end()


def answers(machine: Machine) -> bool:
    try:
        return machine.page("/sign-in/") == 200
    except OSError:
        return False


def check() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "manage.py", "check"], check=True, capture_output=True)
    return time.perf_counter() - began


def report_memory(machine: Machine) -> None:
    load_embeddings(machine)
    time.sleep(3)
    web, worker, database = (pss(machine, words) for words in ("config.server", "celery", "postgres"))
    against = ("the embedded Postgres", database)
    figure("idle memory of web and worker, embeddings loaded", web + worker, "MB", against=against)
    figure("of which web", web, "MB")


def load_embeddings(machine: Machine) -> None:
    """Run a semantic find in the web process and, by a debug replay, one in the worker."""
    key = (machine.home / "local-key").read_text().strip()
    url = f"http://127.0.0.1:{machine.port}/api"
    with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=30) as api:
        api.post(
            "/collections/facts/put", json={"text": "Cats sleep sixteen hours a day."}
        ).raise_for_status()
        session = api.post("/sessions", json={"name": "s", "collection": "facts"}).json()["id"]
        api.post(f"/sessions/{session}/find", json={"query": "cats"}).raise_for_status()
        replay = api.post(f"/sessions/{session}/replays", json={"top_k": 3}).json()["replay_id"]
        while api.get(f"/replays/{replay}").json()["status"] != "done":
            time.sleep(0.1)


def pss(machine: Machine, words: str) -> float:
    found = [pid for pid, line in machine.processes().items() if words in line and "embedded" not in line]
    total = 0
    for pid in found:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        total += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return total * 1024 / MEGABYTE


if __name__ == "__main__":
    main()
    sys.exit(finish())
