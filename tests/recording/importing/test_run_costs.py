"""Calls whose cost is stated for the run only, and calls of which nothing is known."""

from collections import Counter
from decimal import Decimal

import pytest

from tests.api.conftest import program
from tests.recording.importing.sample_files import document
from timemachine.core.accounts.models import Project
from timemachine.core.pure.unknown_prices import STATED
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.pure.run_costs import with_cost_of_run
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pricing import priced
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.timeline.totals import summary_of
from timemachine.recording.usage.queries import reasons_of_session
from timemachine.web.sessions.presenters.steps import price_words

CALL = ActionDraft(kind="llm_call", id="call")
END = ActionDraft(kind="event", id="end", cost_usd=Decimal("0.5"))


def test_calls_without_numbers_are_in_the_cost_of_the_run() -> None:
    counted = ActionDraft(kind="llm_call", usage=Usage(input_tokens=1))
    said = ActionDraft(kind="message")
    found = with_cost_of_run([CALL, counted, said, END])
    assert found[0].prices == {**STATED, "with": "end"}
    assert list(found[1:]) == [counted, said, END]
    assert price_words(found[0].prices) == "included in the cost of the run, stated by the last event"


@pytest.mark.parametrize(
    "actions",
    [(), (CALL,), (CALL, ActionDraft(kind="event")), (END, CALL)],
    ids=["none", "no event", "no cost", "earlier"],
)
def test_without_a_stated_cost_of_the_run_nothing_changes(actions: tuple[ActionDraft, ...]) -> None:
    assert with_cost_of_run(actions) == actions


@pytest.mark.django_db
def test_the_cost_of_a_run_leaves_no_call_of_unknown_cost(project: Project) -> None:
    answer = {"role": "assistant", "created": 2, "content": [{"type": "text", "text": "Hello."}]}
    session = {
        "id": "g1", "working_dir": "/", "created_at": "2026-03-01T10:00:00Z", "accumulated_cost": 0.5,
        "conversation": [{"role": "user", "created": 1, "content": [{"type": "text", "text": "Hi"}]}, answer],
    }  # fmt: skip
    found = import_file(project, document(session), by="test").sessions[0].session
    assert Action.objects.filter(session=found, kind="llm_call").count() == 1
    assert (found.cost_usd, found.unknown_cost_calls, summary_of(found).unknown_cost_calls) == (
        Decimal("0.5"),
        0,
        0,
    )


@pytest.mark.django_db
def test_the_cost_of_a_run_that_is_stated_later_leaves_no_call_of_unknown_cost(project: Project) -> None:
    answer = {"role": "assistant", "created": 2, "content": [{"type": "text", "text": "Hello."}]}
    begun = {
        "id": "g1", "working_dir": "/", "created_at": "2026-03-01T10:00:00Z",
        "conversation": [{"role": "user", "created": 1, "content": [{"type": "text", "text": "Hi"}]}, answer],
    }  # fmt: skip
    first = import_file(project, document(begun), by="test").sessions[0].session
    assert (first.cost_usd, first.unknown_cost_calls) == (None, 1)
    found = import_file(project, document(begun | {"accumulated_cost": 0.5}), by="test").sessions[0].session
    assert (found.id, found.cost_usd, found.unknown_cost_calls) == (first.id, Decimal("0.5"), 0)
    assert not reasons_of_session(found)


@pytest.mark.django_db
def test_priced_stated_and_unknown_calls_add_up_to_the_model_calls(project: Project) -> None:
    usage = Usage(input_tokens=1_000, output_tokens=10)
    steps = [
        ActionDraft(kind="llm_call"),
        ActionDraft(kind="llm_call", usage=usage),
        ActionDraft(kind="llm_call", model="acme:m", usage=usage),
        ActionDraft(kind="llm_call", model="openai:gpt-4o", usage=usage),
        ActionDraft(kind="llm_call", model="openai:text-embedding-3-small", usage=Usage(input_tokens=9), parameters={"operation": "embeddings"}),
        ActionDraft(kind="llm_call", model="acme:m", cost_usd=Decimal("0.25")),
        ActionDraft(kind="ask", output="A tool answered."),
        ActionDraft(kind="event", name="a wrapper"),
        ActionDraft(kind="message", output="Hello."),
        ActionDraft(kind="llm_call", copied_from={"session": "earlier", "step": "1"}),
    ]  # fmt: skip
    session = start_session(project, name="a run", key="run", by="test")
    append(session.id, priced(steps))
    session.refresh_from_db()
    known = Action.objects.filter(session=session, cost_usd__isnull=False)
    sources = Counter((each.prices or {}).get("source") == "stated" for each in known)
    summary = summary_of(session)
    assert (sources[False], sources[True], session.unknown_cost_calls, summary.unknown_cost_calls) == (
        2,
        1,
        3,
        3,
    )
    assert dict(reasons_of_session(session)) == {
        "model_and_tokens_not_recorded": 1, "model_not_recorded": 1, "provider_not_listed": 1,
    }  # fmt: skip
    api = program(project)
    whole = api.get("/sessions/run/totals", by="agent").json()["totals"]
    assert (whole["calls"], whole["unknown_cost_calls"]) == (6, 3)
    unknown = api.get("/sessions/run/totals", by="agent", filter="cost:unknown").json()["totals"]
    assert (unknown["actions"], unknown["calls"], unknown["unknown_cost_calls"]) == (3, 3, 3)
