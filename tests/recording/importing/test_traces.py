"""ATIF, LangSmith, Langfuse and Inspect: how their records are imported."""

import copy
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from tests.recording.importing.sample_files import archive, document, lines
from tests.recording.importing.samples import ATIF
from tests.recording.importing.trace_samples import (
    INSPECT,
    INSPECT_EVAL,
    INSPECT_HEAD,
    INSPECT_SAMPLE,
    LANGFUSE_SESSION,
    LANGFUSE_TRACE,
    LANGSMITH,
)
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure.attachments import Attachments
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage, copy_of


def read(name: str, value: Any) -> ParsedFile:
    return FORMATS[name].read(value if isinstance(value, bytes) else document(value))


def outline(actions: tuple[ActionDraft, ...]) -> list[tuple[str, str | None, str | None]]:
    return [(each.kind, each.role, each.tool or each.name) for each in actions]


def test_copied_steps_of_atif_are_marked_and_leave_the_sums_to_the_others() -> None:
    copied = {
        "source": "agent",
        "message": "Built.",
        "metrics": {"prompt_tokens": 1_000},
        "is_copied_context": True,
    }
    own = {"source": "agent", "message": "Added.", "is_copied_context": False}
    sums = {"total_prompt_tokens": 2_000}
    (found,) = read("atif", {"session_id": "s", "steps": [copied, own], "final_metrics": sums}).sessions
    used = {each.copied_from is None: each.usage.input_tokens for each in found.actions if each.usage}
    assert used == {False: 1_000, True: 2_000}
    assert [each.copied_from for each in found.actions if each.output == "Built."] == [copy_of()]


def atif(*metrics: dict[str, Any], whole: float, **more: Any) -> SessionDraft:
    """A trajectory of agent steps with these metrics; those with `copied` are copies."""
    steps = [
        {"source": "agent", "message": "Done.", "metrics": each, "is_copied_context": "copied" in each}
        for each in metrics
    ]
    about = {"session_id": "s", "agent": {"name": "bot", "model_name": "openai/gpt-4o"}}
    return read("atif", about | {"steps": steps, "final_metrics": {"total_cost_usd": whole}} | more).sessions[
        0
    ]


def test_the_cost_of_an_atif_run_is_not_added_to_prices_of_its_calls() -> None:
    with_cost = {"prompt_tokens": 1_000, "completion_tokens": 100, "cost_usd": 0.1}
    without = {"prompt_tokens": 2_000, "completion_tokens": 200, "cached_tokens": 500}
    found = atif(with_cost, without, without, whole=0.5)
    first, second, _, end = [each for each in found.actions if each.kind != "message"]
    assert (first.model, first.cost_usd) == ("openai:gpt-4o", Decimal("0.1"))
    assert (second.model, second.usage, second.cost_usd) == (None, None, None)
    assert second.metadata == {"model": "openai:gpt-4o", "metrics": without}
    assert end.cost_usd == Decimal("0.4")
    assert end.usage == Usage(input_tokens=4_000, output_tokens=400, cached_tokens=1_000)


@pytest.mark.parametrize("whole", [0.1, 0.05, 0.3, 0.6, 0.8])
def test_a_sum_of_atif_that_has_costs_of_other_sessions_is_not_spent_again(whole: float) -> None:
    own = {"prompt_tokens": 1_000, "cost_usd": 0.1}
    copied = {"prompt_tokens": 1_000, "cost_usd": 0.2, "copied": True}
    inner = [
        {"session_id": "inner", "steps": [{"source": "user"}], "final_metrics": {"total_cost_usd": 0.5}},
        5,
    ]
    found = atif(own, copied, whole=whole, subagent_trajectories=inner)
    spent = [each.cost_usd for each in found.actions if each.copied_from is None and each.cost_usd]
    assert spent == [Decimal("0.1")]


def test_a_sum_of_atif_that_has_the_tokens_of_copies_is_not_the_cost_of_its_own_steps() -> None:
    counts = {"prompt_tokens": 1_000, "completion_tokens": 100}
    sums = {"total_prompt_tokens": 2_000, "total_completion_tokens": 200, "total_cost_usd": 0.75}
    found = atif(counts, counts | {"copied": True}, whole=0.75, final_metrics=sums)
    assert not [each for each in found.actions if each.cost_usd is not None]
    assert [each.model for each in found.actions if each.kind == "llm_call"] == ["openai:gpt-4o"] * 2

    own = sums | {"total_prompt_tokens": 1_000, "total_completion_tokens": 100}
    found = atif(counts, counts | {"copied": True}, whole=0.75, final_metrics=own)
    assert [each.cost_usd for each in found.actions if each.cost_usd is not None] == [Decimal("0.75")]


def test_an_atif_step_is_a_model_call_with_its_parts_as_children() -> None:
    main, sub = read("atif", ATIF).sessions
    assert outline(main.actions) == [
        ("message", "system", None),
        ("message", "user", None),
        ("llm_call", "agent", None),
        ("message", "agent", "thinking"),
        ("message", "agent", None),
        ("tool_call", "agent", "ls"),
        ("tool_result", "tool", "ls"),
        ("tool_result", "tool", None),
        ("message", "agent", None),
        ("event", "system", "trajectory"),
    ]
    call, _, _, made, returned, loose = main.actions[2:8]
    assert call.model == "openai:gpt-x"
    assert call.usage == Usage(input_tokens=100, output_tokens=10, cached_tokens=80)
    assert (call.cost_usd, call.parameters) == (Decimal("0.002"), {"reasoning_effort": "low"})
    assert (made.parent, returned.parent, loose.parent) == (call.id, made.id, None)
    assert loose.output["subagent_trajectory_ref"] == [{"trajectory_id": "at1-sub"}]
    assert (main.key, sub.key, sub.forked_from) == ("at1-main", "at1-sub", "at1-main")
    assert main.actions[-1].usage is None
    assert sub.actions[-1].usage == Usage(input_tokens=7)
    assert sub.actions[-1].cost_usd == Decimal("0.001")


def test_records_that_are_neither_steps_nor_trajectories_are_skipped() -> None:
    empty = {"step_id": 2, "source": "agent", "llm_call_count": 0}
    result = read("atif", {"schema_version": "ATIF-v1.7", "steps": [7, empty], "subagent_trajectories": [8]})
    assert [each.reason for each in result.report.skipped] == [
        "It is not an object, so it is not a step.",
        "It is not an object, so it is not a trajectory.",
    ]
    assert outline(result.sessions[0].actions)[0] == ("message", "agent", None)
    with pytest.raises(InvalidInput, match="it has no `steps`"):
        read("atif", {"schema_version": "ATIF-v1.7"})


def test_two_trajectories_of_one_session_keep_all_their_steps() -> None:
    step = {"step_id": 1, "source": "user", "message": "one"}
    first = read("atif", {"session_id": "s", "steps": [step]}).sessions[0]
    second = read("atif", {"session_id": "s", "steps": [step | {"message": "two"}]}).sessions[0]
    assert first.key == second.key == "s"
    assert first.actions[0].id != second.actions[0].id


def test_langsmith_runs_are_ordered_by_time_under_their_parents() -> None:
    (session,) = read("langsmith", lines(*LANGSMITH)).sessions
    assert outline(session.actions) == [
        ("event", "agent", "answer"),
        ("find", "agent", "search"),
        ("llm_call", "agent", "ChatModel"),
        ("tool_call", "agent", "lookup"),
        ("tool_result", "tool", "lookup"),
    ]
    top, found, call, tool, result = session.actions
    assert (session.key, session.name, session.metadata["project"]) == ("t1", "answer", "project")
    assert (found.parent, call.parent, tool.parent, result.parent) == ("r1", "r1", "r1", "r4")
    assert found.retrieval is not None
    assert [(hit.rank, hit.text, hit.score, hit.uri, hit.frame) for hit in found.retrieval.hits] == [
        (1, "Zoë did.", 0.9, "a.md", "f1"),
        (2, None, None, None, None),
    ]
    assert (call.model, call.cost_usd, call.duration_ms) == ("openai:gpt-x", Decimal("0.0012"), 1500)
    assert call.usage == Usage(input_tokens=50, output_tokens=5, total_tokens=55)
    assert (tool.error_type, result.error_type, result.error_message) == (
        None,
        "run_error",
        "ValueError('no 7')",
    )
    assert top.started_at == datetime(2026, 3, 1, 10, tzinfo=UTC)
    assert top.tags == ("chain",)


def test_cached_tokens_of_a_langsmith_run_are_counted_as_cached() -> None:
    details = {
        "input_token_details": {"cache_read": 90_000, "cache_creation": 5},
        "output_token_details": {"reasoning": 7},
    }
    run = {
        "id": "a",
        "trace_id": "x",
        "run_type": "llm",
        "prompt_tokens": 100_000,
        "outputs": {"usage_metadata": {"input_tokens": 1, "output_tokens": 10, **details}},
    }
    (call,) = read("langsmith", {"runs": [run]}).sessions[0].actions
    assert call.usage == Usage(
        input_tokens=100_000, output_tokens=10, cached_tokens=90_000, cache_write_tokens=5, reasoning_tokens=7
    )


def test_langsmith_runs_without_a_thread_become_a_session_per_trace() -> None:
    bare = [
        {"id": "a", "trace_id": "x", "run_type": "llm", "outputs": {"usage_metadata": {"input_tokens": 3}}},
        {"id": "b", "trace_id": "y", "run_type": "tool", "parent_run_id": "b"},
        {"run_type": "chain"},
        {"id": "c"},
        7,
    ]
    result = read("langsmith", {"runs": bare})
    assert [session.key for session in result.sessions][:2] == ["x", "y"]
    assert result.sessions[0].actions[0].usage == Usage(input_tokens=3)
    assert len(result.sessions[1].actions) == 1
    assert len(result.report.skipped) == 2
    with pytest.raises(InvalidInput, match="no record in it has a `run_type`"):
        read("langsmith", [{"id": 1}])


def test_a_langfuse_trace_is_a_tree_with_its_scores() -> None:
    (session,) = read("langfuse", LANGFUSE_TRACE).sessions
    assert outline(session.actions) == [
        ("event", "agent", "chat"),
        ("event", "agent", "flow"),
        ("find", "agent", "search"),
        ("llm_call", "agent", "answer"),
        ("tool_call", "agent", "find"),
        ("tool_result", "tool", "find"),
        ("event", "system", "helpful"),
        ("event", "system", "exact"),
    ]
    trace, flow, found, call, tool, result, helpful, exact = session.actions
    assert (session.key, session.user, session.name) == ("ls1", "u7", "chat")
    assert [each.parent for each in (trace, flow, found, call, tool, result, helpful, exact)] == [
        None, "tr1", "tr1", "o1", "tr1", "o3", "tr1", "o2",
    ]  # fmt: skip
    assert call.usage == Usage(input_tokens=100, output_tokens=5, total_tokens=105, cached_tokens=80)
    assert (call.model, call.cost_usd, call.duration_ms) == ("gpt-x", Decimal("0.003"), 1000)
    assert (found.error_type, found.error_message) == ("ERROR", "index is gone")
    assert (tool.output, result.output) == (None, 8)


def test_a_langfuse_session_is_one_session_with_all_its_traces() -> None:
    (session,) = read("langfuse", LANGFUSE_SESSION).sessions
    assert session.key == "ls2"
    assert [(each.name, each.kind) for each in session.actions] == [
        ("chat", "event"),
        ("trace", "event"),
        ("comment", "event"),
    ]


def test_records_that_are_not_traces_are_skipped_and_older_usage_fields_are_read() -> None:
    older = {
        "id": "t",
        "projectId": "p",
        "observations": [
            7,
            {"id": "o", "type": "GENERATION", "usage": {"input": 3, "output": 4}, "calculatedTotalCost": 0.5},
            {"id": "t", "type": "TOOL", "parentObservationId": "t"},
            {"id": "e", "type": "GENERATION"},
        ],
    }
    result = read(
        "langfuse", [older, {"id": "x"}, 7, LANGFUSE_SESSION | {"traces": [{"id": "y", "sessionId": "z"}, 8]}]
    )
    calls = [each for each in result.sessions[0].actions if each.kind == "llm_call"]
    assert (calls[0].usage, calls[0].cost_usd) == (Usage(input_tokens=3, output_tokens=4), Decimal("0.5"))
    assert calls[1].usage is None
    assert [session.key for session in result.sessions] == ["t", "z"]
    assert [each.reason for each in result.report.skipped] == [
        "It is not an object.",
        "It is not a trace and does not contain one.",
        "It is not an object.",
        "It is not an object, so it is not a trace.",
    ]
    with pytest.raises(InvalidInput, match="it contains no trace"):
        read("langfuse", [{"id": "x"}])


def test_an_inspect_sample_is_a_session_without_duplicate_messages() -> None:
    result = read("inspect", INSPECT)
    one, two = result.sessions
    assert outline(one.actions) == [
        ("message", "user", None),
        ("event", "system", "sample_init"),
        ("llm_call", "agent", None),
        ("tool_call", "agent", "find_user"),
        ("tool_result", "tool", "find_user"),
        ("llm_call", "agent", None),
        ("event", "system", "score"),
        ("event", "system", "error"),
        ("event", "system", "sample"),
        ("event", "system", "log"),
    ]
    first, tool, returned, second = one.actions[2:6]
    assert (first.model, first.duration_ms) == ("openai:gpt-x", 1500)
    assert first.usage == Usage(input_tokens=100, output_tokens=5, total_tokens=105, cached_tokens=80)
    assert second.usage == first.usage
    assert (returned.parent, returned.duration_ms, returned.output) == (tool.id, 900, "Zoë")
    assert one.actions[7].error_message == "lost"
    assert [each.kind for each in two.actions] == ["message", "tool_call", "tool_result", "message", "event"]
    assert two.actions[-1].usage == Usage(input_tokens=120, output_tokens=10, total_tokens=290)
    assert (one.key, two.key) == ("ev1-1-1", "ev1-2-1")
    assert one.metadata["scores"] == {"match": "C"}
    assert result.report.notes == [
        "3 messages repeated an event. Each is stored in the source of that event.",
    ]


def test_an_inspect_archive_gives_the_same_sessions_as_the_document() -> None:
    archived = read("inspect", INSPECT_EVAL)
    assert archived.sessions == read("inspect", INSPECT).sessions
    assert archived.report.notes[0].startswith("The archive's summaries")
    bare = read("inspect", archive({"samples/1_epoch_1.json": INSPECT_SAMPLE}))
    assert bare.report.notes == ["3 messages repeated an event. Each is stored in the source of that event."]
    assert bare.sessions[0].key.startswith("inspect-")


def test_inspect_attachments_are_inserted_where_they_are_referenced() -> None:
    long = "The whole manual. " * 50
    sample = {
        "id": 1,
        "epoch": 1,
        "attachments": {"a1": long, "a2": "Ten years."},
        "messages": [
            {"id": "m1", "role": "user", "content": "attachment://a1"},
            {"id": "m2", "role": "user", "content": "attachment://gone"},
        ],
        "events": [
            {
                "event": "model",
                "model": "openai/gpt-x",
                "input": [{"role": "user", "content": [{"type": "text", "text": "attachment://a1"}]}],
                "output": {"choices": [{"message": {"role": "assistant", "content": "attachment://a2"}}]},
            },
            {"event": "tool", "id": "c1", "function": "look", "arguments": {}, "result": "attachment://a2"},
        ],
        "output": {"completion": "attachment://a2"},
    }
    result = read("inspect", INSPECT_HEAD | {"samples": [sample]})
    message, lost, call, _, returned, end, _ = result.sessions[0].actions
    assert (message.output, lost.output, returned.output) == (long, "attachment://gone", "Ten years.")
    assert call.input == [{"role": "user", "content": [{"type": "text", "text": long}]}]
    assert call.output["content"] == "Ten years."
    assert end.output == {"output": {"completion": "Ten years."}}
    assert (message.source, call.source) == (sample["messages"][0], sample["events"][0])  # type: ignore[index]
    assert end.source["attachments"] == sample["attachments"]
    assert result.report.notes == [
        "5 references to attachments: each was replaced with its text; the source keeps the reference.",
        "1 reference to attachments: each does not match an attachment in the file and was not replaced.",
    ]


def test_recursive_attachments_are_not_inserted_endlessly() -> None:
    attached = Attachments(most=25)
    attached.use({"a": "0123456789"})
    assert attached.resolve(["attachment://a"] * 3) == ["0123456789", "0123456789", "attachment://a"]
    assert "1 reference to attachments: each was not replaced" in attached.notes()[1]


def test_attachments_do_not_make_a_message_too_large_to_be_recorded() -> None:
    attached = Attachments(most_in_one=15)
    attached.use({"a": "0123456789", "b": "01234"})
    for _ in range(2):
        resolved = attached.resolve({"a": "attachment://a", "again": "attachment://a", "b": "attachment://b"})
        assert resolved == {"a": "0123456789", "again": "attachment://a", "b": "01234"}


def test_inspect_failures_have_an_error() -> None:
    sample = copy.deepcopy(INSPECT_SAMPLE)
    sample["events"][1]["error"] = "overloaded"
    sample["events"][2]["error"] = {"type": "timeout", "message": "too slow"}
    sample["error"] = {"message": "stopped"}
    sample["messages"].append(7)
    result = read("inspect", INSPECT_HEAD | {"samples": [sample, 8]})
    assert [
        (each.error_type, each.error_message) for each in result.sessions[0].actions if each.error_type
    ] == [
        ("model_error", "overloaded"),
        ("timeout", "too slow"),
        ("error", "lost"),
        ("sample_error", "stopped"),
    ]
    assert len(result.report.skipped) == 2
    for invalid in (INSPECT_HEAD, INSPECT_HEAD | {"samples": [7]}):
        with pytest.raises(InvalidInput, match="sample"):
            read("inspect", invalid)


def test_an_inspect_sample_without_usage_has_no_tokens() -> None:
    sample = {"id": 1, "epoch": 1, "messages": [], "model_usage": {"m": 7, "n": {}}}
    (session,) = read("inspect", INSPECT_HEAD | {"samples": [sample]}).sessions
    assert session.actions[0].usage is None
    sample["model_usage"] = {"m": {"output_tokens": 3}}
    (session,) = read("inspect", INSPECT_HEAD | {"samples": [sample]}).sessions
    assert session.actions[0].usage == Usage(output_tokens=3)


def test_records_without_an_id_in_two_files_of_one_session_are_all_kept() -> None:
    def langfuse(name: str) -> str | None:
        trace = {"sessionId": "s", "observations": [{"name": name}], "scores": [{"name": name}]}
        return ",".join(str(each.id) for each in read("langfuse", trace).sessions[0].actions[1:])

    def langsmith(name: str) -> str | None:
        (session,) = read("langsmith", [{"trace_id": "t", "run_type": "chain", "name": name}]).sessions
        return session.actions[0].id

    for ids in (langfuse, langsmith):
        assert ids("one") == ids("one")
        assert ids("one") != ids("two")
