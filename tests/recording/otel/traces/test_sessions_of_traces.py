"""Spans in any order, in pieces, twice and before their parent give the same sessions."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.api.conftest import Program, program
from tests.evidence.sessions import compared_with_its_seal
from tests.governance.deletion.erasure.canary import erased
from tests.recording.otel.traces.conftest import Exporter, recorded
from tests.threads import in_a_thread
from tests.web.people import browser_of
from timemachine.api import concurrency
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.models import Payload
from timemachine.evidence.models import ErasedField, LogEntry
from timemachine.evidence.sealing.seals import seal_session
from timemachine.recording.annotations.notes.commands import add
from timemachine.recording.otel import commands
from timemachine.recording.otel.moving import attached_relations
from timemachine.recording.sessions.models import Action, Hit, Session

BEGAN = 1_760_000_000_000_000_000


def made(trace: int, number: int, parent: int = 0, **attributes: str | float) -> Span:
    def value(found: str | float) -> AnyValue:
        if isinstance(found, str):
            return AnyValue(string_value=found)
        return AnyValue(int_value=int(found))

    return Span(
        trace_id=trace.to_bytes(16),
        span_id=number.to_bytes(8),
        parent_span_id=parent.to_bytes(8) if parent else b"",
        name=f"span {number}",
        start_time_unix_nano=BEGAN + number * 1_000_000_000,
        end_time_unix_nano=BEGAN + (number + 1) * 1_000_000_000,
        attributes=[
            KeyValue(key=name.replace("__", "."), value=value(found)) for name, found in attributes.items()
        ],
    )


def a_run() -> list[Span]:
    """Two traces of one conversation whose roots alone name it, and one that names none."""
    call = {
        "gen_ai__operation__name": "chat",
        "gen_ai__provider__name": "openai",
        "gen_ai__request__model": "gpt-4o-mini",
    }
    return [
        made(1, 11, session__id="talk", gen_ai__usage__input_tokens=100),
        made(
            1,
            10,
            11,
            user__id="ann",
            gen_ai__usage__input_tokens=100,
            gen_ai__usage__output_tokens=10,
            **call,
        ),
        made(
            1,
            13,
            10,
            gen_ai__agent__name="desk",
            gen_ai__operation__name="execute_tool",
            gen_ai__tool__name="look",
        ),
        made(2, 21, session__id="talk"),
        made(2, 22, 21, gen_ai__usage__input_tokens=50, gen_ai__usage__output_tokens=5, **call),
        made(
            2,
            23,
            22,
            retrieval__documents__0__document__content="A passage.",
            openinference__span__kind="RETRIEVER",
        ),
        made(3, 31),
        made(3, 32, 31),
    ]


@pytest.mark.django_db
def test_a_conversation_is_one_session_and_a_trace_without_one_its_own(
    exporter: Exporter, project: Project
) -> None:
    exporter.send(*a_run())
    found = recorded(project)
    assert set(found) == {"talk", f"{3:032x}"}
    assert found["talk"]["actions"] == [
        ("span 10", "llm_call", "span 11"),
        ("span 11", "event", None),
        ("span 13", "tool_call", "span 10"),
        ("span 21", "event", None),
        ("span 22", "llm_call", "span 21"),
        ("span 23", "find", "span 22"),
    ]
    assert (found["talk"]["input_tokens"], found["talk"]["agent"]) == (150, "desk")
    assert found["talk"]["cost_usd"] > 0
    assert [hit.sha256 is not None for hit in Hit.objects.all()] == [True]


@pytest.mark.django_db
def test_each_of_many_sessions_of_a_request_gets_its_own_actions_passages_and_totals(
    exporter: Exporter, project: Project
) -> None:
    call: Any = {"gen_ai__operation__name": "chat"}

    def spans(session: int) -> Iterator[Span]:
        for each in range(1, 301):
            yield made(session, each, session__id=f"s{session}", gen_ai__usage__input_tokens=session, **call)
        found: Any = {"retrieval__documents__0__document__content": f"A passage of {session}."}
        yield made(session, 301, session__id=f"s{session}", openinference__span__kind="RETRIEVER", **found)

    sent = [span for session in range(1, 6) for span in spans(session)]
    random.Random(1).shuffle(sent)
    exporter.send(*sent[:1_400])
    exporter.send(*sent[1_300:])
    found = recorded(project)
    assert {key: len(each["actions"]) for key, each in found.items()} == {f"s{n}": 301 for n in range(1, 6)}
    assert {key: each["input_tokens"] for key, each in found.items()} == {
        f"s{n}": 300 * n for n in range(1, 6)
    }
    hits = Hit.objects.select_related("action__session", "payload")
    passages = {hit.action.session.key: bytes(hit.payload.data).decode() for hit in hits if hit.payload}
    assert passages == {f"s{n}": f"A passage of {n}." for n in range(1, 6)}


class TestOrder(TestCase):
    """Whatever the order, the pieces and the repeats, what is recorded is the same."""

    @settings(max_examples=5)
    @given(st.permutations(range(8)), st.lists(st.integers(1, 8), min_size=1, max_size=4), st.integers(0, 7))
    def test_any_order_any_pieces_and_again(self, order: list[int], cuts: list[int], again: int) -> None:
        one, other = Project.objects.create(name="one"), Project.objects.create(name="other")
        Exporter(program(one)).send(*a_run())
        exporter = Exporter(program(other))
        spans = [a_run()[place] for place in order]
        places = sorted({0, 8, *cuts})
        for begin, end in pairwise(places):
            exporter.send(*spans[begin:end])
        exporter.send(spans[again])
        assert recorded(other) == recorded(one)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("together", [True, False])
def test_spans_that_come_at_once_are_the_same_sessions(
    project: Project, other_project: Project, together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "SMALL", 50 if together else 0)
    Exporter(program(other_project)).send(*a_run())
    key = program(project)
    with ThreadPoolExecutor(concurrency.AT_ONCE) as pool:
        for _ in range(3):  # the second and third time each is there already
            sent = [in_a_thread(pool, partial(Exporter(key).send, span)) for span in a_run()]
            assert all(each.result().partial_success.rejected_spans == 0 for each in sent)
    assert recorded(project) == recorded(other_project)


@pytest.mark.django_db
def test_a_session_named_late_leaves_a_tombstone_of_what_was_sealed(
    exporter: Exporter, project: Project
) -> None:
    exporter.send(made(1, 12, 11))
    early = Session.objects.get(project=project)
    assert seal_session(early.id) is not None
    exporter.send(made(1, 11, session__id="talk"))
    found = recorded(project)
    assert set(found) == {"talk"}
    assert [each[0] for each in found["talk"]["actions"]] == ["span 11", "span 12"]
    told = [entry.entry for entry in LogEntry.objects.filter(project=project).order_by("index")]
    there = Session.objects.get(project=project)
    assert any(f"belongs to the session {there.id}" in str(each) for each in told)


@pytest.mark.django_db
def test_a_session_that_people_worked_on_stays(exporter: Exporter, project: Project) -> None:
    exporter.send(made(1, 12, 11))
    early = Session.objects.get(project=project)
    add(early, 1, "look at this", by="me")
    exporter.send(made(1, 11, session__id="talk"), made(1, 13, 11))
    found = recorded(project)
    assert [each[0] for each in found[early.key]["actions"]] == ["span 12", "span 13"]
    assert [each[0] for each in found["talk"]["actions"]] == ["span 11"]


@pytest.mark.django_db
def test_a_span_that_comes_again_with_other_words_is_kept_beside_the_first(
    exporter: Exporter, project: Project
) -> None:
    exporter.send(made(1, 11, input__value="first"))
    exporter.send(made(1, 11, input__value="second"), made(1, 11, input__value="first"))
    exporter.send(made(1, 11, input__value="second"))
    names = [each.name for each in Action.objects.order_by("sequence")]
    assert names == ["span 11", "span 11 (sent again with other content)"]
    kept: Any = Action.objects.order_by("sequence").last()
    assert b"second" in bytes(kept.source.data)


@pytest.mark.django_db
def test_a_late_span_finds_its_session_ended_and_is_recorded(
    exporter: Exporter, project: Project, api: Program
) -> None:
    exporter.send(made(1, 12, 11, session__id="a talk with spaces"))
    (session,) = Session.objects.filter(project=project)
    assert session.key.startswith("otlp-")
    api.post(f"/sessions/{session.key}/end")
    exporter.send(made(1, 11))
    assert len(recorded(project)[session.key]["actions"]) == 2
    session.refresh_from_db()
    assert (session.status, session.name) == ("ended", "span 11")


@pytest.mark.django_db
def test_a_session_took_as_long_as_its_spans_and_not_until_they_came(
    exporter: Exporter, api: Program, project: Project
) -> None:
    exporter.send(made(1, 12, 11, session__id="talk"), made(1, 11))
    browser = browser_of(project)
    assert '<span title="so far">2.0 s +</span>' in browser.get("/").text
    told = api.get("/sessions/talk/summary").json()
    assert told["steps_ms"] == 2_000
    api.post("/sessions/talk/end", {"ended_at": told["last_step_ended_at"]})
    assert 'data-label="Duration" class="number">2.0 s<' in browser.get("/").text
    assert api.get("/sessions/talk/summary").json()["duration_ms"] == 2_000


@pytest.mark.django_db
def test_after_a_session_was_erased_its_trace_begins_anew(
    exporter: Exporter, api: Program, project: Project
) -> None:
    exporter.send(made(1, 12, 11, session__id="talk"))
    api.delete("/sessions/talk")
    exporter.send(made(1, 13, 11))
    assert set(recorded(project)) == {f"{1:032x}"}


@pytest.mark.django_db
def test_the_head_of_a_session_that_was_sealed_stays_as_it_was_signed(
    exporter: Exporter, project: Project
) -> None:
    exporter.send(made(1, 12, 11, session__id="talk"))
    session = Session.objects.get(project=project)
    seal = seal_session(session.id)
    assert seal is not None
    exporter.send(made(1, 11, session__id="talk", gen_ai__agent__name="desk", user__id="ann"))
    session.refresh_from_db()
    assert (session.agent, session.user, session.name) == (None, None, "talk")
    seal_session(session.id)
    assert compared_with_its_seal(session).problems == []


@pytest.mark.django_db
def test_a_session_that_was_here_before_its_trace_is_never_taken_away(
    exporter: Exporter, project: Project, api: Program
) -> None:
    key = f"{1:032x}"
    api.post("/sessions", {"name": "Mine", "key": key})
    exporter.send(made(1, 12, 11))
    exporter.send(made(1, 11, session__id="talk"))
    found = recorded(project)
    assert [each[0] for each in found[key]["actions"]] == ["span 12"]
    assert [each[0] for each in found["talk"]["actions"]] == ["span 11"]


@pytest.mark.django_db
def test_an_action_of_somebody_else_keeps_its_session_where_it_is(
    exporter: Exporter, project: Project, api: Program
) -> None:
    exporter.send(made(1, 12, 11))
    api.post(f"/sessions/{1:032x}/actions", {"kind": "message", "output": "by hand"})
    exporter.send(made(1, 11, session__id="talk"))
    assert len(recorded(project)[f"{1:032x}"]["actions"]) == 2


def test_whatever_people_make_of_a_session_keeps_it_where_it_is() -> None:
    made_by_people = {field.model.__name__ for field in attached_relations()}
    assert made_by_people == {
        "AskUnderWay", "CachedAnswer", "Compression", "CompressionChange", "Declined", "ErasedField", "ErasedTurn", "Erasure", "HeldSession",
        "Intake", "Judgement", "LongDiff", "Note", "Replay", "Session", "SessionSummary", "ShareLink", "SuiteReplay", "SuiteSession", "SignificanceChange", "Sweep",
    }  # fmt: skip


@pytest.mark.django_db
def test_what_was_erased_does_not_come_back_with_its_span(exporter: Exporter, project: Project) -> None:
    sent = made(1, 11, session__id="talk", input__value="a secret word")
    exporter.send(sent)
    session = Session.objects.get(project=project)
    erased(session, fields=["input", "source"], steps=[1])
    assert ErasedField.objects.filter(session=session).exists()
    exporter.send(sent)
    assert Action.objects.filter(session=session).count() == 1
    assert not any(b"a secret word" in bytes(each.data) for each in Payload.objects.all())
