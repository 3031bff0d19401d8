"""Messages that are sent as log events belong to the call whose span they name."""

from typing import Any

import pytest

from tests.api.conftest import Program
from tests.governance.deletion.erasure.canary import erased
from tests.recording.otel.logs.conftest import LogExporter
from tests.recording.otel.logs.made import logs, logs_as_json, record
from tests.recording.otel.spans.test_decoding import as_json, request
from tests.recording.otel.traces.test_sessions_of_traces import made
from tests.recording.otel.traces.test_sums import totals
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import import_file
from timemachine.recording.sessions.models import Action, Session

pytestmark = pytest.mark.django_db
ASKED = [{"role": "user", "parts": [{"type": "text", "content": "How long?"}]}]
ANSWERED = [
    {"role": "assistant", "parts": [{"type": "text", "content": "Ten years."}], "finish_reason": "stop"}
]
DETAILS = record(
    "gen_ai.client.inference.operation.details",
    {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.provider.name": "openai",
        "gen_ai.usage.input_tokens": 1000,
        "gen_ai.usage.output_tokens": 100,
        "gen_ai.input.messages": ASKED,
        "gen_ai.output.messages": ANSWERED,
    },
    at=3,
    trace=1,
    span=2,
)
EARLIER = [
    record(name, {"gen_ai.system": "openai"}, at=at, trace=1, span=2, body=body)
    for at, (name, body) in enumerate(
        [
            ("gen_ai.system.message", {"content": "Be short."}),
            ("gen_ai.user.message", {"content": "How long?"}),
            (
                "gen_ai.choice",
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": "Ten years."},
                },
            ),
        ],
        start=1,
    )
]
CALL: Any = {
    "gen_ai__operation__name": "chat",
    "gen_ai__provider__name": "openai",
    "gen_ai__request__model": "gpt-4o",
    "gen_ai__usage__input_tokens": 1000,
    "gen_ai__usage__output_tokens": 100,
}
TRACE = f"{1:032x}"


def spans(**more: str) -> list[Any]:
    return [made(1, 2, 1, **(CALL | more)), made(1, 1, 0, gen_ai__operation__name="invoke_agent", **more)]


def call_of(api: Program, key: str = TRACE) -> Any:
    found: Any = api.get(f"/sessions/{key}/actions?kind=llm_call").json()["items"]
    (call,) = (each for each in found if each["kind"] == "llm_call")
    return call


def test_messages_that_arrive_before_the_span_are_those_of_the_call(
    exporter: LogExporter, api: Program
) -> None:
    exporter.send_logs(DETAILS)
    exporter.send(*spans())
    call = call_of(api)
    assert (call["input"], call["output"]) == (ASKED, "Ten years.")
    assert totals(TRACE)[:3] == (1, 1000, 100)
    event = Action.objects.get(name__startswith="gen_ai.client")
    assert (event.kind, event.parent_id_given) == ("event", call["id"])


def test_earlier_events_of_one_message_each_are_put_together(exporter: LogExporter, api: Program) -> None:
    for each in reversed(EARLIER):
        exporter.send_logs(each)
    exporter.send(*spans())
    call = call_of(api)
    assert call["output"] == "Ten years."
    assert call["input"] == [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "How long?"},
    ]


def test_a_span_with_messages_of_its_own_keeps_them(exporter: LogExporter, api: Program) -> None:
    exporter.send_logs(DETAILS)
    exporter.send(*spans(gen_ai__output__messages="Twelve years."))
    call = call_of(api)
    assert (call["input"], call["output"]) == (ASKED, "Twelve years.")


def test_messages_that_arrive_after_the_span_are_a_step_inside_the_call(
    exporter: LogExporter, api: Program
) -> None:
    exporter.send(*spans())
    for _ in range(2):
        exporter.send_logs(DETAILS)
        exporter.send(*spans())
    call = call_of(api)
    assert (call["input"], call["output"]) == (None, None)
    children: Any = api.get(f"/sessions/{TRACE}/actions").json()["items"]
    (event,) = (each for each in children if each["parent"] == call["id"])
    assert (event["kind"], event["input"], event["output"]) == ("event", ASKED, "Ten years.")
    assert totals(TRACE)[:3] == (1, 1000, 100)
    assert Session.objects.get().last_sequence == 3


def asked_of(api: Program) -> Any:
    answer = api.get(f"/sessions/{TRACE}/actions/{call_of(api)['sequence']}/request")
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.mark.parametrize("events", [[DETAILS], EARLIER])
@pytest.mark.parametrize("spans_first", [False, True])
def test_the_request_of_a_call_has_its_messages_in_either_order(
    exporter: LogExporter, api: Program, events: list[Any], spans_first: bool
) -> None:
    if spans_first:
        exporter.send(*spans())
    exporter.send_logs(*events)
    exporter.send(*spans())
    found = asked_of(api)
    assert (found["context"], found["absent"]) == ("verified", [])
    assert found["body"]["messages"][-1] == {"role": "user", "content": "How long?"}


def test_a_span_that_is_sent_again_after_its_messages_is_not_another_step(exporter: LogExporter) -> None:
    exporter.send_logs(DETAILS)
    for _ in range(2):
        exporter.send(*spans())
    assert Session.objects.get().last_sequence == 3


def test_messages_move_with_their_trace_to_the_session_that_a_span_names(
    exporter: LogExporter, api: Program
) -> None:
    exporter.send_logs(DETAILS)
    exporter.send(*spans(session__id="talk"))
    assert [each.key for each in Session.objects.all()] == ["talk"]
    assert call_of(api, "talk")["input"] == ASKED


def test_messages_whose_span_never_arrives_are_kept(exporter: LogExporter, api: Program) -> None:
    exporter.send_logs(*EARLIER)
    found: Any = api.get(f"/sessions/{TRACE}/actions").json()["items"]
    assert [(each["input"], each["output"]) for each in found] == [
        ([{"role": "system", "content": "Be short."}], None),
        ([{"role": "user", "content": "How long?"}], None),
        (None, "Ten years."),
    ]


def test_details_that_belong_to_no_span_are_the_call(exporter: LogExporter, api: Program) -> None:
    alone = type(DETAILS)(trace_id=DETAILS.trace_id)
    alone.MergeFrom(DETAILS)
    alone.span_id = b""
    exporter.send_logs(alone)
    call = call_of(api)
    assert (call["model"], call["input"], call["output"]) == ("openai:gpt-4o", ASKED, "Ten years.")
    assert totals(TRACE)[:3] == (1, 1000, 100)


@pytest.mark.parametrize("files", [["both"], ["logs", "spans"]])
def test_messages_in_files_are_those_of_the_call(project: Project, api: Program, files: list[str]) -> None:
    written = {"logs": logs_as_json(logs(DETAILS)), "spans": as_json(request(*spans()))}
    written["both"] = written["spans"] + b"\n" + written["logs"]
    for each in files:
        import_file(project, written[each], by="test", filename=f"{each}.jsonl")
    call = call_of(api)
    assert (call["input"], call["output"]) == (ASKED, "Ten years.")
    assert totals(TRACE)[:3] == (1, 1000, 100)


@pytest.mark.parametrize("fields", [["input"], ["input", "source"]])
def test_messages_that_were_erased_are_not_those_of_a_span_that_arrives_later(
    exporter: LogExporter, api: Program, fields: list[str]
) -> None:
    exporter.send_logs(*EARLIER)
    erased(Session.objects.get(), fields=fields, steps=[2])
    exporter.send(*spans())
    assert "How long?" not in str(call_of(api))


def test_messages_that_would_make_a_step_too_large_stay_where_they_are(
    exporter: LogExporter, api: Program, settings: Any
) -> None:
    settings.MAX_ACTION_BYTES = 2_000
    for number in range(3):
        body = {"content": "x" * 900}
        exporter.send_logs(record("gen_ai.user.message", {}, at=number + 1, trace=1, span=2, body=body))
    exporter.send(*spans())
    assert call_of(api)["input"] is None
    assert Action.objects.filter(name="gen_ai.user.message").count() == 3
