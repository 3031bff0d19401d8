"""Sums of agents do not count again with those of their calls, in whatever order and requests the spans arrive."""

import json
from datetime import date
from decimal import Decimal
from itertools import permutations
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.api.conftest import Program
from tests.recording.otel.spans.test_decoding import as_json, request
from tests.recording.otel.traces.conftest import Exporter
from tests.recording.otel.traces.test_sessions_of_traces import made
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.memory.patterns.models import PatternStep
from timemachine.memory.patterns.reader import read_new_steps
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.exporting import export_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.timeline.pure.filter import EVERYTHING, Filter
from timemachine.recording.timeline.totals import summary_of, totals_by
from timemachine.recording.usage.costs import CostQuery, costs
from timemachine.recording.usage.pure.span import Span as Days
from timemachine.recording.usage.queries import reasons_of_session, totals_of, totals_through

pytestmark = pytest.mark.django_db
SPENT: Any = {
    "gen_ai__provider__name": "openai",
    "gen_ai__request__model": "gpt-4o",
    "gen_ai__usage__input_tokens": 1000,
    "gen_ai__usage__output_tokens": 100,
}


def agent(number: int = 1, parent: int = 0, session: str = "talk", operation: str = "invoke_agent") -> Span:
    return made(1, number, parent, session__id=session, gen_ai__operation__name=operation, **SPENT)


def call(number: int, parent: int, session: str = "talk") -> Span:
    return agent(number, parent, session, "chat")


def tool(number: int, parent: int) -> Span:
    return made(1, number, parent, session__id="talk", gen_ai__operation__name="execute_tool")


def totals(key: str = "talk") -> tuple[int, int | None, int | None, Decimal | None, int]:
    """Calls, tokens, cost and calls of unknown cost; the session's own counts say the same."""
    session = Session.objects.get(key=key)
    found = summary_of(session)
    counted = (found.input_tokens, found.output_tokens, found.cost_usd, found.unknown_cost_calls)
    assert counted == (
        session.input_tokens,
        session.output_tokens,
        None if session.cost_usd is None else pytest.approx(float(session.cost_usd)),
        session.unknown_cost_calls,
    )
    return (sum(found.models.values()), found.input_tokens, found.output_tokens, session.cost_usd, session.unknown_cost_calls)  # fmt: skip


ONE_CALL = (1, 1000, 100, Decimal("0.0035"), 0)


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_spans_around_a_call_count_once_in_any_order(exporter: Exporter, order: tuple[int, ...]) -> None:
    spans = [agent(), agent(2, 1, operation="agent_step"), tool(3, 2), call(4, 3)]
    for place in order:
        exporter.send(spans[place])
    assert totals() == ONE_CALL
    exporter.send(*spans)
    assert totals() == ONE_CALL


def test_an_agent_without_calls_keeps_its_sums(exporter: Exporter) -> None:
    exporter.send(agent(), tool(2, 1))
    assert totals() == (0, *ONE_CALL[1:])


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_an_agent_without_calls_keeps_its_sums_beside_what_its_tools_called(
    exporter: Exporter, order: tuple[int, ...]
) -> None:
    spent: Any = SPENT | {"gen_ai__usage__input_tokens": 5000, "gen_ai__usage__output_tokens": 900}
    spent["llm__cost__total"] = 2
    desk = made(1, 1, session__id="talk", gen_ai__operation__name="invoke_agent", **spent)
    spans = [desk, tool(2, 1), call(3, 2), call(4, 2)]
    for place in order:
        exporter.send(spans[place])
    assert totals() == (2, 7000, 1100, Decimal("2.007"), 0)


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_the_sums_of_what_tools_called_count_once_in_any_order(
    exporter: Exporter, order: tuple[int, ...]
) -> None:
    spent: Any = SPENT | {"gen_ai__usage__input_tokens": 2000, "gen_ai__usage__output_tokens": 200}
    chain = made(1, 1, session__id="talk", gen_ai__operation__name="agent_step", **spent)
    spans = [chain, tool(2, 1), call(3, 2), call(4, 2)]
    for place in order:
        exporter.send(spans[place])
    assert totals() == (2, 2000, 200, Decimal("0.007"), 0)


def test_an_agent_of_unknown_cost_makes_the_total_unknown(exporter: Exporter) -> None:
    spent: Any = SPENT | {"gen_ai__request__model": "of-nobody"}
    exporter.send(made(1, 1, session__id="talk", gen_ai__operation__name="invoke_agent", **spent))
    assert totals() == (0, 1000, 100, None, 1)


@pytest.mark.parametrize("model", ["of-nobody", "gpt-4o"])
def test_a_late_call_takes_the_unknown_cost_of_its_agent_back(exporter: Exporter, model: str) -> None:
    spent: Any = SPENT | {"gen_ai__request__model": "of-nobody"}
    exporter.send(made(1, 1, session__id="talk", gen_ai__operation__name="invoke_agent", **spent))
    spent["gen_ai__request__model"] = model
    exporter.send(made(1, 2, 1, session__id="talk", gen_ai__operation__name="chat", **spent))
    is_known = model == "gpt-4o"
    assert totals() == (1, 1000, 100, Decimal("0.0035") if is_known else None, 0 if is_known else 1)
    assert sum(reasons_of_session(Session.objects.get()).values()) == (0 if is_known else 1)


def test_two_late_calls_take_the_sums_back_once(exporter: Exporter) -> None:
    exporter.send(agent())
    exporter.send(call(2, 1))
    exporter.send(call(3, 1))
    assert totals() == (2, 2000, 200, Decimal("0.007"), 0)


def test_an_agent_counts_once_although_its_call_names_another_session(exporter: Exporter) -> None:
    exporter.send(agent(), call(2, 1, "other"))
    assert totals("talk") == (0, None, None, None, 0)
    assert totals("other") == ONE_CALL


def test_a_second_file_with_the_calls_of_an_agent_takes_its_sums_back(project: Project) -> None:
    first = import_file(project, as_json(request(agent(), tool(2, 1))), by="test")
    assert totals() == (0, *ONE_CALL[1:])
    second = import_file(project, as_json(request(call(3, 2), tool(2, 1))), by="test")
    assert totals() == ONE_CALL
    assert [each.already_there for each in (*first.sessions, *second.sessions)] == [0, 1]
    import_file(project, as_json(request(call(3, 2), agent())), by="test")
    assert totals() == ONE_CALL


@pytest.mark.parametrize("order", list(permutations(range(4)))[::3])
@pytest.mark.parametrize("named", ["all", "agent", "none"])
def test_files_with_parts_of_a_trace_count_a_call_once_in_any_order(
    project: Project, order: tuple[int, ...], named: str
) -> None:
    spans = [agent(), agent(2, 1, operation="agent_step"), tool(3, 2), call(4, 3)]
    for place, each in enumerate(spans):
        if named == "none" or (named == "agent" and place > 0):
            del each.attributes[0]  # session.id
    for place in order:
        import_file(project, as_json(request(spans[place])), by="test")
    key = f"{1:032x}" if named == "none" else "talk"
    assert totals(key) == ONE_CALL
    assert Session.objects.count() == 1
    import_file(project, as_json(request(*spans)), by="test")
    assert totals(key) == ONE_CALL
    session = Session.objects.get()
    parents = {each.client_id: each.parent_id_given for each in session.actions.all() if each.client_id}
    assert [parents[f"{1:032x}-{number:016x}"] for number in (2, 3, 4)] == [
        f"{1:032x}-{number:016x}" for number in (1, 2, 3)
    ]


def test_a_trace_stays_where_a_person_tagged_its_session(project: Project) -> None:
    unnamed = agent()
    del unnamed.attributes[0]
    import_file(project, as_json(request(unnamed)), by="test")
    Session.objects.update(tags=["mine"])
    import_file(project, as_json(request(call(2, 1))), by="test")
    assert set(Session.objects.values_list("key", flat=True)) == {f"{1:032x}", "talk"}


def test_a_late_span_of_a_recorded_trace_does_not_change_a_recorded_session(
    exporter: Exporter, project: Project
) -> None:
    exporter.send(agent())
    late = call(2, 1)
    del late.attributes[0]
    import_file(project, as_json(request(late)), by="test")
    assert {each.key: each.imported_as for each in Session.objects.all()} == {
        "talk": None,
        f"{1:032x}": "otlp_json",
    }


def test_one_call_is_counted_although_two_senders_recorded_it_at_different_times(
    exporter: Exporter, project: Project
) -> None:
    inner = made(1, 3, 2, session__id="talk", gen_ai__operation__name="chat", gen_ai__request__model="gpt-4o")
    for span in (inner, call(2, 1), call(1, 0)):
        exporter.send(span)
        exporter.send(span)
        assert totals() == (ONE_CALL if span is not inner else (1, None, None, None, 1))
    days = Days(since=date(2025, 1, 1), until=date(2027, 1, 1))
    (row,) = costs(project, CostQuery(span=days), "model").rows
    assert (row.value, row.sums.calls, row.sums.cost_usd) == ("gpt-4o", 1, Decimal("0.0035"))


@pytest.mark.parametrize(
    ("inner", "outer", "calls"),
    [
        ("tools/call weather", "execute_tool weather", 1),  # its server recorded it, too
        ("execute_tool weather", "Desk.weather", 1),  # two instrumentations did
        ("execute_tool weather", "execute_tool weather", 2),  # it calls itself
    ],
)
def test_a_tool_call_counts_once_however_many_recorded_it(
    exporter: Exporter, inner: str, outer: str, calls: int
) -> None:
    def weather(number: int, parent: int, name: str) -> Span:
        found = made(
            1,
            number,
            parent,
            session__id="talk",
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name="weather",
        )
        found.name = name
        return found

    for span in (weather(3, 2, inner), weather(2, 1, outer)):
        exporter.send(span)
    assert summary_of(Session.objects.get()).tools == {"weather": calls}


def test_a_correction_is_no_step_in_totals_costs_and_patterns(exporter: Exporter, project: Project) -> None:
    exporter.send(agent())
    exporter.send(call(2, 1))
    session = Session.objects.get(key="talk")
    assert session.last_sequence == 3
    assert summary_of(session).kinds == {"event": 1, "llm_call": 1}
    assert totals_through(session, 3) == totals_of(session.actions.all())
    for by in ("kind", "agent", "model", "tool"):
        for shown in (EVERYTHING, Filter(status="ok")):
            assert sum(row.sums.steps for row in totals_by(session, by, shown).lines) == 2, by
    days = Days(since=date(2025, 1, 1), until=date(2027, 1, 1))
    found = costs(project, CostQuery(span=days), "agent")
    assert (found.sums.steps, found.sums.calls, found.sums.timed, found.sums.cost_usd) == (
        2,
        1,
        2,
        Decimal("0.0035"),
    )
    while read_new_steps(project.id, 5):
        pass
    assert not PatternStep.objects.filter(session=session).exists()


def test_a_reader_of_a_step_sees_that_its_tokens_were_taken_back(
    exporter: Exporter, project: Project
) -> None:
    exporter.send(agent())
    exporter.send(call(2, 1))
    session = Session.objects.get(key="talk")
    browser = browser_of(project)
    page = browser.get(f"/sessions/{session.id}/?step=1").content.decode()
    assert '<a href="?step=3">step 3</a> changes what this step counts' in " ".join(page.split())
    page = browser.get(f"/sessions/{session.id}/?step=3").content.decode()
    assert "because its numbers were stated later; not counted as a step" in page
    assert "-$0.0035" in page
    exported = json.loads(b"".join(export_session(session, "otlp_json").parts))
    spans = exported["resourceSpans"][0]["scopeSpans"][0]["spans"]
    last = json.loads(b"".join(export_session(session, "atif").parts))["final_metrics"]
    assert (last["total_prompt_tokens"], last["total_cost_usd"]) == (1000, 0.0035)
    counts = [
        {each["key"] for each in span["attributes"]} & {"gen_ai.usage.input_tokens", "gen_ai.usage.cost"}
        for span in spans
    ]
    assert [len(each) for each in counts] == [2, 2, 0]


def test_a_correction_is_exported_and_imported(exporter: Exporter, api: Program, project: Project) -> None:
    exporter.send(agent())
    exporter.send(call(2, 1))
    answer = api.get("/sessions/talk/export")
    exported = b"".join(answer.streaming_content) if answer.streaming else answer.content
    Session.objects.filter(key="talk").update(key="before")
    import_file(project, exported, by="test")
    assert totals() == totals("before") == ONE_CALL


def of_claude_code(number: int, name: str, **facts: Any) -> Span:
    """A span or log record of one request of Claude Code."""
    sent: Any = {
        "model": "claude-sonnet-4-5",
        "input_tokens": 1000,
        "output_tokens": 100,
        "request_id": "req_1",
    }
    found = made(1, number, 0, session__id="talk", **(sent | facts))
    found.name = name
    return found


def test_the_logged_cost_of_a_request_is_that_of_its_model(exporter: Exporter, project: Project) -> None:
    exporter.send(of_claude_code(1, "claude_code.llm_request", model="of-nobody"))
    assert totals() == (1, 1000, 100, None, 1)
    exporter.send(of_claude_code(2, "claude_code.api_request", model="of-nobody", cost_usd="0.0123"))
    assert totals() == (1, 1000, 100, Decimal("0.0123"), 0)
    assert not reasons_of_session(Session.objects.get())
    days = Days(since=date(2025, 1, 1), until=date(2027, 1, 1))
    (row,) = costs(project, CostQuery(span=days), "model").rows
    assert (row.value, row.sums.calls, row.sums.cost_usd) == ("anthropic:of-nobody", 1, Decimal("0.0123"))


@pytest.mark.parametrize("order", [("span", "record"), ("record", "span")])
@pytest.mark.parametrize("as_file", [False, True])
def test_a_logged_request_of_claude_code_counts_once_in_any_order(
    exporter: Exporter, project: Project, order: tuple[str, ...], as_file: bool
) -> None:
    spans = {
        "span": of_claude_code(1, "claude_code.llm_request"),
        "record": of_claude_code(2, "claude_code.api_request", cost_usd="0.0123"),
    }
    for each in order:
        if as_file:
            import_file(project, as_json(request(spans[each])), by="test", filename=f"{each}.json")
        else:
            exporter.send(spans[each])
    assert totals() == (1, 1000, 100, Decimal("0.0123"), 0)
    for each in order:  # sent again
        exporter.send(spans[each])
    assert totals() == (1, 1000, 100, Decimal("0.0123"), 0)


MUCH: Any = SPENT | {"gen_ai__usage__input_tokens": 5000, "gen_ai__usage__output_tokens": 900}


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_of_agents_inside_each_other_without_calls_the_outer_sums_count(
    exporter: Exporter, order: tuple[int, ...]
) -> None:
    desk = made(1, 1, session__id="talk", gen_ai__operation__name="invoke_agent", **MUCH)
    spans = [desk, agent(2, 1), agent(3, 1)]
    for place in order:
        exporter.send(spans[place])
    assert totals()[:3] == (0, 5000, 900)


@pytest.mark.parametrize("together", [True, False])
def test_a_late_call_makes_the_cost_of_an_agent_beside_it_unknown(
    exporter: Exporter, *, together: bool
) -> None:
    """The sums of the agent inside were left out as part of the outer agent's, which the late call takes back."""
    desk = made(1, 1, session__id="talk", gen_ai__operation__name="invoke_agent", **MUCH)
    if together:
        exporter.send(agent(2, 1), desk)
    else:
        exporter.send(agent(2, 1))
        exporter.send(desk)
    exporter.send(call(3, 1))
    assert totals() == (1, 1000, 100, Decimal("0.0035"), 1)
    assert reasons_of_session(Session.objects.get()) == {"tokens_not_recorded": 1}
    exporter.send(call(4, 1))
    assert totals() == (2, 2000, 200, Decimal("0.007"), 1)


def answered(number: int, parent: int, scope: str, **more: Any) -> Span:
    found = made(1, number, parent, session__id="talk", gen_ai__operation__name="chat", **SPENT | more)
    found.name = f"{scope} chat"
    found.end_time_unix_nano += 2_000_000_000
    return found


@pytest.mark.parametrize("one_request", [True, False])
def test_a_call_that_two_instrumentations_recorded_side_by_side_counts_once(
    exporter: Exporter, *, one_request: bool
) -> None:
    """LangChain's callbacks and the client's own instrumentation are siblings; both name the response."""
    response: Any = {"gen_ai__response__id": "chatcmpl-1"}
    spans = [agent(), answered(2, 1, "langchain", **response), answered(3, 1, "openai", **response)]
    sent = [request(each) for each in spans]
    sent[1].resource_spans[0].scope_spans[0].scope.name = "langchain"
    if one_request:
        sent[0].MergeFrom(sent[1])
        sent[0].MergeFrom(sent.pop())
        sent.pop()
    for each in sent:
        assert exporter.raw(each.SerializeToString()).status_code == 200
    assert totals() == ONE_CALL
    exporter.send(answered(4, 1, "openai", gen_ai__response__id="chatcmpl-2"))
    assert totals() == (2, 2000, 200, Decimal("0.007"), 0)
