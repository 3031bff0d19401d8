"""Logs of Inspect, as `.eval` archives or plain JSON: one session per sample and epoch.

The report counts each message, each event, each sample without these, and the log without its samples. If a sample
has events, its model and tool calls come from the events, and the messages that repeat them become part of their
source. Texts from the sample's attachments are inserted where they are referenced; sources keep the references, and
the sample's source keeps the attachments.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import counted, sum_known
from timemachine.core.pure.zip_files import Archive, is_zip
from timemachine.llm.pure.price_conditions import BATCH, with_conditions
from timemachine.recording.importing.pure.attachments import Attachments
from timemachine.recording.importing.pure.chat import chat_actions
from timemachine.recording.importing.pure.drafts import (
    Ids,
    id_with_digest,
    link_results,
    session_draft,
    system_event,
    tool_call,
    tool_result,
)
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import (
    list_at,
    milliseconds,
    model_name,
    moment,
    number,
    record_at,
    short_text_at,
    text_at,
    usage_of,
    with_cached_input,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage

NAME: Final = "inspect"
TITLE: Final = "Inspect log (.eval or .json)"
_HEADS: Final = ("header.json", "_journal/start.json")
_NOT_READ: Final = (
    "The archive's summaries, reductions and journal were not read because they only repeat the samples."
)


def recognises(opening: Opening) -> bool:
    """Return whether it is an archive of samples, or a document with an evaluation."""
    archived = (
        any(name.startswith("samples/") for name in opening.members) or "header.json" in opening.members
    )
    found = opening.fields
    return archived or ("eval" in found and "status" in found and ("version" in found or "samples" in found))


def read(reader: Reader) -> ParsedFile:
    """Return one session per sample. Raises `InvalidInput` if there are none or the archive must not be opened."""
    head, samples = _archived(reader) if is_zip(reader.data) else _plain(reader)
    if not samples:
        raise reader.refusal("it has no samples.")
    attached = Attachments()
    drafts = []
    for sample in samples:
        if isinstance(sample, dict):
            drafts.append(_session(sample, head, reader, attached))
        else:
            reader.skip("It is not an object, so it is not a sample.")
    reader.notes += attached.notes()
    if not drafts:
        raise reader.refusal("no sample in it is an object.")
    reader.use()
    log = system_event("log", id_with_digest("log", head), source=head, output=head)
    return reader.parsed([replace(drafts[0], actions=(*drafts[0].actions, log)), *drafts[1:]])


def _plain(reader: Reader) -> tuple[JsonObject, list[Any]]:
    found = reader.json_object()
    return {name: value for name, value in found.items() if name != "samples"}, list_at(found, "samples")


def _archived(reader: Reader) -> tuple[JsonObject, list[Any]]:
    archive = Archive(reader.data)
    head = next((name for name in _HEADS if name in archive.names), None)
    names = [name for name in archive.names if name.startswith("samples/") and name.endswith(".json")]
    if len(archive.names) > len(names) + (head is not None):
        reader.notes.append(_NOT_READ)
    header = {} if head is None else reader.json_object(archive.read(head))
    return header, [reader.document(archive.read(name)) for name in names]


def _session(sample: JsonObject, head: JsonObject, reader: Reader, attached: Attachments) -> SessionDraft:
    about = record_at(head, "eval")
    run = short_text_at(about, "eval_id", "run_id", "task_id")
    name = f"{sample.get('id')}"[:80]
    recorded_key = None if run is None else f"{run}-{name}-{sample.get('epoch')}"
    base = ActionDraft(kind="event", agent=short_text_at(about, "solver") or short_text_at(about, "task"))
    ids = Ids()
    attached.use(record_at(sample, "attachments"))
    actions = _actions(sample, base, ids, reader, attached)
    reader.use()
    rest = {word: value for word, value in sample.items() if word not in {"messages", "events"}}
    failure = record_at(sample, "error")
    with_calls = any(action.kind == "llm_call" for action in actions)
    result = {word: rest[word] for word in ("target", "scores", "output") if word in rest}
    end = replace(
        system_event("sample", ids.claim(id_with_digest("sample", rest)), rest, attached.resolve(result)),
        usage=None if with_calls else _total_usage(record_at(sample, "model_usage")),
        error_type="sample_error" if failure else None,
        error_message=text_at(failure, "message"),
    )
    return session_draft(
        reader.key(recorded_key, sample),
        link_results([*actions, end]),
        name=f"{short_text_at(about, 'task') or 'Sample'}: {name}, epoch {sample.get('epoch')}",
        agent=base.agent,
        started_at=moment(sample.get("started_at")) or moment(about.get("created")),
        ended_at=moment(sample.get("completed_at")),
        metadata={
            "task": text_at(about, "task"),
            "model": text_at(about, "model"),
            "status": text_at(head, "status"),
            "sample": sample.get("id"),
            "epoch": sample.get("epoch"),
            "scores": {
                word: value.get("value")
                for word, value in record_at(sample, "scores").items()
                if isinstance(value, dict)
            }
            or None,
            "total_time": number(sample.get("total_time")),
        },
    )


def _actions(
    sample: JsonObject, base: ActionDraft, ids: Ids, reader: Reader, attached: Attachments
) -> list[ActionDraft]:
    """Return the messages in order; before a message that repeats an event come all events up to that one."""
    messages = _objects(list_at(sample, "messages"), reader)
    events = _objects(list_at(sample, "events"), reader)
    owners = _owners(messages, events)
    if owners:
        reader.notes.append(
            f"{counted(len(owners), 'message')} repeated an event. Each is stored in the source of that event."
        )
    repeats = {event: messages[place] for place, event in owners.items()}
    actions: list[ActionDraft] = []
    done = 0
    for place, message in enumerate(messages):
        if place in owners:
            upto = max(done, owners[place] + 1)
            actions += _of_events(events, range(done, upto), repeats, base, ids, attached)
            done = upto
        else:
            spoken = chat_actions(
                attached.resolve(message), base, ids, id_with_digest(f"message-{place}", message)
            )
            actions += [each if each.source is None else replace(each, source=message) for each in spoken]
    return [*actions, *_of_events(events, range(done, len(events)), repeats, base, ids, attached)]


def _objects(records: Sequence[Any], reader: Reader) -> list[JsonObject]:
    found = [each for each in records if isinstance(each, dict)]
    reader.use(len(found))
    for _ in range(len(records) - len(found)):
        reader.skip("It is not an object, so it is neither a message nor an event.")
    return found


def _owners(messages: Sequence[JsonObject], events: Sequence[JsonObject]) -> dict[int, int]:
    """Return, by the place of a message that repeats an event, the place of that event. Each event is repeated at most once."""
    by_id: dict[tuple[str, str], int] = {}
    for place, event in enumerate(events):
        if event.get("event") == "model" and (answer := short_text_at(_answer(event), "id")) is not None:
            by_id.setdefault(("assistant", answer), place)
        if event.get("event") == "tool" and (call := short_text_at(event, "id")) is not None:
            by_id.setdefault(("tool", call), place)
    owners = {}
    for place, message in enumerate(messages):
        role = text_at(message, "role") or ""
        name = short_text_at(message, "tool_call_id" if role == "tool" else "id")
        if name is not None and (role, name) in by_id:
            owners[place] = by_id.pop((role, name))
    return owners


def _answer(event: JsonObject) -> JsonObject:
    first = next(iter(list_at(record_at(event, "output"), "choices")), None)
    return record_at(first, "message")


def _of_events(
    events: Sequence[JsonObject],
    places: range,
    repeats: dict[int, JsonObject],
    base: ActionDraft,
    ids: Ids,
    attached: Attachments,
) -> Iterator[ActionDraft]:
    for place in places:
        event = events[place]
        kind = text_at(event, "event") or "unknown"
        one = replace(
            base,
            id=ids.claim(id_with_digest(f"{kind[:40]}-event", event)),
            started_at=moment(event.get("timestamp")),
            source=event if place not in repeats else [event, repeats[place]],
        )
        yield from _event(kind, attached.resolve(event), one, ids)


def _event(kind: str, event: JsonObject, base: ActionDraft, ids: Ids) -> Iterator[ActionDraft]:
    if kind == "model":
        yield _call(event, base)
    elif kind == "tool":
        yield from _tool(event, base, ids)
    else:
        content = {word: value for word, value in event.items() if word not in {"event", "timestamp"}}
        failed = record_at(event, "error") if kind == "error" else {}
        yield replace(
            base, layer="sys", role="system", name=kind[:80], output=content or None,
            error_type="error" if failed else None, error_message=text_at(failed, "message"),
        )  # fmt: skip


def _call(event: JsonObject, base: ActionDraft) -> ActionDraft:
    output = record_at(event, "output")
    failure = text_at(event, "error") or text_at(output, "error")
    is_cached = text_at(event, "cache") == "read"  # such an answer repeats the tokens of an earlier call
    return replace(
        base,
        kind="llm_call",
        layer="agent",
        role="agent",
        model=model_name(short_text_at(event, "model") or short_text_at(output, "model")),
        parameters=_parameters(event) or None,
        usage=None if is_cached else _usage(record_at(output, "usage")),
        cost_usd=Decimal(0) if is_cached else None,
        cached=is_cached or None,
        duration_ms=milliseconds(output.get("time"), of_one=1000),
        input=event.get("input"),
        output=_answer(event) or output or None,
        error_type=None if failure is None else "model_error",
        error_message=failure,
    )


def _parameters(event: JsonObject) -> JsonObject:
    """Return the configuration of the call, with the tier of its answer, or of its request if the answer states none."""
    config, call = record_at(event, "config"), record_at(event, "call")
    batch = {"service_tier": BATCH} if config.get(BATCH) else {}
    answer = record_at(call, "response")
    return with_conditions(
        config, batch, answer, {"service_tier": record_at(call, "request").get("service_tier")}
    )


def _tool(event: JsonObject, base: ActionDraft, ids: Ids) -> Iterator[ActionDraft]:
    failure = record_at(event, "error")
    tool, call_id = short_text_at(event, "function"), short_text_at(event, "id")
    yield tool_call(base, tool=tool, call_id=call_id, given=event.get("arguments"))
    returned = replace(
        base,
        id=ids.claim(f"{base.id}/result"),
        parent=base.id,
        started_at=moment(event.get("completed")) or base.started_at,
        duration_ms=milliseconds(event.get("working_time"), of_one=1000),
        source=None,
    )
    yield tool_result(
        returned,
        tool=tool,
        call_id=call_id,
        output=event.get("result"),
        error_type=(short_text_at(failure, "type") or "tool_error") if failure else None,
        error_message=text_at(failure, "message"),
    )


def _usage(recorded: JsonObject) -> Usage | None:
    """Return the usage.

    Inspect includes cached tokens in `input_tokens` or not, as the provider does; the total shows which.
    """
    found = usage_of(
        recorded,
        read=["input_tokens"],
        written=["output_tokens"],
        cached=["input_tokens_cache_read"],
        cache_write=["input_tokens_cache_write"],
        reasoning=["reasoning_tokens"],
    )
    whole = with_cached_input(found)
    if whole is None or whole.input_tokens is None:
        return whole
    return whole if whole.total_tokens == whole.input_tokens + (whole.output_tokens or 0) else found


def _total_usage(by_model: JsonObject) -> Usage | None:
    every = [
        usage for each in by_model.values() if isinstance(each, dict) and (usage := _usage(each)) is not None
    ]
    sums = {name: sum_known(*(getattr(each, name) for each in every)) for name in Usage.__slots__}
    return Usage(**sums) if every else None
