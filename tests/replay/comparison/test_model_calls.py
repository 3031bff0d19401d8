"""Comparisons over model calls: agreement on the action, the tools and the arguments, in total and by agent and tool."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from pytest_django import Settings

from tests.api.conftest import program
from tests.builders import compared
from tests.replay.continuation.conftest import stubbed
from tests.replay.runs.test_model_calls import QUESTION, READ, SYSTEM, a_call, asked
from tests.stub_model_server import Script, StubModelServer
from tests.web.people import browser_of
from tests.web.visitors import opened, shared
from timemachine.cli.output.comparisons import comparison_lines
from timemachine.core.accounts.models import Project
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.replay.comparison.groups import groups_of
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.pure.findings import Findings, findings
from timemachine.replay.comparison.queries import asks_of
from timemachine.text.redaction.commands import make_profile
from timemachine.text.redaction.pure.rules import read_rules
from timemachine.text.redaction.queries import as_profile

MODELS = ["openai:gpt-4o", "openai:gpt-4o-mini"]
"""The first does what was recorded; the second calls another tool, other arguments, and none."""


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[StubModelServer]:
    with stubbed(monkeypatch, settings) as server:
        yield server


@pytest.fixture
def session(db: None, project: Project) -> Session:
    session = start_session(project, name="Agents at work", by="test")
    first, second, third = (
        {"role": "user", "content": f"{word} task"} for word in ("First", "Second", "Third")
    )
    append(
        session.id,
        [
            asked([SYSTEM, first], READ),
            asked([SYSTEM, second], READ),
            asked([SYSTEM, third], a_call("delete_file", path="notes.txt"), agent="cleaner"),
            asked([SYSTEM, QUESTION], "It says: buy milk."),
        ],
    )
    return session


@pytest.fixture
def comparison(session: Session, stub: StubModelServer) -> Comparison:
    notes = {"path": "notes.txt"}
    for question, tools in (
        ("First task", (("read_file", notes),)),
        ("Second task", (("read_file", notes),)),
        ("Third task", (("delete_file", notes),)),
    ):
        stub.script(Script(question=question, model="gpt-4o", answer="", tools=tools))
    for question, tools in (
        ("First task", (("read_file", {"path": "other.txt"}),)),
        ("Second task", (("read_file", notes),)),
        ("Third task", (("read_file", notes),)),
    ):
        stub.script(Script(question=question, model="gpt-4o-mini", answer="", tools=tools))
    stub.script(Script(question="What does notes.txt say?", answer="It says: buy milk."))
    return compared(session.project, [session], *MODELS)


def found_in(comparison: Comparison) -> Findings:
    return findings(asks_of(comparison), len(MODELS), noise_floor=False)


def test_each_variant_says_how_often_it_did_the_same(comparison: Comparison) -> None:
    recording, same, other = found_in(comparison).columns
    assert (same.agreement, same.same_tools, same.same_arguments) == (1.0, 1.0, 1.0)
    assert (other.agreement, other.same_tools) == (0.5, 0.75)
    assert other.same_arguments == 0.5
    assert (recording.agreement, recording.same_tools) == (None, None)
    assert other.verdicts == {"identical": 2, "other_arguments": 1, "other_tool": 1}


def test_two_variants_are_compared_on_tools_and_arguments_and_not_on_passages(comparison: Comparison) -> None:
    (pair,) = [each for each in found_in(comparison).pairs if each.a == 1]
    by_metric = {each.metric: each for each in pair.results}
    assert "grounding" not in by_metric
    assert (by_metric["same_tools"].n, by_metric["same_tools"].difference) == (4, -0.25)
    assert by_metric["same_arguments"].n == 2


def test_asks_alone_have_no_metrics_of_tools(db: None, recorded_once: Session, settings: Settings) -> None:
    settings.MODEL_CALLS_AT_ONCE = 1
    settings.LEASE_SECONDS = 600  # a busy machine takes longer than the usual lease
    made = compared(recorded_once.project, [recorded_once], "local:extractive-1", "local:extractive-3")
    (pair,) = [each for each in found_in(made).pairs if each.a == 1]
    assert not {"same_tools", "same_arguments"} & {each.metric for each in pair.results}
    assert groups_of(made) == []


def test_pages_files_and_the_command_speak_of_model_calls(comparison: Comparison, project: Project) -> None:
    finding = (
        "openai:gpt-4o does what was recorded in 4 of 4 model calls for $0.000095, openai:gpt-4o-mini in 2 "
    )
    browser = browser_of(project)
    shown = browser.get(f"/comparisons/{comparison.id}/").text
    assert re.search(r"\b(?:ask|asks|question|questions)\b", _steps_and_statistics(shown)) is None
    places = [shown.index(text) for text in (finding, 'id="matrix"', 'id="findings"', 'id="groups"')]
    assert places == sorted(places)
    assert "4 model calls" in shown
    found = program(project).get(f"/comparisons/{comparison.id}").json()
    assert (found["asks"], found["model_calls"]) == (0, 4)
    assert found["summary"].startswith(finding)
    parts = "openai:gpt-4o-mini first diverges from the recording at step 1, where it calls the tool with different arguments."
    assert found["summary"].endswith(parts)
    assert parts in shown
    assert [
        (each["arm"], (each["first_divergence"] or {}).get("sequence")) for each in found["partings"]
    ] == [(1, None), (2, 1)]
    assert "of 4 model calls" in found["pairs"][2]["metrics"][0]["sentence"]
    lines = list(comparison_lines(found, "http://host"))
    assert lines[0] == found["summary"]
    assert "steps       4 model calls, each 1 time per variant" in lines
    assert any(line.startswith("tool read_file") for line in lines)
    assert any(line.startswith("no tool ") for line in lines)
    assert any(line.startswith("2 openai:gpt-4o-mini") and line.endswith("step 1") for line in lines)
    visitor, path = opened(shared(project, comparison)[1])
    assert parts in visitor.get(path).text
    csv = browser.get(f"/comparisons/{comparison.id}/export.csv").text.splitlines()
    assert csv[0].startswith("session,session_name,session_key,sequence,kind,label,arm")
    assert ",1,llm_call," in csv[1]


def _steps_and_statistics(page: str) -> str:
    """The words of the page before the form that asks a judge model, without what is in closed details."""
    main = page[page.index("<main") : page.index('id="judges"')]
    return re.sub(
        r"<[^>]+>", " ", re.sub(r"<details class=\"more\">.*?</details>", "", main, flags=re.DOTALL)
    )


def test_calls_are_grouped_by_agent_and_by_recorded_tool(comparison: Comparison) -> None:
    groups = groups_of(comparison)
    assert [(each.by, each.name) for each in groups] == [
        ("agent", "reader"),
        ("agent", "cleaner"),
        ("tool", "read_file"),
        ("tool", "delete_file"),
        ("tool", "no tool"),
    ]
    _, other = groups[2].arms
    assert (other.calls, other.same_action, other.same_tools, other.same_arguments) == (2, 0.5, 1.0, 0.5)
    _, other = groups[3].arms
    assert (other.same_action, other.same_tools, other.same_arguments) == (0.0, 0.0, None)


@pytest.mark.parametrize(
    ("rules", "withheld"),
    [
        (None, set()),
        ({"patterns": [{"name": "tool", "pattern": "delete_file"}]}, {"delete_file"}),
        ({"fields": ["agent"]}, {"reader", "cleaner"}),
        ({"fields": ["output"]}, {"read_file", "delete_file", "no tool"}),
    ],
)
def test_a_link_shows_the_calls_by_agent_and_tool_without_the_names_that_its_profile_withholds(
    comparison: Comparison, project: Project, rules: dict[str, Any] | None, withheld: set[str]
) -> None:
    profile = as_profile(make_profile(project, "P", read_rules(rules), by="test")) if rules else None
    visitor, path = opened(shared(project, comparison, Terms(redaction=profile))[1])
    table = visitor.get(path).text.partition('id="groups"')[2].partition('id="matrix"')[0]
    heads = "".join(re.findall(r'<th scope="rowgroup".*?</th>', table, re.DOTALL))
    groups = groups_of(comparison)
    assert heads.count("</th>") == len(groups)
    assert {each.name for each in groups if f"<bdi>{each.name}</bdi>" not in heads} == withheld


def test_requests_of_which_only_turns_were_recorded_are_not_compared_with_the_recording_by_cost(
    project: Project, stub: StubModelServer
) -> None:
    session = start_session(project, name="Turns", by="test")
    spoken = ActionDraft(
        kind="llm_call", output="Four.", model=MODELS[0], usage=Usage(input_tokens=900), cost_usd=Decimal(1)
    )
    question = ActionDraft(kind="message", role="user", output="How many?")
    append(session.id, [step for _ in range(8) for step in (question, spoken)])
    found = found_in(compared(project, [session], *MODELS))
    assert all(ask.incomplete for ask in found.asks)
    by_pair = {(pair.a, pair.b): {each.metric: each for each in pair.results} for pair in found.pairs}
    for metric in ("cost", "latency", "tokens"):
        assert by_pair[0, 1][metric].n == 0
    assert by_pair[0, 1]["answered"].n == 8
    assert by_pair[1, 2]["tokens"].n == 8


def test_whole_requests_are_compared_with_the_recording_by_cost(comparison: Comparison) -> None:
    assert not any(ask.incomplete for ask in found_in(comparison).asks)
