"""Launching and estimating comparisons and suites takes the same number of queries for any number of sessions and variants."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.api.conftest import Program, program
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay, ReplayStep

FEW, MANY = 2, 7
ONE, THREE, FIVE = (f"local:extractive-{sentences}" for sentences in (1, 3, 5))
AUDIT = {"audit": True, "reason": "Which?"}


@pytest.fixture
def api(project: Project) -> Program:
    """A program whose key was used just now, so that its use is not noted again."""
    known = program(project)
    known.get("/comparisons")
    return known


@pytest.fixture
def sessions(project: Project) -> list[Session]:
    return [recorded(project, f"s{number}") for number in range(MANY)]


def recorded(project: Project, key: str) -> Session:
    """A session of two asks without tokens, the second with the passages of two finds inside it."""
    session = start_session(project, name=key, key=key, by="test")
    asks = [
        ActionDraft(kind="ask", id=f"ask-{number}", input={"question": f"{key}?"}, output={"answer": "Ten."})
        for number in (1, 2)
    ]
    inside = [find_draft("A" * 400, parent="ask-2"), find_draft("B" * 400, parent=2)]
    append(session.id, [*asks, *inside, find_draft("C" * 400)])
    return session


def find_draft(text: str, **more: Any) -> ActionDraft:
    hit = HitDraft(rank=1, title="T", text=text, frame=1)
    return ActionDraft(
        kind="find", input={"query": "?"}, retrieval=RetrievalDraft(mode="hybrid", hits=(hit,)), **more
    )


def keys(sessions: Sequence[Session]) -> list[str]:
    return [each.key for each in sessions]


def queries(do: Callable[[], Any], status: int) -> int:
    with CaptureQueriesContext(connection) as read:
        assert do().status_code == status
    return len(read)


@pytest.mark.parametrize(("path", "status"), [("/comparisons", 202), ("/comparisons/estimate", 200)])
def test_a_comparison_takes_the_same_queries_for_any_number_of_sessions_and_variants(
    api: Program, sessions: list[Session], path: str, status: int
) -> None:
    def sent(number: int, *models: str) -> Any:
        arms = [{"model": each} for each in models]
        return api.post(path, {"sessions": keys(sessions[:number]), "arms": arms, "reason": "Which?"})

    of_few = queries(lambda: sent(FEW, ONE, THREE), status)
    assert queries(lambda: sent(MANY, ONE, THREE, FIVE), status) == of_few


def test_the_comparison_form_looks_up_all_named_sessions_at_once(
    project: Project, sessions: list[Session]
) -> None:
    browser = browser_of(project)

    def sent(number: int) -> Any:
        form = {
            "others": " ".join(keys(sessions[:number])),
            "reason": "Which?",
            "repeats": 1,
            "arm1-model": ONE,
            "arm2-model": THREE,
        }
        return browser.post("/comparisons/new/", form)

    assert queries(lambda: sent(MANY), 303) == queries(lambda: sent(FEW), 303)


@pytest.mark.parametrize(("path", "status"), [("runs", 202), ("runs/estimate", 200)])
def test_a_suite_takes_the_same_queries_for_any_number_of_sessions_and_models(
    api: Program, sessions: list[Session], path: str, status: int
) -> None:
    def suite(name: str, number: int, *models: str) -> Any:
        body = {"name": name, "sessions": keys(sessions[:number]), "options": AUDIT, "use_models": models}
        assert api.post("/suites", body).status_code == 201
        return lambda: api.post(f"/suites/{name}/{path}")

    of_few = queries(suite("few", FEW, ONE, THREE), status)
    assert queries(suite("many", MANY, ONE, THREE, FIVE), status) == of_few


def test_the_replays_of_a_comparison_are_listed_in_variant_order(
    api: Program, sessions: list[Session]
) -> None:
    arms = [{"model": each} for each in (ONE, THREE, FIVE)]
    sent = api.post("/comparisons", {"sessions": keys(sessions[:1]), "arms": arms, "reason": "Which?"}).json()
    newest_first = [each["id"] for each in api.get("/replays", session="s0").json()["items"]]
    assert newest_first == sent["replay_ids"][::-1]
    models = dict(Replay.objects.values_list("id", "model"))
    assert [models[each] for each in sorted(models)] == [ONE, THREE, FIVE]
    assert set(ReplayStep.objects.values_list("status", "attempts_made", "provider")) == {
        ("waiting", 0, None)
    }


def test_a_comparison_with_a_session_without_asks_creates_nothing(
    api: Program, sessions: list[Session], project: Project
) -> None:
    start_session(project, name="empty", key="empty", by="test")
    arms = [{"model": ONE}, {"model": THREE}]
    body = {"sessions": [*keys(sessions), "empty"], "arms": arms, "reason": "Which?"}
    sent = api.post("/comparisons", body)
    assert (sent.status_code, sent.json()["code"]) == (422, "nothing_to_compare")
    assert not Comparison.objects.exists()
    assert not Replay.objects.exists()


def test_an_ask_without_tokens_is_estimated_by_the_passages_of_all_its_finds(
    api: Program, sessions: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    body = {"use_models": ["openai:gpt-4o"], "skip_finds": True, **AUDIT}

    def cost(through: int) -> float:
        sent = api.post("/sessions/s0/replays/estimate", body | {"through_sequence": through}).json()
        return float(sent["estimates"][0]["cost_usd"])

    bare = cost(1)
    # 2 * 400 characters of passages are 200 tokens at $2.50 per million; their numbers and titles add a few more
    assert 200 * 2.5e-6 < cost(2) - 2 * bare < 240 * 2.5e-6
