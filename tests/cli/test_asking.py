"""`timemachine ask` in a terminal: the answer is streamed, and Ctrl-C cancels the ask."""

import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.terminal import Here
from tests.provider_failures import ANSWER, MODELS, as_vendors
from tests.stub_model_server import Script, StubModelServer
from tests.waiting import wait_until
from timemachine.recording.answering.models import AskUnderWay
from timemachine.recording.sessions.models import Action

ASK = ("ask", "handbook", "--question", "How long?", "--use-model", MODELS[0], "--session", "s", "--no-cache")


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with as_vendors(monkeypatch) as server:
        yield server


@pytest.fixture
def recording(tm: Here) -> Here:
    tm.json("put", "handbook", "-", given=ANSWER)
    tm.json("session", "start", "handbook", "--name", "s", "--key", "s")
    return tm


class Typed:
    """The command in its own process, with a terminal as its output."""

    def __init__(self, *words: str) -> None:
        self._ours, theirs = pty.openpty()
        command = [str(Path(sys.executable).with_name("timemachine")), *words]
        self.process = subprocess.Popen(command, stdout=theirs, stderr=subprocess.PIPE)
        os.close(theirs)
        self.pieces: list[str] = []

    def read(self, until: str = "") -> str:
        """Read all output, or the output up to and including this text."""
        while not (until and until in self.text):
            try:
                piece = os.read(self._ours, 4096)
            except OSError:  # the other end of the terminal is closed
                break
            self.pieces.append(piece.decode())
        return self.text

    def end(self) -> tuple[int, str]:
        """The exit code and standard error."""
        _, stderr = self.process.communicate(timeout=60)
        os.close(self._ours)
        return self.process.returncode, stderr.decode()

    @property
    def text(self) -> str:
        """The output so far."""
        return "".join(self.pieces).replace("\r\n", "\n")


def test_the_answer_is_streamed_and_followed_by_its_facts(recording: Here, stub: StubModelServer) -> None:
    begun = threading.Event()
    stub.script(Script(held=begun, answer=ANSWER))
    typed = Typed(*ASK)
    assert "years" not in typed.read(until="Invoices")
    begun.set()
    shown = typed.read()
    assert typed.end() == (0, "")
    assert shown.startswith(f"{ANSWER}\n\nmodel      {MODELS[0]}\n")
    assert "recorded   as step 1" in shown


def test_an_empty_answer_is_reported_as_empty(recording: Here, stub: StubModelServer) -> None:
    stub.script(Script(answer=""))
    expected = "The model returned an empty answer.\n\nmodel      "
    typed = Typed(*ASK)
    assert typed.read().startswith(expected)
    assert typed.end() == (0, "")
    assert recording.run(*ASK).out.startswith(expected)


def test_an_interrupted_answer_ends_with_a_one_line_error(recording: Here, stub: StubModelServer) -> None:
    stub.script(Script(mode="closed", answer=ANSWER))
    typed = Typed(*ASK)
    assert typed.read().startswith("Invoices")
    code, stderr = typed.end()
    assert (code, stderr.count("\n")) == (1, 1)
    assert "interrupted" in stderr


def test_a_refusal_before_the_model_call_is_a_one_line_error(recording: Here) -> None:
    typed = Typed(*(word if word != MODELS[0] else "nobody:nothing" for word in ASK))
    assert typed.read() == ""
    assert typed.end()[0] == 1


def test_waiting_for_a_busy_model_is_reported(recording: Here, stub: StubModelServer) -> None:
    stub.script(Script(mode="429_then_ok", retry_after="0", answer=ANSWER))
    typed = Typed(*ASK)
    assert typed.read().startswith(f"{ANSWER}\n")
    code, stderr = typed.end()
    assert code == 0
    busy = f"{MODELS[0]} returned 429: Too many requests; slow down. Retrying immediately (attempt 2).\n"
    assert stderr == busy


def test_ctrl_c_cancels_the_ask(recording: Here, stub: StubModelServer) -> None:
    stub.script(Script(mode="slow_words", seconds=3, answer=ANSWER))
    typed = Typed(*ASK)
    typed.read(until="Invoices")
    typed.process.send_signal(signal.SIGINT)
    code, stderr = typed.end()
    assert (code, "was cancelled" in stderr) == (130, True)
    wait_until(lambda: not AskUnderWay.objects.exists())
    recorded = Action.objects.get(sequence=1)
    assert recorded.error_type == "cancelled"


def test_a_truncated_answer_is_marked_as_truncated(recording: Here, stub: StubModelServer) -> None:
    stub.script(Script(mode="truncated", answer="Invoices are"))
    words = "The answer was cut off: it reached the token limit (length)."
    assert words in recording.run(*ASK).out


def test_a_refusal_stated_by_the_provider_is_shown(recording: Here, stub: StubModelServer) -> None:
    stub.script(Script(mode="refusal", answer="Sorry, no."))
    assert "The provider reports that the model refused to answer (refusal)." in recording.run(*ASK).out
