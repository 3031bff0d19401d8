"""`timemachine session import` in a terminal: a progress bar for a long file, replaced by the report."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.session.test_sessions import transcript
from tests.cli.terminal import Here
from timemachine.cli.commands.session import files
from timemachine.cli.formatting import file_progress

LINES = 2_000


def long_file(tm: Here) -> str:
    lines = [
        json.dumps(
            {
                "type": "user",
                "uuid": f"u{number}",
                "sessionId": "3f1d2c4b-0000-4000-8000-00000000000b",
                "timestamp": "2026-11-20T10:00:00Z",
                "message": {"role": "user", "content": f"line {number} " + "x" * 500},
            }
        )
        for number in range(LINES)
    ]
    return tm.file("long.jsonl", "\n".join(lines))


@pytest.mark.usefixtures("worker")
def test_a_progress_bar_is_shown_during_a_long_import(tm: Here) -> None:
    ours, theirs = pty.openpty()
    command = [str(Path(sys.executable).with_name("timemachine")), "session", "import", long_file(tm)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 4096)
        except OSError:  # the other end of the terminal is closed
            break
    written, _ = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 0
    assert "long.jsonl: " in shown.decode()
    assert f"] {LINES:,} of {LINES:,} actions" in shown.decode()
    assert written.decode().endswith(f"{LINES:,} lines imported as {LINES:,} messages; 0 lines skipped.\n")


@pytest.mark.usefixtures("worker")
def test_a_large_file_is_imported_by_a_worker_while_the_command_waits(
    tm: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "AT_ONCE_BYTES", 1_000)
    source = tm.file("large.jsonl", transcript("x" * 1_100, "y"))
    ran = tm.run("session", "import", source)
    assert ran.out.endswith("2 lines imported as 2 messages; 0 lines skipped.\n")
    assert tm.json("session", "import", source)["sessions"][0]["already_there"] == 2
    broken = tm.file("broken.json", '{"trajectory": [], "history": ["' + "x" * 1_100)
    assert "it is truncated" in tm.refused("session", "import", broken, "--format", "swe_agent")


def test_the_progress_of_an_import_fits_on_one_line() -> None:
    waiting: Any = {"status": "waiting", "total": None}
    running: Any = {"status": "running", "done": 1_000, "total": 4_000}
    assert file_progress("a.jsonl", waiting, "action") == "a.jsonl: waiting"
    result = file_progress("a.jsonl", running, "action")
    assert result.startswith("a.jsonl: ")
    assert result.endswith("4,000 actions")
