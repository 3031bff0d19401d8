"""The command as a process: imports, output and exit codes."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.builders import recorded_session
from tests.cli.terminal import Here, Terminal
from tests.client.other_server import answering, other_server
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft

COMMAND = str(Path(sys.executable).with_name("timemachine"))
HEAVY = ("django", "celery", "ninja", "openai", "anthropic", "httpx", "numpy", "psycopg")


def run(
    *words: str, given: bytes = b"", environment: Mapping[str, str] = MappingProxyType({})
) -> subprocess.CompletedProcess[bytes]:
    """Run the command to its end."""
    return subprocess.run(
        [COMMAND, *words],
        input=given,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=60,
        check=False,
    )


def shell(line: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash in which `timemachine` is the command; the exit code is that of its first part."""
    script = f'timemachine() {{ "{COMMAND}" "$@"; }}; {line}; exit ${{PIPESTATUS[0]}}'
    return subprocess.run(["bash", "-c", script], capture_output=True, timeout=60, check=False)


def started(words: Sequence[str], **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | environment
    )


def test_no_heavy_module_is_imported_before_a_request_is_sent(terminal: Terminal) -> None:
    script = (
        "import sys; from timemachine.cli.main import cli\n"
        "for words in (['--help'], ['session', 'replay', '--help'], ['status']):\n"
        "    try: cli.main(words, prog_name='timemachine')\n"
        "    except SystemExit: pass\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_version_is_that_of_the_package() -> None:
    assert re.fullmatch(rb"timemachine \d+\.\d+\.\d+\n", run("--version").stdout)


def test_without_a_server_the_command_exits_with_1_and_a_one_line_error(terminal: Terminal) -> None:
    done = run("session", "list")
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (1, b"", 1)


def test_output_is_utf_8_whatever_the_locale(tm: Here) -> None:
    session = start_session(tm.project, name="Früh 🔍 日本", key="s1", by="test")
    append(session.id, [ActionDraft(kind="message", role="user", output="half \ud83d of a pair")])
    plain = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    shown, listed, document = (
        run(*words.split(), environment=locale)
        for words, locale in (
            ("session view s1", {"PYTHONIOENCODING": "latin-1"}),
            ("session list", plain),
            ("session view s1 --json", plain),
        )
    )
    assert [(each.returncode, each.stderr) for each in (shown, listed, document)] == [(0, b"")] * 3
    assert "Früh 🔍 日本" in shown.stdout.decode()
    assert b"half \\ud83d of a pair" in shown.stdout
    assert "Früh 🔍 日本" in listed.stdout.decode()
    assert json.loads(document.stdout)["name"] == "Früh 🔍 日本"


def test_a_name_that_is_not_valid_utf_8_is_refused_like_any_other(tm: Here) -> None:
    with tm.unchanged():
        done = subprocess.run(
            [COMMAND.encode(), b"session", b"view", b"\xff\xfe"], capture_output=True, timeout=60, check=False
        )
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)


def test_standard_input_that_is_not_text_is_refused(tm: Here) -> None:
    with tm.unchanged():
        done = run("put", "c", "-", given=b"caf\xe9")
    assert (done.returncode, done.stdout) == (1, b"")
    assert (
        done.stderr
        == b"Standard input is not UTF-8 text (byte 4). Nothing was sent. Convert it to UTF-8 first.\n"
    )


def test_a_closed_standard_input_counts_as_empty(tm: Here) -> None:
    done = shell("timemachine put c - <&-")
    assert (done.returncode, done.stderr) == (1, b"Standard input is empty. Nothing was sent.\n")


def test_a_closed_output_pipe_is_not_an_error(tm: Here) -> None:
    session = start_session(tm.project, name="long", key="s1", by="test")
    append(session.id, [ActionDraft(kind="message", output="x" * 60) for _ in range(1000)])
    done = shell("timemachine session view s1 | head -n 1")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"name     long\n", b"")


def test_a_closed_standard_output_is_not_an_error(tm: Here) -> None:
    done = shell("timemachine session list >&-")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_output_device_is_reported(tm: Here) -> None:
    for words in ("session list", "--help"):
        done = shell(f"timemachine {words} > /dev/full")
        assert (done.returncode, done.stderr) == (
            1,
            b"Cannot write the output: No space left on device.\n",
        )


def test_ctrl_c_leaves_a_replay_running_and_prints_its_address(terminal: Terminal) -> None:
    body = json.dumps(
        {
            "estimates": [],
            "replay_id": "r1",
            "id": "r1",
            "status": "running",
            "steps": {
                "total": 2,
                "waiting": 1,
                "running": 0,
                "done": 1,
                "failed": 0,
                "skipped": 0,
                "cancelled": 0,
            },
            "cost_usd": 0,
            "unknown_cost_calls": 0,
            "waiting": {"calls": 0, "until": None},
        }
    ).encode()
    requests: list[str] = []
    followed = threading.Event()

    def answer(request: BaseHTTPRequestHandler) -> None:
        requests.append(request.path)
        if sum(path.startswith("/api/replays/") for path in requests) > 1:  # it has read the first answer
            followed.set()
        answering(200, body)(request)

    with other_server(answer) as url:
        process = started(["session", "replay", "s1"], TIMEMACHINE_URL=url, TIMEMACHINE_API_KEY="tmk_a_b")
        assert followed.wait(30)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert err.decode() == f"The replay is still running. Follow or cancel it at {url}/replays/r1/\n"


def test_ctrl_c_at_a_question_changes_nothing(tm: Here) -> None:
    start_session(tm.project, name="n", key="s1", by="test")
    with tm.unchanged():
        process = subprocess.Popen(
            [COMMAND, "session", "delete", "s1"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stderr is not None
        ready, _, _ = select.select([process.stderr], [], [], 20)
        assert ready
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert b"Traceback" not in err


def test_the_up_command_is_what_make_up_runs(terminal: Terminal) -> None:
    done = run("up", environment={"PORT": "not a port"})
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"PORT is 'not a port'")


def test_a_bug_in_the_command_is_one_line_with_its_location() -> None:
    script = "import sys; from timemachine.cli.terminal import report_bug; sys.excepthook = report_bug; 1 / 0"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (
        1,
        "This is a bug in the command (ZeroDivisionError: division by zero at <string>:1). Please report it.\n",
    )


def test_a_condition_exits_with_3_even_if_the_output_pipe_is_closed(tm: Here, worker: None) -> None:
    recorded_session(tm.project, key="s1")
    tm.run("suite", "create", "nightly", "s1", "--audit", "--reason", "why")
    for launched in ("session replay s1 --audit --reason why", "suite run nightly"):
        done = shell(f"timemachine {launched} --fail-on verified | true")
        assert (done.returncode, done.stdout) == (3, b"")
        assert done.stderr.startswith(b"--fail-on: ")
