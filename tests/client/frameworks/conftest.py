"""Runs the examples of `clients/examples` with the real frameworks, each in an environment of its own with the versions of its lock."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest

from tests.client.conftest import Served
from tests.stub_model_server import Script, StubModelServer
from timemachine.client.recording.waiting_recordings import remaining_in, send
from timemachine.core.payloads.queries import value
from timemachine.recording.model_calls.queries import request_of
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.runs.models import ReplayStep

ROOT: Final = Path(__file__).resolve().parents[3]
EXAMPLES: Final = ROOT / "clients/examples"
BUILT: Final = ROOT / "build/frameworks"
USAGE: Final = {
    "prompt_tokens": 31,
    "completion_tokens": 9,
    "total_tokens": 40,
    "prompt_tokens_details": {"cached_tokens": 10},
    "completion_tokens_details": {"reasoning_tokens": 4},
}
COUNTED: Final = (31, 9, 10, 4)
"""The same as input, output, cached and reasoning tokens of a call."""


@dataclass(kw_only=True)
class Example:
    """The example of one framework, run against a stub model and a server that goes away in the middle."""

    name: str
    served: Served
    stub: StubModelServer
    environment: dict[str, str] = field(default_factory=dict)

    def run(self, *, away_after: int | None = None, program: str = "agent.py") -> str:
        """Run the example and deliver its recording; returns what it printed. With the model's call number `away_after`, the server
        goes away until the example has ended."""
        command = [interpreter(self.name), "-W", "ignore", str(EXAMPLES / self.name / program)]
        return self.run_command(command, away_after)

    def run_with_node(self) -> str:
        """Run an example for Node and return what it printed."""
        return self.run_command(["node", str(_with_node_modules(self.name) / "agent.mjs")], None)

    def run_command(self, command: list[str], away_after: int | None) -> str:
        environment = os.environ | {
            "TIMEMACHINE_URL": self.served.gate.url,
            "TIMEMACHINE_API_KEY": self.served.key,
            "TIMEMACHINE_SPOOL": str(self.served.spool),
            "OPENAI_BASE_URL": f"{self.stub.url}/v1",
            "OPENAI_API_BASE": f"{self.stub.url}/v1",  # LlamaIndex reads this one
            "OPENAI_API_KEY": "none",
            "ANTHROPIC_BASE_URL": self.stub.url,
            "ANTHROPIC_API_KEY": "none",
            "PYTHONPATH": str(ROOT),
            "HOME": str(self.served.spool.parent),  # some frameworks write there
            **self.environment,
        }
        with subprocess.Popen(
            command,
            env=environment,
            cwd=EXAMPLES / self.name,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as running:
            if away_after is not None:
                self.stub.wait_for_calls(away_after)
                self.served.gate.shut()
            said, complaints = running.communicate(timeout=120)
        assert running.returncode == 0, complaints[-4000:]
        self.served.gate.open()
        self._deliver()
        return said

    def _deliver(self) -> None:
        with self.served.machine() as machine:
            connection = machine._connect()  # its own would deliver, but not report what was refused
            for remaining in remaining_in(self.served.spool):
                sent = send(remaining, connection)
                assert not sent.undelivered, sent
            connection.close()
        assert self.served.spooled() == []
        assert self.served.refused() == []

    def session(self) -> Session:
        """The only session of the project."""
        return Session.objects.get(project=self.served.project)

    def steps(self) -> list[Action]:
        """The steps of the session that have a time, in the order in which they started."""
        steps = self.session().actions.select_related("input", "output").filter(started_at__isnull=False)
        return sorted(steps, key=lambda each: (each.started_at, each.sequence))

    def calls(self) -> list[Action]:
        """The model calls of the session."""
        return [each for each in self.steps() if each.kind == "llm_call"]

    def tools(self) -> list[tuple[str | None, Any, Any, str | None]]:
        """The tool calls of the session: name, input, output and error type, in the order of their inputs."""
        found = [
            (
                each.tool,
                self._own_or_outer(each, "input"),
                self._own_or_outer(each, "output"),
                each.error_type,
            )
            for each in self.steps()
            if each.kind == "tool_call"
        ]
        return sorted(found, key=lambda each: json.dumps(each[1]))

    def _own_or_outer(self, step: Action, field: str) -> Any:
        """The input or output of a tool call; that of the span around it if this was sent later and only it has one."""
        if getattr(step, field) is None:
            outer = (each for each in self.steps() if each.client_id == step.parent_id_given)
            return next((value(getattr(each, field)) for each in outer), None)
        return value(getattr(step, field))

    def path(self, step: Action) -> list[str]:
        """The names of the steps around a step, from the outside."""
        ids = {each.client_id: each for each in self.steps()}
        around = ids.get(step.parent_id_given)
        return [] if around is None else [*self.path(around), around.name or around.tool or around.kind]

    def check_calls(
        self, made: int, counted: tuple[int | None, ...] = COUNTED, provider: str = "openai:"
    ) -> None:
        """Check that this many calls are recorded, each once, as it was sent, and that a replay sends the same to the stub again."""
        calls, sent = self.calls(), self.stub.calls()
        assert (len(calls), len(sent)) == (made, made), [each.model for each in calls]
        for call, original in zip(calls, sent, strict=True):
            if call.error_type is None:
                found = (call.input_tokens, call.output_tokens, call.cached_tokens, call.reasoning_tokens)
                assert found == counted
                assert call.model == f"{provider}{original.model}"
                frozen = request_of(call)
                assert frozen.verdict == "verified"
                defined = {tool.get("name") or tool["function"]["name"] for tool in _tools(original.body)}
                assert {getattr(tool, "name", None) for tool in frozen.request.tools} == defined

    def audit(self) -> list[str]:
        """Replay all model calls with the stub, and return the verdicts of their contexts and answers."""
        from timemachine.replay.runs.worker import work

        with self.served.machine() as machine:
            replay = machine.replay(
                self.session().key, audit=True, reason="The example", use_model="openai:other"
            )
            work(UUID(replay.id), "test")
        steps = ReplayStep.objects.filter(replay_id=replay.id, action__kind="llm_call")
        return [f"{each.context} {each.status}" for each in steps.order_by("action__sequence")]


def _tools(body: dict[str, Any]) -> list[dict[str, Any]]:
    return body.get("tools") or []


def interpreter(name: str) -> str:
    """The interpreter of an example's environment, created if its lock has changed."""
    lock, folder = EXAMPLES / name / "requirements.txt", BUILT / name
    made = folder / "made"
    if not made.exists() or made.read_text() != lock.read_text():
        uv = shutil.which("uv", path=f"{ROOT / '.tools/bin'}{os.pathsep}{os.environ['PATH']}")
        assert uv, "uv is missing; `make` installs it"
        for command in (
            ["venv", "--clear", "--python", str(ROOT / ".venv/bin/python"), str(folder)],
            ["pip", "install", "--no-deps", "--python", str(folder / "bin/python"), "-r", str(lock)],
        ):
            subprocess.run([uv, *command, "--quiet"], check=True)
        made.write_text(lock.read_text())
    return str(folder / "bin/python")


def _with_node_modules(name: str) -> Path:
    """A copy of an example for Node with its packages, installed if its lock has changed."""
    folder, locked = BUILT / name, (EXAMPLES / name / "package-lock.json").read_text()
    made = folder / "made"
    installed = made.exists() and made.read_text() == locked
    shutil.copytree(EXAMPLES / name, folder, dirs_exist_ok=True)
    if not installed:
        quiet = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error")
        subprocess.run(["npm", "ci", *quiet], cwd=folder, check=True)
        made.write_text(locked)
    return folder


@pytest.fixture
def example(served: Served, monkeypatch: pytest.MonkeyPatch) -> Generator[Callable[..., Example]]:
    """Prepare the example of a framework with the scripts of its model."""
    with StubModelServer() as stub:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{stub.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "none")

        def prepared(name: str, *scripts: Script, **environment: str) -> Example:
            for script in scripts:
                stub.script(script)
            return Example(name=name, served=served, stub=stub, environment=environment)

        yield prepared
