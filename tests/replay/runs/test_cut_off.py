"""Replays with truncated answers: the truncation is shown next to the verdict."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from tests.builders import recorded_session, replayed
from tests.provider_failures import ANSWER, MODELS, as_vendors
from tests.stub_model_server import Script, StubModelServer
from tests.web.people import browser_of
from timemachine.cli.output.replay_step import step_lines
from timemachine.core.accounts.models import Project
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.pure.options import ReplayOptions
from timemachine.replay.runs.queries import step_of
from timemachine.replay.runs.schemas import ReplayOut
from timemachine.replay.runs.step_schemas import ReplayStepOut

QUESTION = "How long are invoices kept?"
WORDS = "The answer was cut off: it reached the token limit ("


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModelServer]:
    with as_vendors(monkeypatch) as server:
        yield server


def audited(project: Project, stub: StubModelServer, recorded: Script, new: Script | None) -> Replay:
    """An audit of one ask with this recorded and this new answer; without the latter no model is called."""
    stub.script(recorded)
    session = recorded_session(project, questions=[QUESTION], model=MODELS[0])
    if new is not None:
        stub.script(new)
    model = MODELS[0] if new is not None else None
    return replayed(session, ReplayOptions(audit=True, reason="r", use_model=model))


WHOLE, CUT = Script(answer=ANSWER), Script(mode="truncated", answer=ANSWER)
CASES = [
    (WHOLE, CUT, ["new"]),
    (CUT, WHOLE, ["recorded"]),
    (CUT, CUT, ["recorded", "new"]),
    (CUT, None, ["recorded"]),
]


@pytest.mark.parametrize(("recorded", "new", "cut_off"), CASES)
def test_a_truncated_answer_is_marked_on_its_side_whatever_the_verdict(
    project: Project, stub: StubModelServer, recorded: Script, new: Script | None, cut_off: list[str]
) -> None:
    replay = audited(project, stub, recorded, new)
    step = step_of(replay, 2)
    assert step.verdict == (None if new is None else "identical")
    assert (step.evidence or {})["cut_off"] == cut_off
    assert "1 step with an answer that is cut off" in ReplayOut.of(replay).model_dump()["summary"]
    which = " and ".join(f"the {side} answer" for side in cut_off)
    answers: tuple[Any, Any] = ReplayStepOut.of(step).model_dump(), ReplayOut.of(replay).model_dump()
    lines = step_lines(*answers, None, with_diff=False)
    assert any(line.endswith(f" {which}") and "cut off" in line for line in lines)
    browser: Client = browser_of(project)
    assert browser.get(f"/replays/{replay.id}/steps/2/").content.decode().count(WORDS) == len(cut_off)
    assert f"cut off: {' and '.join(cut_off)}" in browser.get(f"/replays/{replay.id}/").content.decode()


def test_two_complete_answers_are_not_marked_as_truncated(project: Project, stub: StubModelServer) -> None:
    replay = audited(project, stub, WHOLE, WHOLE)
    assert "cut_off" not in (step_of(replay, 2).evidence or {})
    assert "cut off" not in ReplayOut.of(replay).model_dump()["summary"]
    browser: Client = browser_of(project)
    for address in (f"/replays/{replay.id}/", f"/replays/{replay.id}/steps/2/"):
        assert "cut off" not in browser.get(address).content.decode()
