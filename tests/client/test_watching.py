"""`timemachine watch` records what agents write, however often it is killed or the server is away."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.client.conftest import Served
from tests.crash_figures import remark
from tests.recording.importing.growing_files import REAL, differences, recorded
from tests.waiting import wait_until
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import import_file
from timemachine.recording.sessions.models import Session

_PROGRAM = "import sys; from timemachine.cli.main import main; sys.argv = ['timemachine', 'watch', '--interval', '0.1']; main()"
LONG_AGO = 1_760_000_000
_LONGEST_START = 3.0
AT_ONCE = 3
"""Lines that an agent writes at a time, at most."""


class Machine:
    """A machine with agents that write transcripts, and `timemachine watch`."""

    def __init__(self, served: Served, home: Path) -> None:
        self.served, self.home = served, home
        self.running: subprocess.Popen[str] | None = None
        self.kills = 0

    def place(self, format_name: str, name: str) -> Path:
        folder = {
            "claude_code": ".claude/projects/-app",
            "codex": ".codex/sessions/2026/03/01",
            "gemini_cli": ".gemini/tmp/a/chats",
        }
        prefix = {"claude_code": "", "codex": "rollout-", "gemini_cli": "session-"}
        path = self.home / folder[format_name] / f"{prefix[format_name]}{Path(name).stem}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def start(self) -> None:
        home = {"HOME": str(self.home), "TIMEMACHINE_HOME": str(self.home / "tm")}
        none = dict.fromkeys(("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME"), "")
        self.running = self.served.run(_PROGRAM, **home, **none)

    def kill_while_it_sends(self, chance: random.Random) -> None:
        """Kill it shortly after it sent a few parts, or when there was nothing to send for long."""
        last, began = self.served.gate.requests + chance.randint(0, 8), time.monotonic()
        while self.served.gate.requests <= last and time.monotonic() - began < _LONGEST_START:
            time.sleep(0.02)
        time.sleep(chance.uniform(0, 0.1))
        self.kill()

    def kill(self) -> None:
        assert self.running is not None
        self.running.send_signal(signal.SIGKILL)
        self.running.communicate()
        self.kills += 1


@pytest.fixture
def machine(served: Served, tmp_path: Path) -> Iterator[Machine]:
    made = Machine(served, tmp_path / "user")
    made.home.mkdir()
    yield made
    if made.running is not None and made.running.poll() is None:
        made.kill()


def followed(machine: Machine, files: list[tuple[str, bytes]], kills: int, seed: int) -> None:
    """Write the files line by line while the watcher is killed so many times, and the server is away once."""
    chance = random.Random(seed)
    writes = sum(data.count(b"\n") for _, data in files)
    left = {machine.place(*name.split(":", 1)): data for name, data in files}
    kill_every, away_at = max(writes // (kills + 1), 1), writes // 2
    machine.start()
    written = 0
    while left:
        path = chance.choice(list(left))
        lines = left[path].split(b"\n", chance.randint(1, AT_ONCE))
        rest = lines.pop()
        with path.open("ab") as file:
            whole = b"".join(line + b"\n" for line in lines) or rest
            half = chance.randrange(len(whole) + 1)
            file.write(whole[:half])
            file.flush()
            time.sleep(0.01)
            file.write(whole[half:])
        left[path] = rest
        if not rest:
            del left[path]
        for _ in lines:
            written += 1
            if written == away_at:
                machine.served.gate.shut()
                time.sleep(0.5)
                machine.served.gate.open()
            if written % kill_every == 0 and machine.kills < kills:
                machine.kill_while_it_sends(chance)
                machine.start()


def equal_to_imports(machine: Machine, files: list[tuple[str, bytes]], project: Project) -> list[str]:
    for name, data in files:
        import_file(project, data, by="test", format_name=name.split(":", 1)[0])
    for name, _ in files:
        os.utime(machine.place(*name.split(":", 1)), (LONG_AGO, LONG_AGO))
    expected = recorded(project)
    steps = sum(each["last_sequence"] for each in expected)

    def all_there() -> bool:
        sessions = Session.objects.of(machine.served.project)
        return bool(sum(sessions.values_list("last_sequence", flat=True)) >= steps)

    machine.kill()
    machine.start()
    wait_until(all_there, 60)
    time.sleep(1)  # nothing more may come
    return list(differences(recorded(machine.served.project), expected))


@pytest.mark.recordings
def test_real_files_written_line_by_line_while_it_is_killed(machine: Machine, recordings: Path) -> None:
    chosen = [
        ("claude_code", "claude_code/session_a.jsonl"),
        ("codex", "more/16-codex/rollout-codex-0.39.0.jsonl"),
    ]
    files = [(f"{kind}:{name}", (recordings / name).read_bytes()) for kind, name in chosen]
    followed(machine, files, kills=2, seed=1)
    assert equal_to_imports(machine, files, Project.objects.create(name="Import")) == []


@pytest.mark.crash
@pytest.mark.recordings
def test_all_real_files_while_it_is_killed_fifty_times(machine: Machine, recordings: Path) -> None:
    kills = 50 if "CRASH_KILLS" in os.environ else 8
    files = [(f"{kind}:{name}", (recordings / name).read_bytes()) for kind, name in REAL]
    followed(machine, files, kills=kills, seed=2)
    assert equal_to_imports(machine, files, Project.objects.create(name="Import")) == []
    remark(
        f"watch: killed {machine.kills} times while {len(files)} files grew: every session equals an import of its file"
    )
