"""Imported exports of other formats: errors, costs, roles and agents are restored, and no times are invented."""

import json
from decimal import Decimal
from typing import Any

import pytest

from tests.recording.importing.exports.test_exporting import exported, recorded
from tests.recording.importing.sample_files import read
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import parse_time
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage, copy_of
from timemachine.recording.sessions.pure.validation import copied_from_in

pytestmark = pytest.mark.django_db
AT = parse_time("2026-11-20T09:00:00Z")
CALL: dict[str, Any] = {
    "kind": "llm_call",
    "model": "openai:gpt-x",
    "started_at": AT,
    "usage": Usage(input_tokens=3),
}


def reimported(project: Project, format_name: str, *some: ActionDraft, **fields: Any) -> list[ActionDraft]:
    return list(read(exported(recorded(project, some, **fields), format_name)).sessions[0].actions)


@pytest.mark.parametrize("cost", ["0", "0.25"])
def test_costs_and_cache_savings_survive_spans(project: Project, cost: str) -> None:
    call = ActionDraft(**CALL, cost_usd=Decimal(cost), cached=True, saved_usd=Decimal("0.5"))
    (found,) = reimported(project, "otlp_json", call)
    assert (found.cost_usd, found.cached, found.saved_usd) == (Decimal(cost), True, Decimal("0.5"))


def test_an_unknown_cost_and_an_uncached_answer_survive_spans(project: Project) -> None:
    (found,) = reimported(project, "otlp_json", ActionDraft(**CALL, cached=False))
    assert (found.cost_usd, found.cached, found.saved_usd) == (None, False, None)


def test_a_placeholder_time_of_a_span_is_not_imported(project: Project) -> None:
    some = [
        ActionDraft(kind="event", started_at=AT, name="instant"),
        ActionDraft(kind="event", started_at=AT, duration_ms=0, name="zero"),
        ActionDraft(kind="event", name="undated"),
    ]
    found = {
        each.name: (each.started_at, each.duration_ms) for each in reimported(project, "otlp_json", *some)
    }
    assert found == {"instant": (AT, None), "zero": (AT, 0), "undated": (None, None)}


FAILED: dict[str, Any] = {"error_type": "timeout", "error_message": "It took too long."}


@pytest.mark.parametrize("format_name", ["atif", "zip"])
def test_errors_survive_an_export(project: Project, format_name: str) -> None:
    some = [
        ActionDraft(**CALL, **FAILED),
        ActionDraft(
            kind="tool_call", role="agent", tool="bash", call_id="t1", started_at=AT, error_type="only"
        ),
        ActionDraft(kind="tool_result", role="tool", tool="bash", call_id="t1", error_message="no such file"),
        ActionDraft(kind="tool_call", role="agent", tool="bash", started_at=AT, **FAILED),
        ActionDraft(kind="message", role="user", output="Hi", **FAILED),
        ActionDraft(kind="checkpoint", name="here", output={}, **FAILED),
        ActionDraft(kind="tool_result", role="tool", tool="bash", output="fine"),
    ]
    found = [(each.error_type, each.error_message) for each in reimported(project, format_name, *some)]
    failed = [each for each in found if each != (None, None)]
    timeout = ("timeout", "It took too long.")
    assert sorted(map(str, failed)) == sorted(
        map(str, [timeout] * 4 + [("only", None), (None, "no such file")])
    )


@pytest.mark.parametrize("format_name", ["atif", "zip"])
@pytest.mark.parametrize("role", [None, "tool", "user", "system", "agent"])
def test_a_message_keeps_its_role(project: Project, format_name: str, role: str | None) -> None:
    found = reimported(project, format_name, ActionDraft(kind="message", role=role, output="Hi"))
    assert [each.role for each in found if each.kind == "message"] == [role]


@pytest.mark.parametrize("agent", [None, "mender"])
def test_a_zip_in_our_format_keeps_its_agents(project: Project, agent: str | None) -> None:
    some = [
        ActionDraft(kind="event", agent="helper"),
        ActionDraft(kind="checkpoint", name="c"),
        ActionDraft(kind="event"),
    ]
    found = read(exported(recorded(project, some, agent=agent), "zip")).sessions[0]
    assert found.agent == agent
    assert {each.agent for each in found.actions if each.name != "metadata"} == {"helper", None}


@pytest.mark.parametrize("agent", [None, "unknown", "mender"])
def test_a_trajectory_in_our_format_adds_no_agent(project: Project, agent: str | None) -> None:
    found = read(exported(recorded(project, [ActionDraft(**CALL)], agent=agent), "atif")).sessions[0]
    assert (found.agent, {each.agent for each in found.actions}) == (agent, {agent})
    assert "agent_version" not in found.metadata


def test_calls_without_a_tool_or_an_id_keep_their_own_errors(project: Project) -> None:
    calls = [
        ActionDraft(kind="tool_call", role="agent", tool="bash"),
        ActionDraft(kind="tool_call", role="agent", call_id="t1", error_type="only"),
        ActionDraft(kind="tool_call", role="agent", error_type="last"),
    ]
    found = [each for each in reimported(project, "atif", *calls) if each.kind == "tool_call"]
    assert [(each.tool, each.call_id, each.error_type) for each in found] == [
        ("bash", None, None),
        (None, "t1", "only"),
        (None, None, "last"),
    ]


def test_a_trajectory_has_no_total_cost_if_one_cost_is_unknown(project: Project) -> None:
    known, unknown = ActionDraft(**CALL, cost_usd=Decimal("0.5")), ActionDraft(**CALL)
    for some, total, extra in (
        ([known, known], 1.0, {}),
        ([known, unknown], None, {"known_cost_usd": 0.5, "unknown_cost_calls": 1}),
        ([unknown], None, {"known_cost_usd": None, "unknown_cost_calls": 1}),
        ([known, ActionDraft(kind="ask", output="A tool said so.")], 0.5, {}),
        ([known, ActionDraft(kind="llm_call")], None, {"known_cost_usd": 0.5, "unknown_cost_calls": 1}),
        ([ActionDraft(kind="message", model="a:b")], None, {"known_cost_usd": None, "unknown_cost_calls": 1}),
    ):
        session = recorded(project, some)
        document = json.loads(exported(session, "atif"))
        assert document["final_metrics"].get("total_cost_usd") == total
        assert document["extra"].get("unknown_cost_calls", 0) == session.unknown_cost_calls
        assert {name: each for name, each in document["extra"].items() if name != "timemachine"} == extra


COPIED: list[ActionDraft] = [
    ActionDraft(**CALL, cost_usd=Decimal("0.25"), copied_from=copy_of("before", "a1")),
    ActionDraft(kind="message", role="user", output="Hi", copied_from=copy_of("before", 7)),
    ActionDraft(kind="tool_call", role="agent", tool="bash", input={}, copied_from=copy_of("before")),
    ActionDraft(kind="checkpoint", name="here", output={}, copied_from=copy_of()),
    ActionDraft(kind="message", role="user", output="More"),
]


@pytest.mark.parametrize("format_name", ["otlp_json", "zip"])
def test_copied_steps_keep_their_origin(project: Project, format_name: str) -> None:
    found = [
        each.copied_from for each in reimported(project, format_name, *COPIED) if each.name != "metadata"
    ]
    assert sorted(map(str, found)) == sorted(str(each.copied_from) for each in COPIED)


def test_copied_steps_keep_their_mark_in_a_trajectory(project: Project) -> None:
    found = reimported(project, "atif", *COPIED)
    said = {each.output: each.copied_from for each in found if each.kind == "message" and each.role == "user"}
    assert said == {"Hi": copy_of(), "More": None}


def test_other_tools_do_not_count_copied_steps_of_spans(project: Project) -> None:
    file = exported(recorded(project, COPIED[:1]), "otlp_json").decode()
    assert "gen_ai.usage.input_tokens" not in file
    assert "gen_ai.usage.cost" not in file


@pytest.mark.parametrize(
    "odd", [7, {"session": "a"}, {"session": 1, "step": 1}, {"session": "x" * 1_001, "step": None}]
)
def test_an_odd_origin_is_none(odd: Any) -> None:
    assert copied_from_in(odd) is None
