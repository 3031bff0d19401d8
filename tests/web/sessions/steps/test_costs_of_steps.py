"""What pages say about the costs of steps: stated, listed or unknown and why; and that copied steps cost nothing."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

import pytest
from django.test import Client

from tests.builders import compared, recorded_session, replayed
from tests.web.timelines import get, recorded, words
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pricing import priced
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage, copy_of
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayStep
from timemachine.replay.runs.pure.options import ReplayOptions

pytestmark = pytest.mark.django_db
NOON: Final = datetime(2026, 11, 20, 12, tzinfo=UTC)
USED: Final = Usage(input_tokens=1_000, output_tokens=100)
UNLISTED: Final = "the price list does not include this model"


def call(model: str | None, cost: str | None = None, **more: object) -> ActionDraft:
    stated = None if cost is None else Decimal(cost)
    return ActionDraft(kind="llm_call", model=model, usage=USED, cost_usd=stated, started_at=NOON, **more)  # type: ignore[arg-type]


CALLS: Final = (
    call("openai:gpt-4o-mini", "0.25"),
    call("openai:gpt-4o-mini"),
    call("openai:nobody-sells-this"),
    call("openai:nobody-sells-that"),
    call(None),
)


@pytest.fixture
def session(project: Project) -> Session:
    return recorded(project, priced(CALLS))


@pytest.mark.parametrize(
    ("step", "cost"),
    [
        (1, "Cost $0.25 as stated by the sender"),
        (2, "Cost $0.00021 at input $0.15, output $0.60, cache read $0.075 per million tokens"),
        (3, f"Cost unknown {UNLISTED}"),
        (5, "Cost unknown no model was recorded"),
    ],
)
@pytest.mark.usefixtures("session")
def test_a_step_says_where_its_cost_comes_from_or_why_it_is_unknown(
    operator: Client, step: int, cost: str
) -> None:
    assert cost in words(get(operator, f"/sessions/s/?step={step}"))


REASONS: Final = f"2 calls: {UNLISTED}; 1 call: no model was recorded"


@pytest.mark.usefixtures("session")
def test_totals_of_a_session_say_why_costs_are_unknown_and_lead_to_the_steps(operator: Client) -> None:
    page = get(operator, "/sessions/s/")
    assert f"$0.25 + 3 calls of unknown price ({REASONS} · Show steps )" in words(page)
    assert 'href="?filter=cost:unknown"' in page
    shown = words(get(operator, "/sessions/s/?filter=cost:unknown"))
    assert "3 of 5 steps" in shown
    state = words(get(operator, "/sessions/s/?step=4&tab=state"))
    assert f"Cost $0.25 + 2 calls of unknown price 2 calls: {UNLISTED} · Show steps" in state
    totals = get(operator, "/sessions/s/totals/?by=model")
    assert REASONS in words(totals)
    assert "filter=cost:unknown" in totals
    only = words(get(operator, "/sessions/s/totals/?by=model&filter=model:*that"))
    assert f"1 call of unknown price (1 call: {UNLISTED} · Show steps )" in only


def test_the_list_leads_to_the_calls_of_unknown_price(operator: Client, session: Session) -> None:
    recorded(session.project, [call("openai:gpt-4o-mini", "1")], key="known")
    page = get(operator, "/?cost=unknown")
    assert f'href="/sessions/{session.id}/?filter=cost:unknown"' in page
    assert "known" not in [each["key"] for each in _rows(page)]
    assert "No session matches" in get(operator, "/?cost=unknown&tag=none")


def _rows(page: str) -> list[dict[str, str]]:
    return [{"key": part.split("<")[0]} for part in page.split('<span class="key">')[1:]]


@pytest.mark.usefixtures("session")
def test_the_costs_page_says_why_costs_are_unknown_and_leads_to_the_sessions(operator: Client) -> None:
    page = get(operator, "/costs/?since=2026-11-20&until=2026-11-20")
    assert f"$0.25 + 3 calls of unknown price {REASONS} · Show sessions" in words(page)
    assert 'href="/?steps_since=2026-11-20&amp;steps_until=2026-11-20&amp;cost=unknown"' in page
    filtered = words(
        get(operator, "/costs/?since=2026-11-20&until=2026-11-20&model=openai:nobody-sells-that")
    )
    assert f"1 call of unknown price 1 call: {UNLISTED}" in filtered


def test_a_comparison_of_two_sessions_says_why_costs_are_unknown(operator: Client, session: Session) -> None:
    recorded(session.project, [call("openai:gpt-4o-mini", "1")], key="other")
    page = words(get(operator, "/compare/?a=s&b=other"))
    assert f"Cost $0.25 + 3 calls of unknown price {REASONS} · Show steps $1.00" in page


def unpriced(attempts: int, steps: dict[str, object]) -> None:
    """Make the price of the latest calls unknown, as that of a model that no list has."""
    unknown = {"source": "unknown", "reason": "model_not_listed"}
    ReplayStep.objects.filter(kind="ask", **steps).update(cost_usd=None, prices=unknown)
    found = ReplayAttempt.objects.filter(
        step__kind="ask", **{f"step__{name}": of for name, of in steps.items()}
    )
    assert found.update(cost_usd=None, calls_made=1) == attempts


def test_a_replay_says_why_its_costs_are_unknown(operator: Client, project: Project) -> None:
    session = recorded_session(project, questions=["When are refunds paid?"])
    replay: Replay = replayed(session, ReplayOptions(audit=True, reason="r", use_model="local:extractive-3"))
    assert "unknown price" not in words(get(operator, f"/replays/{replay.id}/"))
    unpriced(1, {"replay": replay})
    page = words(get(operator, f"/replays/{replay.id}/"))
    assert f"1 call of unknown price · this call cost $0 when recorded 1 call: {UNLISTED}" in page
    ReplayAttempt.objects.filter(step__replay=replay, step__kind="ask").update(outcome="failed")
    assert "1 call: the call failed and may have been billed" in words(
        get(operator, f"/replays/{replay.id}/")
    )


def test_a_comparison_of_models_says_why_its_costs_are_unknown(operator: Client, project: Project) -> None:
    session = recorded_session(project, questions=["When are refunds paid?"])
    found: Comparison = compared(project, [session], "local:extractive-1", "local:extractive-3")
    unpriced(2, {"replay__run__comparison": found})
    page = words(get(operator, f"/comparisons/{found.id}/"))
    assert f"2 calls of unknown price 2 calls: {UNLISTED}" in page


def test_a_copied_step_is_marked_leads_to_its_original_and_is_in_no_sum(
    operator: Client, session: Session
) -> None:
    copies = [
        call("openai:gpt-4o-mini", "9", copied_from=copy_of("s", 1)),
        call("openai:nobody", copied_from=copy_of("s", 3)),
        call("openai:gpt-4o-mini", "0.5"),
    ]
    fork = recorded(session.project, priced(copies), key="fork")
    page = get(operator, "/sessions/fork/?step=1")
    assert f'href="/sessions/{session.id}/?step=1"' in page
    assert "context from step 1 of A session ; not included in totals" in words(page)
    assert "copied" in words(page.split('id="rows"')[-1])
    assert "3 steps, 2 of them copied from A session · $0.50 ·" in words(page)
    assert "3 2 copied" in words(get(operator, "/?agent="))
    assert "unknown price" not in words(page)
    assert "1 step without the session's 2 copied steps ·" in words(get(operator, "/sessions/fork/totals/"))
    assert "unknown" not in words(get(operator, "/sessions/fork/totals/"))
    assert "No step matches" in words(get(operator, "/sessions/fork/totals/?filter=cost:unknown"))
    costs = words(get(operator, "/costs/?since=2026-11-20&until=2026-11-20"))
    assert "$0.75 + 3 calls of unknown price" in costs
    assert fork.cost_usd is None
