"""Files recorded by other people: each is imported without loss, and the counts match independent counts.

The counts here are made from the raw files by loops that know nothing of the importers.
"""

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.recording.importing.sample_files import read
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.pure.registry import detect_format
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.timeline.schemas.actions import ActionOut, with_everything

pytestmark = pytest.mark.recordings
FORMAT_OF = {
    "claude_code": "claude_code",
    "codex": "codex",
    "swe_agent": "swe_agent",
    "tau_bench": "tau_bench",
    "who_and_when": "who_and_when",
}


def files(recordings: Path, folder: str = "*") -> list[Path]:
    found = sorted(
        path for path in recordings.glob(f"{folder}/*") if path.is_file() and path.parent.name in FORMAT_OF
    )
    assert found
    return found


@cache
def parsed(path: Path) -> ParsedFile:
    """The result of the importer for a file."""
    return read(path.read_bytes())


def raw_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def counted_in_claude_code(path: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    answers = set()
    for line in raw_lines(path):
        if line["type"] not in {"user", "assistant"}:
            found["event"] += 1
            continue
        if line["type"] == "assistant":
            answers.add(line["message"]["id"])
        content = line["message"]["content"]
        for block in [{"type": "text"}] if isinstance(content, str) else content:
            found[{"tool_use": "tool_call", "tool_result": "tool_result"}.get(block["type"], "message")] += 1
    found["llm_call"] = len(answers)
    return found


def counted_in_codex(path: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    items = [line["payload"] for line in raw_lines(path) if line["type"] == "response_item"]
    for item in items:
        found[
            {"function_call": "tool_call", "function_call_output": "tool_result"}.get(item["type"], "message")
        ] += 1
    by_model = [
        item["type"] in {"reasoning", "function_call"} or item.get("role") == "assistant" for item in items
    ]
    before = [False, *by_model]
    found["llm_call"] = sum(now and not was for now, was in zip(by_model, before, strict=False))
    found["event"] = sum(line["type"] == "session_meta" for line in raw_lines(path))
    return found


def counted_in_swe_agent(path: Path) -> Counter[str]:
    run = json.loads(path.read_text(encoding="utf-8"))
    steps = len(run["trajectory"])
    system_messages = sum(message["role"] == "system" for message in run["history"])
    system_messages += sum(bool(message.get("is_demo")) for message in run["history"])
    system_messages += sum(
        "ISSUE:" in str(message["content"]) and not message.get("is_demo") for message in run["history"]
    )
    return Counter(
        {
            "llm_call": steps,
            "message": steps + system_messages,
            "tool_call": steps,
            "tool_result": steps,
            "event": 1,
        }
    )


def counted_in_tau_bench(path: Path) -> Counter[str]:
    found: Counter[str] = Counter()
    for run in json.loads(path.read_text(encoding="utf-8")):
        found["event"] += 1
        for message in run["traj"]:
            found["tool_call"] += len(message.get("tool_calls") or [])
            found["llm_call"] += message["role"] == "assistant"
            found["tool_result"] += message["role"] == "tool"
            found["message"] += message["role"] != "tool" and bool(message["content"])
    return found


def counted_in_who_and_when(path: Path) -> Counter[str]:
    case = json.loads(path.read_text(encoding="utf-8"))
    return Counter({"message": len(case["history"]) + len(case["system_prompt"]), "event": 1})


COUNTED = {
    "claude_code": counted_in_claude_code,
    "codex": counted_in_codex,
    "swe_agent": counted_in_swe_agent,
    "tau_bench": counted_in_tau_bench,
    "who_and_when": counted_in_who_and_when,
}


def test_every_recording_is_recognised_and_imported_without_loss(recordings: Path) -> None:
    for path in files(recordings):
        assert detect_format(path.read_bytes(), path.name) == FORMAT_OF[path.parent.name]
        assert parsed(path).report.skipped == []


@pytest.mark.parametrize("folder", COUNTED)
def test_the_counts_of_each_kind_match_the_raw_file(recordings: Path, folder: str) -> None:
    for path in files(recordings, folder):
        became = parsed(path).report.became
        assert became == {kind: n for kind, n in COUNTED[folder](path).items() if n}, path.name


@pytest.mark.django_db
def test_all_recordings_are_imported_once_and_completely(recordings: Path, project: Project) -> None:
    for path in files(recordings):
        first = import_file(project, path.read_bytes(), by="test", filename=path.name)
        assert all(each.already_there == 0 for each in first.sessions)
        rows = Action.objects.filter(session__in=[each.session for each in first.sessions])
        kinds = Counter(rows.values_list("kind", flat=True))
        assert kinds == {kind: n for kind, n in COUNTED[path.parent.name](path).items() if n}, path.name
        held = values_in([ActionOut.of(row).model_dump().get("source") for row in with_everything(rows)])
        assert raw_values(path) - held == Counter(), path.name
    stored = (Session.objects.count(), Action.objects.count())
    for path in files(recordings):
        second = import_file(project, path.read_bytes(), by="test", filename=path.name)
        assert all(each.already_there == each.actions for each in second.sessions)
    assert (Session.objects.count(), Action.objects.count()) == stored
    assert stored[0] == 2 + 2 + 2 + 32 + 4


def the_session(path: Path) -> SessionDraft:
    (session,) = parsed(path).sessions
    return session


def test_codex_calls_have_the_tokens_of_their_turn_and_results_have_their_call(recordings: Path) -> None:
    for path in files(recordings, "codex"):
        token_infos = [
            line["payload"]["info"]
            for line in raw_lines(path)
            if line["payload"].get("type") == "token_count"
        ]
        token_infos = [info for info in token_infos if info]
        actions = the_session(path).actions
        usages = [action.usage for action in actions if action.kind == "llm_call"]
        last = [info["last_token_usage"] for info in token_infos]
        assert [each.input_tokens for each in usages if each] == [each["input_tokens"] for each in last]
        assert sum(each.output_tokens or 0 for each in usages if each) == sum(
            each["output_tokens"] for each in last
        )
        assert sum(each.cached_tokens or 0 for each in usages if each) == sum(
            each["cached_input_tokens"] for each in last
        )
        assert {action.model for action in actions if action.kind == "llm_call"} == {"openai:gpt-5-codex"}
        assert all(action.parent for action in actions if action.kind in {"tool_call", "tool_result"})
        repeated = sum(
            line["payload"].get("type") in {"user_message", "agent_message", "agent_reasoning"}
            for line in raw_lines(path)
            if line["type"] == "event_msg"
        )
        (note,) = parsed(path).report.notes
        assert note.startswith(f"{repeated} event_msg lines")


def test_swe_agent_steps_have_times_and_the_run_has_tokens_and_cost(recordings: Path) -> None:
    for path in files(recordings, "swe_agent"):
        run = json.loads(path.read_text(encoding="utf-8"))
        actions = the_session(path).actions
        took = [action.duration_ms for action in actions if action.kind == "tool_result"]
        assert took == [
            None if (time := step.get("execution_time")) is None else time * 1000
            for step in run["trajectory"]
        ]
        stats = run["info"]["model_stats"]
        end = actions[-1]
        if stats["tokens_sent"]:
            assert end.usage is not None
            assert end.usage.input_tokens == stats["tokens_sent"]
            assert float(end.cost_usd or 0) == stats["instance_cost"]
        else:  # it counted none of its calls
            assert stats["api_calls"] > 0
            assert (end.usage, end.cost_usd) == (None, None)
        assert [action.input for action in actions if action.kind == "tool_call"] == [
            step["action"] for step in run["trajectory"]
        ]


def test_each_run_of_tau_bench_is_a_session_with_its_reward(recordings: Path) -> None:
    (path,) = files(recordings, "tau_bench")
    runs = json.loads(path.read_text(encoding="utf-8"))
    sessions = parsed(path).sessions
    assert [(s.metadata["task_id"], s.metadata["trial"], s.metadata["reward"]) for s in sessions] == [
        (run["task_id"], run["trial"], run["reward"]) for run in runs
    ]
    for session in sessions:
        assert all(action.parent for action in session.actions if action.kind == "tool_result")


def test_the_labelled_mistake_is_the_significant_step(recordings: Path) -> None:
    for path in files(recordings, "who_and_when"):
        case = json.loads(path.read_text(encoding="utf-8"))
        session = the_session(path)
        (wrong,) = [action for action in session.actions if action.significance == "error"]
        assert wrong.output == case["history"][int(case["mistake_step"])]["content"]
        assert (wrong.agent, wrong.tags) == (case["mistake_agent"], ("mistake",))
        assert session.metadata["mistake_reason"] == case["mistake_reason"]


def values_in(value: Any) -> Counter[str]:
    """All texts, numbers and flags in it, at any depth."""
    if isinstance(value, dict):
        return sum((values_in(each) for each in value.values()), Counter())
    if isinstance(value, list | tuple):
        return sum((values_in(each) for each in value), Counter())
    return Counter() if value in (None, "") else Counter([json.dumps(value)])


@cache
def raw_values(path: Path) -> Counter[str]:
    text = path.read_text(encoding="utf-8")
    return values_in(raw_lines(path) if path.suffix == ".jsonl" else json.loads(text))


@pytest.mark.parametrize("folder", FORMAT_OF)
def test_every_value_is_in_step_sources_as_often_as_in_the_file(recordings: Path, folder: str) -> None:
    for path in files(recordings, folder):
        sessions = parsed(path).sessions
        stored = values_in([action.source for session in sessions for action in session.actions])
        assert raw_values(path) - stored == Counter(), path.name


def texts_in_codex(path: Path) -> list[Any]:
    items = [line["payload"] for line in raw_lines(path) if line["type"] == "response_item"]
    return [block["text"] for item in items if item["type"] == "message" for block in item["content"]]


def texts_in_swe_agent(path: Path) -> list[Any]:
    steps = json.loads(path.read_text(encoding="utf-8"))["trajectory"]
    return [step[part] for step in steps for part in ("thought", "action", "observation")]


def texts_in_tau_bench(path: Path) -> list[Any]:
    runs = json.loads(path.read_text(encoding="utf-8"))
    return [message["content"] for run in runs for message in run["traj"]]


def texts_in_who_and_when(path: Path) -> list[Any]:
    return [each["content"] for each in json.loads(path.read_text(encoding="utf-8"))["history"]]


TEXTS_OF = {
    "codex": texts_in_codex,
    "swe_agent": texts_in_swe_agent,
    "tau_bench": texts_in_tau_bench,
    "who_and_when": texts_in_who_and_when,
}


@pytest.mark.parametrize("folder", TEXTS_OF)
def test_every_message_text_is_in_step_inputs_or_outputs_as_often_as_in_the_file(
    recordings: Path, folder: str
) -> None:
    for path in files(recordings, folder):
        actions = [action for session in parsed(path).sessions for action in session.actions]
        stored = values_in([(action.input, action.output) for action in actions])
        assert values_in(TEXTS_OF[folder](path)) - stored == Counter(), path.name
