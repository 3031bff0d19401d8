"""Spans in any order, split, repeated or before their parent give the same sessions."""

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
    """Two traces of one conversation named only by their roots, and one trace without a conversation."""
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
def test_each_session_of_a_request_gets_its_own_actions_passages_and_totals(
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
    """The recording does not depend on order, splitting or repetition."""

    @settings(max_examples=5)
    @given(st.permutations(range(8)), st.lists(st.integers(1, 8), min_size=1, max_size=4), st.integers(0, 7))
    def test_spans_in_any_order_split_and_repeated_give_the_same_sessions(
        self, order: list[int], cuts: list[int], again: int
    ) -> None:
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
def test_concurrent_spans_give_the_same_sessions(
    project: Project, other_project: Project, together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "SMALL", 50 if together else 0)
    Exporter(program(other_project)).send(*a_run())
    key = program(project)
    with ThreadPoolExecutor(concurrency.AT_ONCE) as pool:
        for _ in range(3):  # on the second and third pass everything exists already
            sent = [in_a_thread(pool, partial(Exporter(key).send, span)) for span in a_run()]
            assert all(each.result().partial_success.rejected_spans == 0 for each in sent)
    assert recorded(project) == recorded(other_project)


@pytest.mark.django_db
def test_a_session_named_late_leaves_a_tombstone_of_a_sealed_one(
    exporter: Exporter, project: Project
) -> None:
    exporter.send(made(1, 12, 11))
    early = Session.objects.get(project=project)
    assert seal_session(early.id) is not None
    exporter.send(made(1, 11, session__id="talk"))
    found = recorded(project)
    assert set(found) == {"talk"}
    assert [each[0] for each in found["talk"]["actions"]] == ["span 11", "span 12"]
    entries = [entry.entry for entry in LogEntry.objects.filter(project=project).order_by("index")]
    there = Session.objects.get(project=project)
    assert any(f"belongs to the session {there.id}" in str(each) for each in entries)


@pytest.mark.django_db
def test_a_session_that_people_worked_on_is_kept(exporter: Exporter, project: Project) -> None:
    exporter.send(made(1, 12, 11))
    early = Session.objects.get(project=project)
    add(early, 1, "look at this", by="me")
    exporter.send(made(1, 11, session__id="talk"), made(1, 13, 11))
    found = recorded(project)
    assert [each[0] for each in found[early.key]["actions"]] == ["span 12", "span 13"]
    assert [each[0] for each in found["talk"]["actions"]] == ["span 11"]


@pytest.mark.django_db
def test_a_changed_repeated_span_is_recorded_separately(exporter: Exporter, project: Project) -> None:
    exporter.send(made(1, 11, input__value="first"))
    exporter.send(made(1, 11, input__value="second"), made(1, 11, input__value="first"))
    exporter.send(made(1, 11, input__value="second"))
    names = [each.name for each in Action.objects.order_by("sequence")]
    assert names == ["span 11", "span 11 (sent again with different content)"]
    stored: Any = Action.objects.order_by("sequence").last()
    assert b"second" in bytes(stored.source.data)


@pytest.mark.django_db
def test_a_late_span_is_recorded_in_its_ended_session(
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
def test_the_duration_of_a_session_is_that_of_its_spans_and_not_of_their_arrival(
    exporter: Exporter, api: Program, project: Project
) -> None:
    exporter.send(made(1, 12, 11, session__id="talk"), made(1, 11))
    browser = browser_of(project)
    assert '<span title="so far">2.0 s +</span>' in browser.get("/").text
    body = api.get("/sessions/talk/summary").json()
    assert body["steps_ms"] == 2_000
    api.post("/sessions/talk/end", {"ended_at": body["last_step_ended_at"]})
    assert 'data-label="Duration" class="number when lasted">2.0 s<' in browser.get("/").text
    assert api.get("/sessions/talk/summary").json()["duration_ms"] == 2_000


@pytest.mark.django_db
def test_the_trace_of_an_erased_session_starts_a_new_session(
    exporter: Exporter, api: Program, project: Project
) -> None:
    exporter.send(made(1, 12, 11, session__id="talk"))
    api.delete("/sessions/talk")
    exporter.send(made(1, 13, 11))
    assert set(recorded(project)) == {f"{1:032x}"}


@pytest.mark.django_db
def test_the_details_of_a_sealed_session_do_not_change(exporter: Exporter, project: Project) -> None:
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
def test_a_session_that_existed_before_its_trace_is_never_removed(
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
def test_a_session_with_an_action_from_elsewhere_is_not_merged(
    exporter: Exporter, project: Project, api: Program
) -> None:
    exporter.send(made(1, 12, 11))
    api.post(f"/sessions/{1:032x}/actions", {"kind": "message", "output": "by hand"})
    exporter.send(made(1, 11, session__id="talk"))
    assert len(recorded(project)[f"{1:032x}"]["actions"]) == 2


def test_a_session_with_anything_attached_by_people_is_not_merged() -> None:
    made_by_people = {field.model.__name__ for field in attached_relations()}
    assert made_by_people == {
        "AskUnderWay", "CachedAnswer", "Compression", "CompressionChange", "Declined", "ErasedField", "ErasedTurn", "Erasure", "HeldSession",
        "Intake", "Judgement", "LongDiff", "Note", "Replay", "Session", "SessionSummary", "ShareLink", "SuiteReplay", "SuiteSession", "SignificanceChange", "Sweep",
    }  # fmt: skip


@pytest.mark.django_db
def test_an_erased_span_is_not_recorded_again(exporter: Exporter, project: Project) -> None:
    sent = made(1, 11, session__id="talk", input__value="a secret word")
    exporter.send(sent)
    session = Session.objects.get(project=project)
    erased(session, fields=["input", "source"], steps=[1])
    assert ErasedField.objects.filter(session=session).exists()
    exporter.send(sent)
    assert Action.objects.filter(session=session).count() == 1
    assert not any(b"a secret word" in bytes(each.data) for each in Payload.objects.all())
