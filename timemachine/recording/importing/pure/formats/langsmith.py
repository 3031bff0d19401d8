"""Runs of LangSmith: JSON lines, a list, or an object with `runs`; one session per thread, or per trace without a
thread.

The SDK sends bodies with `post` (runs that started) and `patch` (the same runs when they ended), which are read as
well, one or several. Records with the same id are one run: what a later one states replaces what an earlier one did.

The report counts runs, or the records of bodies.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import sum_known
from timemachine.llm.pure.price_conditions import with_conditions
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
    with_cached_input,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, HitDraft, RetrievalDraft, Usage

NAME: Final = "langsmith"
TITLE: Final = "LangSmith runs (.jsonl, JSON list, object with runs, or SDK request bodies)"
_THREAD: Final = ("thread_id", "session_id", "conversation_id")
_TIERS: Final = ("priority", "flex")
_REQUESTED: Final = ("service_tier", "speed", "inference_geo")
_LATEST: Final = datetime(9000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """A run as its records state it together. `source` is the record, or a list if there are several."""

    fields: JsonObject
    source: Any


def recognises(opening: Opening) -> bool:
    """Return whether one of the first records is a run or a body with runs."""
    return any(
        ("run_type" in each and ("id" in each or "trace_id" in each)) or _is_body(each)
        for each in opening.records_inside("runs")
    )


def read(reader: Reader) -> ParsedFile:
    """Return the sessions of the runs, in the order of their trees. Raises `InvalidInput` if there are no runs."""
    records: dict[str, list[JsonObject]] = {}
    for record in _records(reader):
        records.setdefault(short_text_at(record, "id") or f"#{len(records)}", []).append(record)
    threads: dict[str, list[_Run]] = {}
    for same in records.values():
        run = _merged(same)
        threads.setdefault(_thread(run.fields), []).append(run)
    if not threads:
        raise reader.refusal("no record in it has a `run_type`.")
    return reader.parsed(
        _session(reader.key(thread, _fields(runs)), runs) for thread, runs in threads.items()
    )


def _is_body(record: JsonObject) -> bool:
    """Return whether it is a body of the SDK: all runs in it have an id and a place in their tree."""
    inside = [*list_at(record, "post"), *list_at(record, "patch")]
    first = inside[0] if inside else None
    return isinstance(first, dict) and "id" in first and ("run_type" in first or "dotted_order" in first)


def _records(reader: Reader) -> Iterator[JsonObject]:
    """Yield the runs, counted, those of a body with what was posted first."""
    for record in reader.records(
        lambda record: isinstance(record.get("run_type"), str) or _is_body(record),
        "It has no `run_type`, so it is not a run.",
        inside="runs",
    ):
        if not _is_body(record):
            reader.use()
            yield record
            continue
        for each in (*list_at(record, "post"), *list_at(record, "patch")):
            if reader.takes(each, "a run"):
                yield each


def _merged(records: list[JsonObject]) -> _Run:
    fields: JsonObject = {}
    for record in records:
        stated = {name: value for name, value in record.items() if value not in (None, "", [], {})}
        fields = {**record, **fields, **stated}
    return _Run(fields=fields, source=records[0] if len(records) == 1 else records)


def _fields(runs: list[_Run]) -> list[JsonObject]:
    return [each.fields for each in runs]


def _thread(run: JsonObject) -> str:
    metadata = record_at(run, "extra", "metadata")
    return (
        short_text_at(metadata, *_THREAD) or short_text_at(run, "trace_id") or short_text_at(run, "id") or ""
    )


def _session(key: str, runs: list[_Run]) -> SessionDraft:
    def place(run: _Run) -> tuple[datetime, str]:
        return _started(run.fields) or _LATEST, text_at(run.fields, "dotted_order") or ""

    ordered = sorted(runs, key=place)
    ids = Ids()
    names = {run_id: run_id for run in _fields(ordered) if (run_id := short_text_at(run, "id")) is not None}
    actions = [action for run in ordered for action in _run(run, names, ids)]
    top = next((run for run in _fields(ordered) if run.get("parent_run_id") is None), ordered[0].fields)
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


def _run(merged: _Run, names: dict[str, str], ids: Ids) -> Iterator[ActionDraft]:
    run = merged.fields
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
        source=merged.source,
    )
    kind = _kind(run)
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


def _kind(run: JsonObject) -> str:
    """Return the type of a run. The end of a run whose start was not sent does not name it."""
    is_call = "ls_model_type" in record_at(run, "extra", "metadata")
    return text_at(run, "run_type") or ("llm" if is_call else "unknown")


def _call(run: JsonObject, base: ActionDraft) -> ActionDraft:
    metadata = record_at(run, "extra", "metadata")
    given = record_at(run, "extra", "invocation_params")
    model = short_text_at(metadata, "ls_model_name") or short_text_at(given, "model", "model_name")
    return replace(
        base,
        kind="llm_call",
        model=model_name(model, short_text_at(metadata, "ls_provider")),
        parameters=_parameters(run, given) or None,
        usage=_usage(run),
        cost_usd=dollars(run.get("total_cost")),
    )


def _parameters(run: JsonObject, given: JsonObject) -> JsonObject:
    """Return what the call was given, with what its answer states about the price.

    LangChain writes OpenAI's tier before the names of the details of tokens, such as `priority_cache_read`.
    """
    inputs, outputs = record_at(run, "inputs"), record_at(run, "outputs")
    requested: JsonObject = {name: inputs[name] for name in _REQUESTED if name in inputs}
    details = _details(next(filter(None, _usages(run)), {}))
    tier = next(
        (tier for tier in _TIERS if any(name.startswith(tier) for each in details for name in each)), None
    )
    answers = [each for answer in _answers(run) for each in (record_at(answer, "usage"), answer)]
    stated = [{"service_tier": tier}, {"cache_creation": details[0]}, *answers, *_usages(run), outputs]
    return with_conditions({**requested, **given}, *stated)


def _answers(run: JsonObject) -> Iterator[JsonObject]:
    """Yield what the provider said about its answer, where LangChain has written it."""
    outputs = record_at(run, "outputs")
    yield record_at(outputs, "llm_output")
    for message in _messages(outputs):
        yield record_at(message, "response_metadata")


def _messages(outputs: JsonObject) -> Iterator[JsonObject]:
    for batch in list_at(outputs, "generations"):
        for generation in batch if isinstance(batch, list) else [batch]:
            yield record_at(generation, "message", "kwargs")


def _details(recorded: JsonObject) -> tuple[JsonObject, JsonObject]:
    """Return the details of the tokens read, and of those written."""
    read = record_at(recorded, "input_token_details") or record_at(recorded, "prompt_tokens_details")
    written = record_at(recorded, "output_token_details") or record_at(recorded, "completion_tokens_details")
    return read, written


def _usage(run: JsonObject) -> Usage | None:
    """Return the tokens: those of the run itself first, then those that its output states, which also has cached and
    reasoning tokens."""
    recorded = next(filter(None, _usages(run)), {})
    first = usage_of(run, read=["prompt_tokens"], written=["completion_tokens"]) or Usage()
    second = (
        usage_of(
            recorded,
            read=["input_tokens", "prompt_tokens"],
            written=["output_tokens", "completion_tokens"],
            cached=["cache_read_input_tokens"],
            cache_write=["cache_creation_input_tokens"],
        )
        or Usage()
    )
    if "cache_read_input_tokens" in recorded:  # Anthropic does not include them
        second = with_cached_input(second) or Usage()
    read, written = _details(recorded)
    parts = sum_known(*(count_at(read, f"ephemeral_{kept}_input_tokens") for kept in ("5m", "1h")))
    details = {
        "cached_tokens": count_at(read, *_tiered("cache_read"), "cached_tokens"),
        "cache_write_tokens": parts or count_at(read, *_tiered("cache_creation")),
        "reasoning_tokens": count_at(written, *_tiered("reasoning"), "reasoning_tokens"),
    }
    stated = {**asdict(first), **details}
    found = replace(second, **{name: count for name, count in stated.items() if count is not None})
    return None if found == Usage() else found


def _usages(run: JsonObject) -> Iterator[JsonObject]:
    """Yield the places where versions of LangChain and the SDK have written the tokens of a run."""
    outputs = record_at(run, "outputs")
    yield record_at(outputs, "usage_metadata")
    yield record_at(run, "usage_metadata")
    for message in _messages(outputs):
        yield record_at(message, "usage_metadata")
    yield record_at(outputs, "llm_output", "token_usage")
    yield record_at(outputs, "llm_output", "usage")
    yield record_at(outputs, "usage")


def _tiered(name: str) -> list[str]:
    return [name, *(f"{tier}_{name}" for tier in _TIERS)]


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
