"""Sealing, exporting and verifying a session of 100,000 actions, on a database of its own.

Baseline in the same run: only to unzip the bundle and hash every file in it, which no verifier can do without. The verifier runs as
a process of its own, as an auditor starts it. `ACTIONS` sets another size. Where an export or a verification takes longer than its limit,
this ends in 1.
"""

import hashlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "timemachine.config.settings")
django.setup()

from django.core.management import call_command  # noqa: E402

from timemachine.core.accounts.models import Project  # noqa: E402
from timemachine.evidence.bundles import exporting  # noqa: E402
from timemachine.evidence.sealing import seals  # noqa: E402
from timemachine.recording.sessions.commands import append, end_session, start_session  # noqa: E402
from timemachine.recording.sessions.models import Session  # noqa: E402
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage  # noqa: E402
from timemachine.verifier import tm_verify  # noqa: E402

ACTIONS = int(os.environ.get("ACTIONS", "100000"))
BATCH, RUNS = 1_000, 5
EXPORT_SECONDS, VERIFY_SECONDS = 30.0, 2.0


def main() -> int:
    call_command("migrate", verbosity=0)
    session = recorded()
    took, _ = timed(lambda: seals.seal_session(session.id))
    print(f"sealed {ACTIONS:,} actions in {took:.1f} s, {took / ACTIONS * 1e6:.0f} µs each")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "evidence.zip"
        took, _ = timed(lambda: exported(session, target))
        print(f"exported in {took:.1f} s (limit {EXPORT_SECONDS:.0f}), {target.stat().st_size / 1e6:.1f} MB")
        runs = [timed(lambda: verify(target))[0] for _ in range(RUNS)]
        hashed = statistics.median(timed(lambda: hash_files(target))[0] for _ in range(RUNS))
    verified = statistics.median(runs)
    print(
        f"verified in {verified:.2f} s (limit {VERIFY_SECONDS:.0f}), median of {RUNS}; the quickest {min(runs):.2f} s"
    )
    print(f"baseline, every file unzipped and hashed: {hashed:.2f} s; ratio {verified / hashed:.1f}")
    return 1 if took > EXPORT_SECONDS or verified > VERIFY_SECONDS else 0


def recorded() -> Session:
    """An ended session of model calls and tool calls, as an agent at work on code makes them."""
    project = Project.objects.create(name="Bench")
    session = start_session(project, name="Bench", by="bench", key="bench")
    for first in range(1, ACTIONS + 1, BATCH):
        append(session.id, [action(number) for number in range(first, min(first + BATCH, ACTIONS + 1))])
    return end_session(session.id)


def action(number: int) -> ActionDraft:
    """Call and result by turns, some hundred characters each, no two alike."""
    if number % 2:
        return ActionDraft(
            kind="tool_call",
            name="read_file",
            tool="read_file",
            call_id=f"call-{number}",
            input={"path": f"src/module_{number}.py", "from_line": number % 400},
            output=f"def step_{number}(state):\n    return state.advance({number})\n" * 3,
            duration_ms=12.5,
        )
    return ActionDraft(
        kind="llm_call",
        name="plan",
        model="local:extractive-3",
        input={
            "messages": [
                {"role": "user", "content": f"What does step {number} do, and what follows from it?"}
            ]
        },
        output=f"Step {number} advances the state by its own number; what follows is read in the next module.",
        usage=Usage(input_tokens=120 + number % 50, output_tokens=40),
        duration_ms=850.0,
    )


def exported(session: Session, target: Path) -> None:
    with target.open("wb") as opened:
        exporting.write_session(opened, session)


def verify(target: Path) -> None:
    subprocess.run([sys.executable, tm_verify.__file__, str(target)], check=True, stdout=subprocess.DEVNULL)


def hash_files(target: Path) -> None:
    with zipfile.ZipFile(target) as opened:
        for name in opened.namelist():
            with opened.open(name) as file:
                hashlib.file_digest(file, "sha256")  # type: ignore[arg-type]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


if __name__ == "__main__":
    sys.exit(main())
