"""Exports in other formats contain the same steps when they are imported, as far as the format allows."""

import json
import zipfile
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from io import BytesIO
from typing import Any

import pytest

from tests.builders import recorded_session
from tests.recording.importing.exports.test_exporting import exported, recorded
from tests.recording.importing.sample_files import read
from tests.recording.importing.samples import SAMPLES
from timemachine.client import load_session
from timemachine.core.accounts.models import Project
from timemachine.core.pure.numbers import dollars
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.exporting import EXPORTS
from timemachine.recording.importing.pure.registry import FORMATS, detect_format
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.sessions.commands import end_session, start_session
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage, copy_of

pytestmark = pytest.mark.django_db
CONVERSATION = [
    ActionDraft(kind="message", role="user", layer="agent", output="Mend it \ud800"),
    ActionDraft(kind="llm_call", role="agent", id="c1", model="openai:gpt-x", output={"a": 1}, duration_ms=5),
    ActionDraft(kind="message", role="agent", parent="c1", tags=("thinking",), output="Look first"),
    ActionDraft(kind="message", role="agent", parent="c1", output="I look."),
    ActionDraft(kind="tool_call", parent="c1", tool="bash", call_id="t1", input={"cmd": "ls"}),
    ActionDraft(kind="tool_call", parent="c1", tool="bash", call_id="t2", input="pwd"),
    ActionDraft(kind="tool_result", tool="bash", call_id="t2", output="/"),
    ActionDraft(kind="tool_result", tool="bash", call_id="t1", error_type="no_such", output=["x"]),
    ActionDraft(kind="tool_result", output="of a call that nobody recorded"),
    ActionDraft(kind="tool_call"),
    ActionDraft(kind="message", role="agent", output="Done"),
    ActionDraft(kind="message", role="agent", output="Really"),
    ActionDraft(kind="message", role="system", output="Note"),
    ActionDraft(kind="event", name="turn", parent=2),
    ActionDraft(kind="checkpoint", name="before", output={"state": 1}),
    ActionDraft(kind="checkpoint", name="after"),
    ActionDraft(kind="llm_call", role="agent", model="unnamed", error_message="gone"),
]


def kinds(session: Session) -> Counter[str]:
    return Counter(Action.objects.filter(session=session).values_list("kind", flat=True))


def read_back(data: bytes, name: str) -> tuple[ParsedFile, Counter[str]]:
    assert detect_format(data) == name
    found = read(data)
    assert found.report.skipped == []
    return found, Counter(found.report.became)


def actions_in(data: bytes) -> list[dict[str, Any]]:
    """The complete actions in an OTLP export."""
    spans = [
        span
        for line in data.splitlines()
        for span in json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    ]
    held = [{each["key"]: each["value"] for each in span["attributes"]} for span in spans]
    return [json.loads(each["timemachine.action"]["stringValue"]) for each in held]


def exported_actions(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()[1:]]


def test_every_export_format_except_zip_can_be_imported() -> None:
    assert next(iter(EXPORTS)) == "timemachine"
    assert set(EXPORTS) - {"zip"} <= set(FORMATS)


def test_spans_are_read_back_as_calls_tools_and_finds(project: Project) -> None:
    session = recorded(project, CONVERSATION, key="talk", user="ann")
    data = exported(session, "otlp_json")
    found, became = read_back(data, "otlp_json")
    assert [each.key for each in found.sessions] == ["talk"]
    assert (became["llm_call"], became["tool_call"]) == (2, 3)
    assert sum(became.values()) == len(CONVERSATION)
    assert actions_in(data) == exported_actions(exported(session))
    model = next(each for each in found.sessions[0].actions if each.kind == "llm_call")
    assert (model.model, model.duration_ms) == ("openai:gpt-x", 5)
    children = [each for each in found.sessions[0].actions if each.parent == model.id]
    assert len(children) == 5


def test_finds_and_asks_are_read_back_from_spans(project: Project) -> None:
    session = recorded_session(project)
    _, became = read_back(exported(session, "otlp_json"), "otlp_json")
    before = kinds(session)
    assert (became["find"], became["llm_call"]) == (before["find"], before["ask"])


def test_spans_keep_their_original_ids(project: Project) -> None:
    imported_session = import_file(project, SAMPLES["otlp_json"][0], by="test").sessions[0].session
    ids = set(Action.objects.filter(session=imported_session).values_list("client_id", flat=True))
    found, _ = read_back(exported(imported_session, "otlp_json"), "otlp_json")
    assert {each.id for each in found.sessions[0].actions} == ids


def test_a_parent_in_another_trace_is_a_link(project: Project) -> None:
    trace = f"{'a' * 32}-{'b' * 16}"
    session = recorded(
        project, [ActionDraft(kind="event", id=trace), ActionDraft(kind="event", parent=trace)]
    )
    (line,) = exported(session, "otlp_json").splitlines()
    span = json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"][1]
    assert span["links"] == [{"traceId": "a" * 32, "spanId": "b" * 16}]


def test_a_zip_of_repetitive_content_is_read_back(project: Project) -> None:
    long_text = "word " * 1_400_000
    session = recorded(project, [ActionDraft(kind="message", role="agent", output=long_text)])
    data = exported(session, "zip")
    assert len(data) * 200 < len(long_text)
    assert load_session(data).events[0]["data"]["content"] == long_text
    read_back(data, "devduck")


def test_a_zip_is_reproducible_and_read_back_with_its_checkpoints(project: Project) -> None:
    session = recorded(project, CONVERSATION, key="talk")
    data = exported(session, "zip")
    assert data == exported(session, "zip")
    with zipfile.ZipFile(BytesIO(data)) as archive:
        assert archive.namelist() == ["events.jsonl", "snapshots.json", "metadata.json"]
        assert json.loads(archive.read("metadata.json"))["through"] == len(CONVERSATION)
        events = [json.loads(line)["action"] for line in archive.read("events.jsonl").splitlines()]
        snapshots = [each["action"] for each in json.loads(archive.read("snapshots.json"))]
    assert sorted([*events, *snapshots], key=lambda each: each["sequence"]) == exported_actions(
        exported(session)
    )
    found, became = read_back(data, "devduck")
    before = kinds(session)
    expected = ("message", "tool_call", "tool_result", "checkpoint")
    assert [became[kind] for kind in expected] == [before[kind] for kind in expected]
    assert found.sessions[0].key == "talk"


def test_a_trajectory_is_read_back_with_its_calls_and_results(project: Project) -> None:
    session = recorded(project, CONVERSATION, key="talk")
    data = exported(session, "atif")
    found, became = read_back(data, "atif")
    before = kinds(session)
    expected = ("llm_call", "tool_call", "tool_result")
    assert [became[kind] for kind in expected] == [before[kind] for kind in expected]
    assert found.sessions[0].key == "talk"
    document = json.loads(data)
    steps = document["steps"]
    assert [step["step_id"] for step in steps] == list(range(1, len(steps) + 1))
    assert document["final_metrics"]["total_steps"] == len(steps)
    held = [action for step in steps for action in step["extra"]["timemachine"]]
    assert held == exported_actions(exported(session))
    call = steps[1]
    assert (call["reasoning_content"], call["message"], len(call["tool_calls"])) == (
        "Look first",
        "I look.",
        2,
    )
    assert [each["source_call_id"] for each in call["observation"]["results"]] == ["t2", "t1"]


def test_a_trajectory_includes_the_tokens_and_cost_of_asks(project: Project) -> None:
    session = recorded_session(project)
    document = json.loads(exported(session, "atif"))
    asks = [step for step in document["steps"] if step.get("llm_call_count") == 1]
    session.refresh_from_db()
    assert len(asks) == kinds(session)["ask"]
    assert all(step["message"] for step in asks)
    assert document["final_metrics"]["total_cost_usd"] == dollars(session.cost_usd)
    assert document["final_metrics"].get("total_prompt_tokens") == session.input_tokens


def test_a_trajectory_marks_copied_steps_and_leaves_them_out_of_its_sums(project: Project) -> None:
    call = ActionDraft(kind="llm_call", model="acme:m", usage=Usage(input_tokens=7), cost_usd=Decimal("0.5"))
    spoken = ActionDraft(kind="message", role="agent", output="Built.")
    unpriced = replace(call, usage=None, cost_usd=None, copied_from=copy_of("earlier", 1))
    session = recorded(project, [replace(call, copied_from=copy_of("earlier", 1)), unpriced, spoken, call])
    document = json.loads(exported(session, "atif"))
    assert [step.get("is_copied_context") for step in document["steps"]] == [True, True, None, None]
    assert document["final_metrics"] == {"total_prompt_tokens": 7, "total_cost_usd": 0.5, "total_steps": 4}
    ours = read(exported(session)).sessions[0]
    assert [each.copied_from is None for each in ours.actions] == [False, False, True, True]


def test_a_session_without_an_action_can_be_exported(project: Project) -> None:
    session = end_session(start_session(project, name="Empty", by="test").id)
    for name in EXPORTS:
        assert exported(session, name)
