"""Runs of LangSmith: JSON lines, a list, or an object with `runs`; one session per thread, or per trace without a
thread.

The report counts runs.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from timemachine.recording.importing.pure.document import records_of
from timemachine.recording.importing.pure.jsonl import Line
from timemachine.recording.importing.pure.mapped_bytes import Contents
from timemachine.recording.importing.pure.opening import Opening
from timemachine.recording.importing.pure.report import Ledger, ParsedFile, SessionDraft, Skipped
from timemachine.recording.importing.pure.session_builder import (
    Ids,
    Keys,
    id_with_digest,
    session_draft,
    unreadable_file,
)
from timemachine.recording.importing.pure.values import (
    count_at,
    dollars,
    list_at,
    milliseconds_between,
    model_name,
    moment,
    number,
    record_at,
    short_text_at,
    text_at,
    usage_of,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, Usage

NAME: Final = "langsmith"
TITLE: Final = "LangSmith runs (.jsonl, a JSON list, or an object with runs)"
_THREAD: Final = ("thread_id", "session_id", "conversation_id")
_LATEST: Final = datetime(9000, 1, 1, tzinfo=UTC)


def recognises(opening: Opening) -> bool:
    """Return whether one of the first records is a run."""
    runs = [each for each in list_at(opening.fields, "runs") if isinstance(each, dict)]
    return any(
        "run_type" in each and ("id" in each or "trace_id" in each)
        for each in (*opening.records, *opening.lines, *runs)
    )


def read(data: Contents) -> ParsedFile:
    """Return the sessions of the runs, in the order of their trees. Raises `InvalidInput` if there are no runs."""
    ledger = Ledger()
    threads: dict[str, list[dict[str, Any]]] = {}
    for line in records_of(data, TITLE, inside="runs"):
        if isinstance(line, Line) and isinstance(line.record.get("run_type"), str):
            ledger.use()
            threads.setdefault(_thread(line.record), []).append(line.record)
        else:
            ledger.skip(
                line.reason if isinstance(line, Skipped) else "It has no `run_type`, so it is not a run."
            )
    if not threads:
        raise unreadable_file(TITLE, "no record in it has a `run_type`.")
    keys = Keys(NAME)
    return ledger.account(_session(keys.of(thread or None, runs), runs) for thread, runs in threads.items())


def _thread(run: dict[str, Any]) -> str:
    metadata = record_at(run, "extra", "metadata")
    return (
        short_text_at(metadata, *_THREAD) or short_text_at(run, "trace_id") or short_text_at(run, "id") or ""
    )


def _session(key: str, runs: list[dict[str, Any]]) -> SessionDraft:
    ordered = sorted(runs, key=lambda run: (_started(run) or _LATEST, text_at(run, "dotted_order") or ""))
    ids = Ids()
    names = {run_id: run_id for run in ordered if (run_id := short_text_at(run, "id")) is not None}
    actions = [action for run in ordered for action in _run(run, names, ids)]
    top = next((run for run in ordered if run.get("parent_run_id") is None), ordered[0])
    return session_draft(
        key,
        actions,
        name=text_at(top, "name"),
        agent=short_text_at(top, "name"),
        metadata={
            "trace_id": text_at(top, "trace_id"),
            "project": text_at(top, "session_name", "session_id"),
            "run_tags": list_at(top, "tags") or None,
        },
    )


def _started(run: dict[str, Any]) -> datetime | None:
    return moment(run.get("start_time"), offset_missing=True)


def _run(run: dict[str, Any], names: dict[str, str], ids: Ids) -> Iterator[ActionDraft]:
    name = ids.claim(short_text_at(run, "id") or id_with_digest("run", run))
    start = _started(run)
    error = text_at(run, "error")
    parent = names.get(short_text_at(run, "parent_run_id") or "")
    base = ActionDraft(
        kind="event",
        id=name,
        layer="agent",
        role="agent",
        name=short_text_at(run, "name"),
        parent=None if parent == name else parent,
        started_at=start,
        duration_ms=milliseconds_between(start, moment(run.get("end_time"), offset_missing=True)),
        input=run.get("inputs"),
        output=run.get("outputs"),
        error_type=None if error is None else "run_error",
        error_message=error,
        source=run,
    )
    kind = run["run_type"]
    if kind == "llm":
        yield _call(run, base)
    elif kind == "retriever":
        yield replace(base, kind="find", layer="tool", retrieval=_retrieval(run))
    elif kind == "tool":
        yield from _tool(base, ids)
    else:
        yield replace(base, tags=(kind[:80],))


def _call(run: dict[str, Any], base: ActionDraft) -> ActionDraft:
    metadata = record_at(run, "extra", "metadata")
    given = record_at(run, "extra", "invocation_params")
    model = short_text_at(metadata, "ls_model_name") or short_text_at(given, "model", "model_name")
    return replace(
        base,
        kind="llm_call",
        model=model_name(model, short_text_at(metadata, "ls_provider")),
        parameters=given or None,
        usage=_usage(run),
        cost_usd=dollars(run.get("total_cost")),
    )


def _usage(run: dict[str, Any]) -> Usage | None:
    """Return the tokens: those of the run itself first, then those of its `usage_metadata`, which also has cached and
    reasoning tokens."""
    recorded = record_at(run, "outputs", "usage_metadata") or record_at(run, "usage_metadata")
    read = record_at(recorded, "input_token_details")
    written = record_at(recorded, "output_token_details")
    first = usage_of(run, read=["prompt_tokens"], written=["completion_tokens"]) or Usage()
    second = usage_of(recorded, read=["input_tokens"], written=["output_tokens"]) or Usage()
    found = Usage(
        input_tokens=_either(first.input_tokens, second.input_tokens),
        output_tokens=_either(first.output_tokens, second.output_tokens),
        total_tokens=_either(first.total_tokens, second.total_tokens),
        cached_tokens=count_at(read, "cache_read"),
        cache_write_tokens=count_at(read, "cache_creation"),
        reasoning_tokens=count_at(written, "reasoning"),
    )
    return None if found == Usage() else found


def _either(one: int | None, other: int | None) -> int | None:
    return other if one is None else one


def _tool(base: ActionDraft, ids: Ids) -> Iterator[ActionDraft]:
    """A tool run holds both: the call, and under it the result."""
    yield replace(
        base,
        kind="tool_call",
        layer="tool",
        name=None,
        tool=base.name,
        output=None,
        error_type=None,
        error_message=None,
    )
    if base.output is not None or base.error_type is not None:
        yield replace(
            base,
            kind="tool_result",
            id=ids.claim(f"{base.id}/result"),
            layer="tool",
            role="tool",
            name=None,
            tool=base.name,
            parent=base.id,
            started_at=None,
            duration_ms=None,
            input=None,
            source=None,
        )


def _retrieval(run: dict[str, Any]) -> RetrievalDraft:
    documents = list_at(record_at(run, "outputs"), "documents") or list_at(
        record_at(run, "outputs"), "output"
    )
    return RetrievalDraft(hits=tuple(_hit(rank, each) for rank, each in enumerate(documents, start=1)))


def _hit(rank: int, document: Any) -> HitDraft:
    about = record_at(document, "metadata")
    return HitDraft(
        rank=rank,
        score=number(about.get("score", about.get("relevance_score"))),
        frame=short_text_at(document, "id") or short_text_at(about, "id"),
        title=text_at(about, "title"),
        uri=text_at(about, "source", "url"),
        metadata=about or None,
        text=text_at(document, "page_content", "content"),
    )
