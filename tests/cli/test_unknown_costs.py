"""Unknown costs: $0 is shown only for a recorded or known price of zero, everywhere that costs appear."""

import re
from decimal import Decimal
from typing import Any, Final

import pytest

from tests.api.conftest import Program, program
from tests.cli.terminal import Here
from tests.web.people import browser_of
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage

UNKNOWN: Final = ActionDraft(
    kind="llm_call", model="acme:odd", usage=Usage(input_tokens=5, output_tokens=7), cached=True
)
FREE: Final = ActionDraft(
    kind="llm_call", model="acme:free", cost_usd=Decimal(0), cached=True, saved_usd=Decimal(0)
)
DRAFTS: Final = {
    "nothing": [ActionDraft(kind="message", role="user", output="Hello"), ActionDraft(kind="event")],
    "unknown": [UNKNOWN],
    "free": [ActionDraft(kind="event"), FREE],
    "both": [FREE, UNKNOWN],
}
MONEY: Final[dict[str, tuple[float | None, int]]] = {
    "nothing": (None, 0),
    "unknown": (None, 1),
    "free": (0, 0),
    "both": (0, 1),
}
WORDS: Final = {
    "nothing": "not recorded",
    "unknown": "1 call of unknown price",
    "free": "$0",
    "both": "1 call of unknown price",
}


@pytest.fixture
def here(tm: Here) -> Here:
    for name, drafts in DRAFTS.items():
        append(start_session(tm.project, name=name, key=name, by="test", agent=name).id, drafts)
    return tm


@pytest.fixture
def reader(here: Here) -> Program:
    return program(here.project, "read")


def cost(sums: dict[str, Any]) -> tuple[float | None, int]:
    return sums["cost_usd"], sums["unknown_cost_calls"]


def saved(sums: dict[str, Any]) -> tuple[float | None, int]:
    return sums["saved_usd"], sums["unknown_saved_calls"]


@pytest.mark.parametrize("name", DRAFTS)
def test_every_api_answer_gives_the_same_cost(reader: Program, name: str) -> None:
    of = f"/sessions/{name}"
    several = [
        reader.get(of).json(),
        reader.get(f"{of}/summary").json(),
        reader.get(f"{of}/state", at=len(DRAFTS[name])).json()["totals"],
        reader.get("/costs", by="agent", agent=name).json()["totals"],
    ]
    assert [saved(sums) for sums in several] == [MONEY[name]] * len(several)
    several += [
        reader.get(f"{of}/totals").json()["totals"],
        reader.get("/compare", a=name, b=name).json()["a"],
    ]
    assert [cost(sums) for sums in several] == [MONEY[name]] * len(several)


def test_a_step_kind_without_a_price_has_no_cost(reader: Program) -> None:
    items = reader.get("/sessions/free/totals").json()["items"]
    assert {each["kind"]: each["cost_usd"] for each in items} == {"event": None, "llm_call": 0}


def page_text(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


@pytest.mark.parametrize("name", DRAFTS)
def test_pages_and_the_terminal_show_the_same_cost_text(here: Here, name: str) -> None:
    browser = browser_of(here.project)
    row = re.split(
        r"\s{2,}",
        next(line for line in here.run("session", "list").out.splitlines() if line.startswith(name)),
    )
    assert row[-1] == WORDS[name]
    for command in (("view", name), ("totals", name)):
        lines = here.run("session", *command).out.splitlines()
        assert [line.split(maxsplit=1)[1] for line in lines if line.startswith("cost ")] == [WORDS[name]]
    listed = WORDS[name].replace("1 call of unknown price", "unknown")
    assert f" {listed} not sealed" in page_text(browser.get(f"/?agent={name}").text)
    assert f"Cost {WORDS[name]}" in page_text(
        browser.get(f"/sessions/{name}/?step={len(DRAFTS[name])}&tab=state").text
    )
    compared = page_text(browser.get(f"/compare/?a={name}&b={name}").text)
    why = " 1 call: no reason was recorded · Show steps" if MONEY[name][1] else ""
    assert f"Cost {WORDS[name]}{why} {WORDS[name]}{why} " in compared


def test_a_minimum_cost_of_0_lists_the_sessions_with_a_known_cost(here: Here, reader: Program) -> None:
    found = {each["key"] for each in reader.get("/sessions", min_cost=0).json()["items"]}
    assert found == {"both", "free"}
    listed = here.run("session", "list", "--min-cost", "0").out.splitlines()[1:]
    assert {line.split()[0] for line in listed} == {"both", "free"}
