"""`timemachine session import` in a terminal: a progress bar for a long file, replaced by the report."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.terminal import Here

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
