"""Every example of docs/recorder.md runs in order against a real server."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.client.conftest import Served
from timemachine.recording.sessions.models import Session

DOCUMENT = Path(__file__).parents[3] / "docs/recorder.md"


def blocks(language: str) -> list[str]:
    """The code blocks of the document in this language."""
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def named(served: Served, worker: None, monkeypatch: pytest.MonkeyPatch) -> Served:
    """The server in the environment, and a replay worker."""
    for name, text in {"URL": served.gate.url, "API_KEY": served.key, "SPOOL": str(served.spool)}.items():
        monkeypatch.setenv(f"TIMEMACHINE_{name}", text)
    return served


def test_the_python_examples_run_in_order(named: Served, tmp_path: Path) -> None:
    names: dict[str, object] = {"path": tmp_path}
    for block in blocks("python"):
        exec(compile(block, str(DOCUMENT), "exec"), names)
    assert [each.kind for each in named.actions("every-ten")].count("checkpoint") == 2
    assert set(Session.objects.values_list("name", flat=True)) >= {
        "Invoices", "A longer run", "Awaited", "Every ten", "Asked", "By name", "Watched",
    }  # fmt: skip
    assert Session.objects.get(parent__key="every-ten").status == "ended"


def test_the_curl_example_runs(named: Served) -> None:
    (block,) = [each for each in blocks("sh") if "curl" in each]
    subprocess.run(["sh", "-ec", block], check=True, capture_output=True, env=os.environ)
    assert named.outputs("from-a-shell") == ["Hello"]


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node on this machine")
def test_the_node_example_runs(named: Served, tmp_path: Path) -> None:
    (block,) = blocks("js")
    (tmp_path / "example.mjs").write_text(block)
    subprocess.run(["node", str(tmp_path / "example.mjs")], check=True, capture_output=True, env=os.environ)
    assert named.outputs("from-node") == ["Hello"]
    assert Session.objects.get(key="from-node").status == "ended"
