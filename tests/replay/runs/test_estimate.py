"""The estimated cost of a replay is what its spend limit reserves for its calls."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from tests.api.conftest import Program, program
from tests.builders import recorded_session, replayed
from tests.stub_model_server import Script, StubModelServer
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.core.pure.numbers import money
from timemachine.recording.sessions.models import Session
from timemachine.replay.runs import estimate as estimates
from timemachine.replay.runs.estimate import quick_estimate
from timemachine.replay.runs.models import ReplayAttempt
from timemachine.replay.runs.pure.options import ReplayOptions

MODEL = "openai:gpt-4o"
BODY: dict[str, Any] = {"audit": True, "reason": "Was kostet es?", "skip_finds": True}
LONG = "Be brief. " * 12_000
TEMPLATE = "{passages}\n" + "Answer in one word. " * 4_000 + "{question}"
QUESTIONS = ["How long are invoices kept?", "In which class are train tickets booked?"]


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[StubModelServer]:
    settings.MODEL_CALLS_AT_ONCE = 1  # threads would not see the rows of the test
    with StubModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
        server.script(Script(answer="Ten years."))
        yield server


@pytest.fixture
def api(project: Project, stub: StubModelServer) -> Program:
    return program(project, "read", "run")


def estimate(api: Program, session: Session, **chosen: Any) -> dict[str, Any]:
    sent = api.post(f"/sessions/{session.id}/replays/estimate", BODY | {"use_models": [MODEL]} | chosen)
    assert sent.status_code == 200, sent.content
    found: dict[str, Any] = sent.json()["estimates"][0]
    return found


def reserved(session: Session, **chosen: Any) -> float:
    """What the spend limit of such a replay reserves for its calls."""
    replay = replayed(
        session, ReplayOptions(**BODY | {"use_model": MODEL, "spend_limit_usd": 100.0} | chosen)
    )
    each = ReplayAttempt.objects.filter(step__replay=replay).values_list("reserved_usd", flat=True)
    assert each
    assert None not in each
    return float(sum(one for one in each if one is not None))


@pytest.mark.parametrize(
    ("recorded_with", "chosen"),
    [
        ("local:extractive-1", {}),
        (MODEL, {"max_tokens": 4_000}),
        ("local:extractive-1", {"system_prompt": LONG}),
        (MODEL, {"system_prompt": LONG, "prompt_template": TEMPLATE, "max_tokens": 1}),
        (MODEL, {"audit": False, "reason": None}),
    ],
)
def test_the_estimate_of_a_replay_is_what_its_spend_limit_reserves(
    project: Project, api: Program, recorded_with: str, chosen: dict[str, Any]
) -> None:
    session = recorded_session(project, questions=QUESTIONS, model=recorded_with)
    about = estimate(api, session, **chosen)
    assert about["calls"] == len(QUESTIONS)
    assert about["cost_usd"] == pytest.approx(reserved(session, **chosen), rel=0.03)


def test_the_page_and_the_api_estimate_a_changed_prompt_alike(project: Project, api: Program) -> None:
    session = recorded_session(project, questions=QUESTIONS)
    changed = {"system_prompt": LONG, "max_tokens": 4_000}
    form = BODY | changed | {"kind": "ask", "model": MODEL, "skip_finds": "on", "estimate": "1"}
    page = browser_of(project).post(f"/sessions/{session.id}/replay/", form).text
    cost = money(estimate(api, session, **changed)["cost_usd"])
    assert cost != money(estimate(api, session)["cost_usd"])
    assert f"Cost {cost} " in " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_an_estimate_counts_the_asks_with_a_changed_prompt(project: Project, api: Program) -> None:
    session = recorded_session(project, questions=QUESTIONS, model=MODEL)
    assert estimate(api, session)["guessed_calls"] == 0
    assert estimate(api, session, system_prompt="Be brief.")["guessed_calls"] == 2
    assert estimate(api, session, max_tokens=10)["guessed_calls"] == 0


def test_an_estimate_takes_the_same_queries_for_any_number_of_asks(
    project: Project, api: Program, django_assert_num_queries: Any
) -> None:
    few = recorded_session(project, questions=QUESTIONS, key="few")
    many = recorded_session(project, questions=[f"{each} {n}" for n in range(4) for each in QUESTIONS])
    estimate(api, few)
    with CaptureQueriesContext(
        connection,
    ) as of_few:
        estimate(api, few, system_prompt=LONG)
    with django_assert_num_queries(len(of_few)):
        estimate(api, many, system_prompt=LONG)


def test_an_invalid_template_is_refused_by_the_estimate_too(project: Project, api: Program) -> None:
    session = recorded_session(project, questions=QUESTIONS)
    sent = api.post(
        f"/sessions/{session.id}/replays/estimate", BODY | {"use_models": [MODEL], "prompt_template": "Hm?"}
    )
    assert (sent.status_code, sent.json()["code"]) == (422, "not_a_template")


def test_an_audit_is_estimated_without_a_reason_but_not_launched(project: Project, api: Program) -> None:
    session = recorded_session(project, questions=QUESTIONS)
    audit = {"audit": True, "use_models": [MODEL]}
    assert api.post(f"/sessions/{session.id}/replays/estimate", audit).status_code == 200
    sent = api.post(f"/sessions/{session.id}/replays", audit)
    assert (sent.status_code, sent.json()["code"]) == (422, "reason_needed")


def test_a_long_session_is_estimated_from_some_of_its_steps(
    project: Project, api: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = recorded_session(project, questions=QUESTIONS * 15, model=MODEL)
    options = ReplayOptions(audit=True, reason="How much?", use_model=MODEL)
    exact, of_all = quick_estimate(session, options)
    monkeypatch.setattr(estimates, "_READ_FOR_AN_ESTIMATE", 30)
    about, every = quick_estimate(session, options)
    assert (of_all, every) == (1, 3)
    assert about.calls == pytest.approx(exact.calls, rel=0.3)
    assert about.cost_usd == pytest.approx(exact.cost_usd, rel=0.3)
    assert exact.least_usd < exact.cost_usd < exact.most_usd
    assert quick_estimate(session, options.model_copy(update={"sample": 4}))[0].steps == 4
