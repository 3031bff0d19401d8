"""Inputs of the kinds that people reported as wrongly imported, kept outside this project.

`CASES_DIR` names their folder; by default it is `cases` beside the folder with the recordings.
"""

import os
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.recording.importing.sample_files import read
from tests.recording.importing.totals import totals
from timemachine.core.accounts.models import Project
from timemachine.governance.sharing.commands.links import unsaved_link
from timemachine.governance.sharing.preview import preview_of
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.pure.registry import detect_format
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.timeline.totals import summary_of
from timemachine.recording.usage.costs import CostQuery, costs
from timemachine.recording.usage.pure.span import Span
from timemachine.text.redaction.pure.profile import BUILT_IN

FORMATS_OF_FILES: dict[str, tuple[str, dict[str, Any]]] = {
    "formats-refused/cline_api_conversation_history.json": (
        "cline",
        {"from_user": 1, "from_agent": 1, "tool_calls": 1, "tool_results": 1, "unlinked": 0, "cost": None},
    ),
    "formats-refused/gemini.json": (
        "gemini_cli",
        {"from_user": 1, "from_agent": 1, "model_calls": 1, "tool_calls": 1, "tool_results": 1, "unlinked": 0,
         "input_tokens": 100, "output_tokens": 15, "reasoning_tokens": 5, "cost": None, "models": {"gemini-2.5-pro"}},
    ),
    "formats-refused/tau2.json": (
        "tau2_bench",
        {"from_user": 1, "model_calls": 1, "tool_calls": 1, "tool_results": 1, "unlinked": 0, "input_tokens": 90,
         "output_tokens": 9, "cost": 0.03, "models": {"gpt-4.1"}},
    ),
    "formats-refused/aider.chat.history.md": (
        "aider",
        {"sessions": 1, "from_user": 1, "from_agent": 1, "model_calls": 1, "input_tokens": 1200, "output_tokens": 30,
         "cost": 0.01, "models": {"gpt-4o"}},
    ),
    "codex-other-forms/old-rollout.jsonl": (
        "codex_older",
        {"from_user": 1, "from_agent": 1, "tool_calls": 1, "tool_results": 1, "unlinked": 0, "input_tokens": None,
         "cost": None, "models": set(), "skipped": 0},
    ),
    "formats-refused/openhands.json": (
        "openhands",
        {"from_user": 1, "model_calls": 1, "tool_calls": 1, "tool_results": 1, "unlinked": 0, "input_tokens": None,
         "cost": 0.01},
    ),
    "formats-refused/opencode-export.json": (
        "opencode",
        {"from_user": 0, "from_agent": 1, "model_calls": 1, "tool_calls": 1, "tool_results": 1, "unlinked": 0,
         "input_tokens": 10, "output_tokens": 5, "cost": 0.01, "models": {"anthropic:claude-sonnet-4-5"}},
    ),
}  # fmt: skip

TOTALS_OF_TRACES: dict[str, dict[str, Any]] = {
    "otel-agent-without-calls": {"input_tokens": 5_000, "output_tokens": 900, "cost_usd": 2.42, "unknown_cost_calls": 0, "tool_calls": 1},
    "otel-claude-code-spans": {"calls": 1, "tool_calls": 1, "input_tokens": 21_010, "output_tokens": 300, "cost_usd": 0.01428},
    "otel-embeddings-never-priced": {"calls": 1, "input_tokens": 1_400, "output_tokens": None, "cost_usd": 0.000182},
    "otel-operation-cost": {"calls": 1, "input_tokens": 100_000, "output_tokens": 1_000, "cost_usd": 0.36},
    "otel-vercel-ai": {"calls": 1, "tool_calls": 1, "input_tokens": 2_000, "output_tokens": 200, "cost_usd": 0.007, "unknown_cost_calls": 0},
    "otel-wrapper-spans-count-twice": {"calls": 1, "input_tokens": 1_000, "output_tokens": 100, "cost_usd": 0.0035, "unknown_cost_calls": 0},
    "langfuse-usage-buckets": {"calls": 1, "input_tokens": 9_510, "output_tokens": 50, "cost_usd": 0.005355},
}  # fmt: skip
"""Traces, as `timemachine session totals` shows them."""


@pytest.fixture(scope="module")
def cases() -> Path:
    """The folder with the cases."""
    recordings = os.environ.get("RECORDINGS_DIR", "")
    folder = Path(os.environ.get("CASES_DIR") or Path(recordings).parent / "cases")
    if not folder.is_dir():
        pytest.skip("set CASES_DIR to the folder with the cases")
    return folder


@pytest.mark.parametrize("name", FORMATS_OF_FILES)
def test_a_file_of_another_tool_has_the_totals_that_it_states(cases: Path, name: str) -> None:
    data = (cases / name).read_bytes()
    format_name, expected = FORMATS_OF_FILES[name]
    assert detect_format(data, name) == format_name
    found = totals(read(data))
    assert {each: found[each] for each in expected} == expected


@pytest.mark.django_db
def test_a_queued_prompt_of_claude_code_is_said_once(cases: Path, project: Project) -> None:
    import_file(project, (cases / "claude-queued-prompt/a.jsonl").read_bytes(), by="test")
    said = Action.objects.filter(kind="message", role="user").order_by("sequence")
    assert list(said.values_list("label", flat=True)) == ["Start the job.", "Also stop at noon."]


@pytest.mark.django_db
def test_a_title_of_claude_code_names_the_session(cases: Path, project: Project) -> None:
    import_file(project, (cases / "claude-titles/a.jsonl").read_bytes(), by="test")
    assert Session.objects.get().name == "Orchard plan"


@pytest.mark.django_db
@pytest.mark.parametrize("files", [("main", "subagent-a1b2"), ("subagent-a1b2", "main")])
def test_a_sub_agent_of_claude_code_stands_under_its_call(
    cases: Path, project: Project, files: tuple[str, str]
) -> None:
    for name in files:
        import_file(project, (cases / f"claude-subagent-file/{name}.jsonl").read_bytes(), by="test")
    session = Session.objects.get()
    parents = dict(session.actions.values_list("client_id", "parent_id_given"))
    call = session.actions.get(kind="tool_call", tool="Agent")
    for step in session.actions.filter(client_id__startswith="a1b2-"):
        above = step.client_id
        while above is not None and above != call.client_id:
            above = parents[above]
        assert above == call.client_id
        assert (step.agent, step.role) == ("agent-a1b2", "agent")
    assert (session.name, session.input_tokens, session.output_tokens) == ("Tour the farm.", 4500, 210)
    assert float(session.cost_usd or 0) == 0.01775


COSTS: dict[str, list[tuple[str | None, int]]] = {
    "claude-price-modifiers/fast.jsonl": [("15", 0)],
    "claude-price-modifiers/geo.jsonl": [("8.25", 0)],
    "claude-price-modifiers/web.jsonl": [("0.5075", 0)],
    "listed-prices-not-found/a.json": [("0.0117", 0)],
    "listed-prices-not-found/b.jsonl": [("0.0045", 0)],
}
"""For each session of a file, its cost in US dollars and the number of calls of unknown price."""


@pytest.mark.django_db
@pytest.mark.parametrize("name", COSTS)
def test_a_session_has_the_cost_of_its_calls(project: Project, cases: Path, name: str) -> None:
    done = import_file(project, (cases / name).read_bytes(), filename=name, by="test")
    found = [(each.session.cost_usd, each.session.unknown_cost_calls) for each in done.sessions]
    assert found == [(None if cost is None else Decimal(cost), unknown) for cost, unknown in COSTS[name]]


@pytest.mark.django_db
@pytest.mark.parametrize("files", [("1-first", "2-resumed"), ("2-resumed", "1-first")])
def test_lines_that_a_resumed_session_of_claude_code_repeats_count_once(
    cases: Path, project: Project, files: tuple[str, str]
) -> None:
    for name in files:
        import_file(project, (cases / f"claude-resume-copied-lines/{name}.jsonl").read_bytes(), by="test")
    calls = Action.objects.filter(kind="llm_call", copied_from__isnull=True)
    assert sorted(float(each.cost_usd or 0) for each in calls) == [0.05, 0.225]
    first, resumed = Session.objects.order_by("key")
    assert (resumed.parent, resumed.parent_sequence, first.parent) == (first, 3, None)


@pytest.mark.django_db
def test_calls_with_equal_ids_in_other_sessions_are_no_copies(cases: Path, project: Project) -> None:
    for name in ("fast", "geo", "web"):
        import_file(project, (cases / f"claude-price-modifiers/{name}.jsonl").read_bytes(), by="test")
    assert Action.objects.filter(kind="llm_call", copied_from__isnull=True).count() == 3
    assert not Session.objects.exclude(parent=None).exists()


@pytest.mark.django_db
@pytest.mark.parametrize("name", TOTALS_OF_TRACES)
def test_a_trace_has_the_totals_of_its_calls(cases: Path, project: Project, name: str) -> None:
    (imported,) = import_file(project, (cases / name / "a.json").read_bytes(), by="test").sessions
    found = summary_of(imported.session).model_dump()
    found |= {"calls": found["kinds"].get("llm_call", 0), "tool_calls": found["kinds"].get("tool_call", 0)}
    expected = TOTALS_OF_TRACES[name]
    assert {each: found[each] for each in expected} == expected


PASSWORDS_OF_COMMANDS = ("Tulipmeadow41", "Pebbleharbor17", "Lanterncopper62", "Harbortulip88")


@pytest.mark.django_db
def test_passwords_of_commands_are_withheld(cases: Path, project: Project) -> None:
    import_file(project, (cases / "redaction-passwords-of-commands/a.jsonl").read_bytes(), by="test")
    link = unsaved_link(project, Session.objects.get(), Terms(redaction=BUILT_IN), by="test")
    shown = preview_of(link)
    assert shown.total >= len(PASSWORDS_OF_COMMANDS)
    assert not [each for line in shown.lines for each in PASSWORDS_OF_COMMANDS if each in line.text]


COPIES: dict[str, dict[str, tuple[int, int, int, str]]] = {
    "atif-copied-context": {"atif-x1": (1, 2_000, 200, "0.25")},
    "codex-fork-copied-history": {
        "0c000000-0000-7000-8000-000000000001": (1, 100_000, 1_000, "0.045"),
        "0c000000-0000-7000-8000-000000000002": (1, 5_000, 500, "0.007875"),
    },
    "codex-subagent-inherited-count": {"0c000000-0000-7000-8000-000000000021": (1, 5_000, 500, "0.007875")},
}
"""Calls, tokens read and written, and US dollars of each session."""


@pytest.mark.django_db
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("name", COPIES)
def test_copied_context_is_in_no_sum(cases: Path, project: Project, name: str, backwards: bool) -> None:
    files = [each for each in sorted((cases / name).iterdir()) if each.suffix in {".json", ".jsonl"}]
    for file in reversed(files) if backwards else files:
        import_file(project, file.read_bytes(), by="test")
    found = {}
    for session in Session.objects.all():
        totals_of_session = summary_of(session)
        cost = Decimal(repr(totals_of_session.cost_usd))
        found[session.key] = (
            totals_of_session.kinds["llm_call"], totals_of_session.input_tokens, totals_of_session.output_tokens, str(cost)
        )  # fmt: skip
        assert (session.input_tokens, session.cost_usd) == (totals_of_session.input_tokens, cost)
    assert found == COPIES[name]
    if name == "codex-fork-copied-history":
        day = date(2026, 6, 9)
        spent = costs(project, CostQuery(span=Span(since=day, until=day)), "day").sums
        assert (spent.calls, spent.cost_usd) == (2, Decimal("0.052875"))
        assert Session.objects.get(parent__isnull=False).key.endswith("2")
