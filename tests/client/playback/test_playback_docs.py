"""The example of docs/playback.md runs as it is written: record, export, test offline, and fail when the prompt changes."""

import re
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from click.testing import CliRunner

from tests.client.conftest import Served
from tests.stub_model_server import Script, StubModelServer
from timemachine.cli.main import cli

pytest_plugins = ["pytester"]
DOCUMENT = Path(__file__).parents[3] / "docs/playback.md"


def blocks(language: str) -> list[str]:
    """Return the code blocks in a language."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```$", DOCUMENT.read_text(), re.DOTALL | re.MULTILINE)
    return [dedent(block) for _, block in found]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> StubModelServer:
    """A model that knows the capital of Italy."""
    stub = StubModelServer()
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    return stub


def test_the_example_runs(
    served: Served, model: StubModelServer, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, recording, plugin, test = blocks("python")
    export = next(line for line in blocks("console")[0].splitlines() if line.startswith("$ "))
    monkeypatch.setenv("TIMEMACHINE_URL", served.gate.url)
    monkeypatch.setenv("TIMEMACHINE_API_KEY", served.key)
    monkeypatch.setenv("TIMEMACHINE_SPOOL", str(served.spool))
    monkeypatch.syspath_prepend(str(pytester.path))
    pytester.mkdir("tests")
    pytester.makepyfile(capital=agent, conftest=plugin)
    with model:
        model.script(Script(question="the capital of Italy", answer="Rome."))
        monkeypatch.setenv("OPENAI_BASE_URL", f"{model.url}/v1")
        names: dict[str, Any] = {}
        exec(compile(recording, str(DOCUMENT), "exec"), names)
        assert names["s"].flush()  # a program does it at its end
        names["client"].close()
        assert len(model.calls()) == 1
    assert CliRunner().invoke(cli, export.split()[2:]).exit_code == 0
    monkeypatch.delenv("OPENAI_BASE_URL")
    (pytester.path / "tests/test_capital.py").write_text(test)
    assert outcome(pytester) == {"passed": 1}
    changed = test.replace("capital of Italy", "capital of Spain")
    (pytester.path / "tests/test_capital.py").write_text(changed)
    assert outcome(pytester) == {"failed": 1}


def outcome(pytester: pytest.Pytester) -> dict[str, int]:
    """Run the tests there and count them by their outcome."""
    sys.modules.pop("test_capital", None)
    pytester.makeini("[pytest]\n")
    off = (
        "-p",
        "no:django",
        "-p",
        "no:cov",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:schemathesis",
    )
    return pytester.runpytest_inprocess("--strict-markers", *off).parseoutcomes()
