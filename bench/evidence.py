"""Sealing, exporting and verifying a session of 100,000 actions, on a database of its own.

Baseline in the same run: only unzipping the bundle and hashing every file in it, which every verifier must do. The verifier runs in
a separate process, as an auditor starts it. `ACTIONS` sets another size.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from bench.common.django_ready import new_project
from bench.common.report import figure, finish
from bench.common.timing import median_ms, seconds
from timemachine.evidence.bundles import exporting
from timemachine.evidence.log.keys import key_in_use
from timemachine.evidence.sealing import seals
from timemachine.recording.sessions.commands import append, end_session, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.verifier import tm_verify

ACTIONS = int(os.environ.get("ACTIONS", "100000"))
BATCH, RUNS = 1_000, 5


def main() -> None:
    session = recorded()
    took = seconds(lambda: seals.seal_session(session.id))
    figure(f"{ACTIONS:,} actions sealed", took, "s")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "evidence.zip"
        figure("exported", seconds(lambda: exported(session, target)), "s", most=30)
        key = key_in_use(session.project).fingerprint
        verified = median_ms(lambda: verify(target, key), RUNS) / 1000
        hashed = median_ms(lambda: hash_files(target), RUNS) / 1000
    figure(
        "verified", verified, "s", against=("every file unzipped and hashed", hashed), most=2, ratio_most=12
    )


def recorded() -> Session:
    """Return an ended session of model calls and tool calls, as from a coding agent."""
    session = start_session(new_project(), name="Bench", by="bench", key="bench")
    for first in range(1, ACTIONS + 1, BATCH):
        append(session.id, [action(number) for number in range(first, min(first + BATCH, ACTIONS + 1))])
    return end_session(session.id)


def action(number: int) -> ActionDraft:
    """Return a call or a result in turn, some hundred characters each, no two alike."""
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


def verify(target: Path, key: str) -> None:
    subprocess.run(
        [sys.executable, tm_verify.__file__, str(target), "--key", key], check=True, stdout=subprocess.DEVNULL
    )


def hash_files(target: Path) -> None:
    with zipfile.ZipFile(target) as opened:
        for name in opened.namelist():
            with opened.open(name) as file:
                hashlib.file_digest(file, "sha256")  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
    sys.exit(finish())
