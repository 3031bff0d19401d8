"""Every recipe of docs/memory.md runs in order against a real server and does what it says."""

import re
from pathlib import Path

import pytest

from tests.client.conftest import Served
from tests.memory.patterns.recorded import read
from tests.memory.search.recorded import index
from timemachine.recording.sessions.models import Session

DOCUMENT = Path(__file__).parents[2] / "docs/memory.md"
RECIPE = re.compile(r"^## (.+?)$|```python\n(.*?)```", re.DOTALL | re.MULTILINE)


@pytest.fixture
def recipes(served: Served, worker: None, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The recipes by title, with the server in the environment."""
    for name, text in {"URL": served.gate.url, "API_KEY": served.key, "SPOOL": str(served.spool)}.items():
        monkeypatch.setenv(f"TIMEMACHINE_{name}", text)
    found, title = [], ""
    for heading, code in RECIPE.findall(DOCUMENT.read_text(encoding="utf-8")):
        title = heading or title
        found += [(title, code)] if code else []
    return found


def test_the_recipes_run_in_order(
    recipes: list[tuple[str, str]], served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs: dict[str, str] = {}
    names: dict[str, object] = {}
    for title, code in recipes:
        exec(compile(code, str(DOCUMENT), "exec"), names)
        index(served.project)
        read(served.project)
        outputs[title] = outputs.get(title, "") + capsys.readouterr().out
    transcript = outputs["Read the whole session"]
    places = [transcript.index(f"[{number}] ") for number in (1, 2, 3, 4, 5)]
    assert places == sorted(places)
    assert len(names["messages"]) == 5  # type: ignore[arg-type]
    decided = outputs["Read only the decisions"]
    assert "{'kept': 3, 'recorded': 5}" in decided
    assert "left out]" in decided
    going_on = outputs["Start with what earlier sessions learned"]
    assert "orders-tuesday 1 error" in going_on
    assert "From earlier sessions:" in str(names["prompt"])
    figured = outputs["Ask what was figured out, and when"]
    assert "('today', '" in figured
    assert "('orders-tuesday', 3)" in figured
    assert "in the last session" in figured
    recognised = outputs["Recognise a known error"]
    assert "cannot read properties of undefined" in recognised
    assert "fetchCart() is not awaited" in recognised
    assert outputs["List sessions"].split("\n")[0].startswith("orders-friday")
    pairs = outputs["Export training pairs"]
    assert "Perhaps the cart is empty" in pairs
    assert "all tests pass" in pairs
    assert "'turns': 2" in outputs["Compress finished sessions"]
    assert "{'kept': 3, 'recorded': 5}" in outputs["Compress finished sessions"]
    assert outputs["Delete"].splitlines()[0] == "1"
    assert not Session.objects.exists()
