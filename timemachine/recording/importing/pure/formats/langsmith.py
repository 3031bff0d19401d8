"""Runs of LangSmith: JSON lines, a list, or an object with `runs`; one session per thread, or per trace without a
thread.

The report counts runs.
"""

from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.drafts import Ids, call_and_result, id_with_digest, session_draft
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
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
    return any(
        "run_type" in each and ("id" in each or "trace_id" in each) for each in opening.records_inside("runs")
    )


def read(reader: Reader) -> ParsedFile:
    """Return the sessions of the runs, in the order of their trees. Raises `InvalidInput` if there are no runs."""
    threads = reader.groups(
        _thread,
        usable=lambda record: isinstance(record.get("run_type"), str),
        otherwise="It has no `run_type`, so it is not a run.",
        inside="runs",
    )
    if not threads:
        raise reader.refusal("no record in it has a `run_type`.")
    return reader.parsed(_session(reader.key(thread, runs), runs) for thread, runs in threads.items())


def _thread(run: JsonObject) -> str:
    metadata = record_at(run, "extra", "metadata")
    return (
        short_text_at(metadata, *_THREAD) or short_text_at(run, "trace_id") or short_text_at(run, "id") or ""
    )


def _session(key: str, runs: list[JsonObject]) -> SessionDraft:
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


def _started(run: JsonObject) -> datetime | None:
    return moment(run.get("start_time"), offset_missing=True)


def _run(run: JsonObject, names: dict[str, str], ids: Ids) -> Iterator[ActionDraft]:
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
        outputs = record_at(run, "outputs")
        documents = list_at(outputs, "documents") or list_at(outputs, "output")
        hits = tuple(_hit(rank, each) for rank, each in enumerate(documents, start=1))
        yield replace(base, kind="find", layer="tool", retrieval=RetrievalDraft(hits=hits))
    elif kind == "tool":
        yield from call_and_result(base, ids)
    else:
        yield replace(base, tags=(kind[:80],))


def _call(run: JsonObject, base: ActionDraft) -> ActionDraft:
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


def _usage(run: JsonObject) -> Usage | None:
    """Return the tokens: those of the run itself first, then those of its `usage_metadata`, which also has cached and
    reasoning tokens."""
    recorded = record_at(run, "outputs", "usage_metadata") or record_at(run, "usage_metadata")
    first = usage_of(run, read=["prompt_tokens"], written=["completion_tokens"]) or Usage()
    second = usage_of(recorded, read=["input_tokens"], written=["output_tokens"]) or Usage()
    read = record_at(recorded, "input_token_details")
    found = replace(
        second,
        **{name: count for name, count in asdict(first).items() if count is not None},
        cached_tokens=count_at(read, "cache_read"),
        cache_write_tokens=count_at(read, "cache_creation"),
        reasoning_tokens=count_at(record_at(recorded, "output_token_details"), "reasoning"),
    )
    return None if found == Usage() else found


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
