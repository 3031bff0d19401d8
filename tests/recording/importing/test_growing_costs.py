"""What an answer costs that grows from file to file is what the finished file says, whatever was known first."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from tests.api.conftest import program
from tests.evidence.sessions import compared_with_its_seal
from tests.recording.importing.claude_code.lines import answer, text, user
from tests.recording.importing.sample_files import lines
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.evidence.sealing.seals import seal_session
from timemachine.governance.deletion.erasure.commands import delete_turn
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.exporting import export_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.timeline.filter_sql import matching
from timemachine.recording.timeline.pure.filter import parse
from timemachine.recording.timeline.totals import summary_of, totals_by
from timemachine.recording.usage.costs import CostQuery, costs
from timemachine.recording.usage.pure.figures import Sums
from timemachine.recording.usage.pure.span import Span

PRICED: Final = "claude-sonnet-4-5"
UNLISTED: Final = "claude-x"
DAYS: Final = Span(since=date(2026, 3, 1), until=date(2026, 3, 1))
Line = Mapping[str, Any]


def part(number: int, *, model: str | None = PRICED, cost: float | None = None, **usage: Any) -> Line:
    """The line of one block of an answer; without a usage if none is given."""
    message = {"model": model} | ({"usage": usage} if usage else {})
    stated = {} if cost is None else {"costUSD": cost}
    return answer(
        text(f"Part {number}."),
        uuid=f"a{number}",
        message=message,
        timestamp="2026-03-01T10:00:00Z",
        **stated,
    )


def imported(project: Project, *files: Sequence[Line]) -> Session:
    for each in files:
        found = import_file(project, lines(user("Hi"), *each), by="test").sessions[0].session
    return found


def numbers(sums: Any) -> tuple[Any, ...]:
    """A cost of 0 stands for none: a known cost that became unknown later is taken back."""
    return (sums.input_tokens, sums.output_tokens, sums.cost_usd or 0, sums.unknown_cost_calls)


def of_row(sums: Sums) -> tuple[Any, ...]:
    return (*numbers(sums), sums.calls, sums.steps, sums.errors)


def everything(session: Session) -> dict[str, Any]:
    """All totals that pages and the API show of a project with one session."""
    session.refresh_from_db()
    summary = summary_of(session)
    found: dict[str, Any] = {
        "session": (numbers(session), session.cached_calls, session.error_count),
        "summary": (numbers(summary), summary.kinds, summary.models, summary.unknown_reasons),
    }
    for by in ("model", "agent"):
        shown = totals_by(session, by)
        found[f"by {by}"] = [of_row(shown.whole), *((each.value, of_row(each.sums)) for each in shown.lines)]
    for by in ("model", "agent", "day"):
        spent = costs(session.project, CostQuery(span=DAYS), by)
        rows = [(each.value, of_row(each.sums)) for each in spent.rows]
        found[f"costs by {by}"] = [of_row(spent.sums), spent.unknown_reasons, of_row(spent.undated), *rows]
    return found


@st.composite
def growing(draw: st.DrawFn) -> list[Line]:
    """The lines of an answer whose counts appear one after the other and grow."""
    model = draw(st.sampled_from([PRICED, PRICED, UNLISTED, None]))
    names = ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]
    size = draw(st.integers(2, 4))
    since = {name: draw(st.integers(0, 2)) for name in names}
    billed_since = draw(st.sampled_from([size, size, draw(st.integers(0, size))]))
    cost_since = draw(st.sampled_from([size, size, draw(st.integers(0, size))]))
    counts = dict.fromkeys(names, 0)
    found = []
    for at in range(size):
        counts = {name: count + draw(st.integers(0, 900)) for name, count in counts.items()}
        counts["output_tokens"] += 1
        usage: dict[str, Any] = {name: count for name, count in counts.items() if at >= since[name]}
        if usage and at >= billed_since:
            usage["server_tool_use"] = {"code_execution_requests": 1}
        cost = (at + 1) / 100 if at >= cost_since else None
        found.append(part(at, model=model, cost=cost, **usage))
    return found


class TestPartition(TestCase):
    """The totals do not depend on how the growth was split into files, nor on their order."""

    @settings(max_examples=40)
    @given(growing(), st.data())
    def test_any_files_add_up_to_the_finished_one(self, whole: list[Line], data: st.DataObject) -> None:
        ends = st.lists(st.integers(1, len(whole)), min_size=1, max_size=3)
        order = [*data.draw(ends), len(whole), *data.draw(ends)]
        at_once = imported(Project.objects.create(name="at once"), whole)
        in_parts = imported(Project.objects.create(name="in parts"), *(whole[:end] for end in order))
        assert everything(in_parts) == everything(at_once)


COUNTED: Final[Mapping[str, Any]] = {"input_tokens": 1000, "output_tokens": 100}
GROWN: Final[Mapping[str, Any]] = {"input_tokens": 1000, "output_tokens": 200}
EXTRA: Final[Mapping[str, Any]] = {"server_tool_use": {"code_execution_requests": 1}}
UNCOUNTED_FIRST: Final = ([part(1)], [part(1), part(2, **COUNTED)])
UNKNOWN_AGAIN: Final = (
    [part(1, model=UNLISTED, **COUNTED)],
    [part(1, model=UNLISTED, **COUNTED), part(2, model=UNLISTED, **GROWN)],
)
UNKNOWN_LATER: Final = ([part(1, **COUNTED)], [part(1, **COUNTED), part(2, **GROWN, **EXTRA)])
STATED_LATER: Final = (
    [part(1, model=UNLISTED, **COUNTED)],
    [part(1, model=UNLISTED, **COUNTED), part(2, model=UNLISTED, cost=0.25)],
)


@pytest.mark.django_db
def test_a_call_whose_tokens_are_stated_later_is_not_of_unknown_cost(project: Project) -> None:
    session = imported(project, *UNCOUNTED_FIRST)
    assert (session.cost_usd, session.unknown_cost_calls) == (Decimal("0.0045"), 0)
    assert not summary_of(session).unknown_reasons
    event = Action.objects.get(session=session, kind="event")
    assert event.model == "anthropic:claude-sonnet-4-5"
    assert event.prices is not None
    assert event.prices["correction"] == {"unknown_calls": -1, "reason": "tokens_not_recorded"}


@pytest.mark.django_db
def test_a_call_that_grows_at_an_unknown_cost_is_one_call_of_unknown_cost(project: Project) -> None:
    session = imported(project, *UNKNOWN_AGAIN)
    assert (session.input_tokens, session.output_tokens, session.unknown_cost_calls) == (1000, 200, 1)
    assert summary_of(session).unknown_reasons == {"model_not_listed": 1}
    (row,) = costs(project, CostQuery(span=DAYS), "model").rows
    assert (row.value, row.sums.calls, row.sums.unknown_cost_calls) == ("anthropic:claude-x", 1, 1)


@pytest.mark.django_db
def test_a_cost_that_turns_out_to_be_unknown_is_taken_back(project: Project) -> None:
    session = imported(project, *UNKNOWN_LATER)
    assert (session.cost_usd, session.unknown_cost_calls) == (Decimal(0), 1)
    assert summary_of(session).unknown_reasons == {"condition_not_listed": 1}
    browser = browser_of(project)
    assert '<span title="1 call of unknown price">unknown</span>' in browser.get("/").text
    timeline = browser.get(f"/sessions/{session.id}/").text
    assert "1 call of unknown price" in timeline
    assert "$0 + 1 call" not in timeline


@pytest.mark.django_db
def test_a_cost_that_is_stated_later_is_that_of_the_call(project: Project) -> None:
    session = imported(project, *STATED_LATER)
    assert (session.cost_usd, session.unknown_cost_calls) == (Decimal("0.25"), 0)


@pytest.mark.django_db
@pytest.mark.parametrize("files", [UNCOUNTED_FIRST, UNKNOWN_AGAIN, UNKNOWN_LATER, STATED_LATER])
def test_a_seal_a_copy_and_a_deletion_keep_the_totals(
    project: Project, files: tuple[list[Line], ...]
) -> None:
    session = imported(project, *files)
    before = everything(session)
    seal_session(session.id)
    assert not compared_with_its_seal(session).problems
    exported = b"".join(export_session(session, "timemachine").parts)
    elsewhere = Project.objects.create(name="elsewhere")
    assert everything(import_file(elsewhere, exported, by="test").sessions[0].session) == before
    call = Action.objects.get(session=session, kind="llm_call")
    delete_turn(call, by="test", reason="the person asked for it")
    of_agents = [each.sums for each in totals_by(session, "agent").lines]
    assert all(each.unknown_cost_calls == each.calls == 0 for each in of_agents if not each.is_spent)
    assert sum(each.is_spent for each in of_agents) == 1
    assert not compared_with_its_seal(session).problems
    again = everything(imported(project, *files))
    assert {name: again[name] for name in again if "agent" not in name} == {
        name: before[name] for name in before if "agent" not in name
    }


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("files", "shown"), [(UNCOUNTED_FIRST, 0), (UNKNOWN_AGAIN, 1), (UNKNOWN_LATER, 1), (STATED_LATER, 0)]
)
def test_the_steps_of_unknown_cost_are_as_many_as_the_total_says(
    project: Project, files: tuple[list[Line], ...], shown: int
) -> None:
    session = imported(project, *files)
    every = Action.objects.filter(session=session)
    unknown = every.filter(matching(parse("cost:unknown")))
    assert unknown.count() == session.unknown_cost_calls == shown
    assert every.filter(matching(parse("-cost:unknown"))).count() == session.last_sequence - shown
    assert totals_by(session, "kind", parse("kind:event")).whole.unknown_cost_calls >= 0


@pytest.mark.django_db
def test_the_api_pages_and_exports_count_a_grown_call_once(project: Project) -> None:
    session = imported(project, *UNCOUNTED_FIRST)
    found = program(project).get(f"/sessions/{session.key}/summary").json()
    assert (found["unknown_cost_calls"], found["corrections"], found["models"]) == (
        0,
        1,
        {"anthropic:claude-sonnet-4-5": 1},
    )
    browser = browser_of(project)
    for address in (
        f"/sessions/{session.id}/",
        "/sessions/",
        f"/costs/?since={DAYS.since}&until={DAYS.until}",
    ):
        assert "of unknown price" not in browser.get(address).content.decode(), address
    event = Action.objects.get(session=session, kind="event")
    page = browser.get(f"/sessions/{session.id}/?step={event.sequence}").content.decode()
    assert "because its numbers were stated later; not counted as a step" in page
    exported = json.loads(b"".join(export_session(session, "atif").parts))
    assert exported["final_metrics"]["total_cost_usd"] == 0.0045
