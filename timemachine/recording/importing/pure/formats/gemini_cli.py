"""Chats of Gemini CLI: `session-….json` of earlier versions, and the `.jsonl` that replaced it.

Both hold a session and its messages; Gemini CLI's `chatRecordingTypes.ts` and `chatRecordingService.ts` define them
(https://github.com/google-gemini/gemini-cli/tree/main/packages/core/src/services). In JSON lines a message is written
again whenever it changes: the last line with its id counts, and all of them are its source. `$set` lines change the
session: those before the first message become one event with its first line, the others are part of the source of the message
before them. `$rewindTo` takes messages back: they stay, with the tag `rewound`, because their calls were made and paid for.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import counted
from timemachine.recording.importing.pure.drafts import (
    Ids,
    first_words,
    id_with_digest,
    session_draft,
    system_event,
    tool_call,
    tool_result,
)
from timemachine.recording.importing.pure.model_turns import speaker, thought, turn_or_parts, written
from timemachine.recording.importing.pure.reader import Opening, Reader, opening_of
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import (
    count_at,
    list_at,
    moment,
    record_at,
    short_text_at,
    text_at,
    text_of_content,
    usage_of,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage

NAME: Final = "gemini_cli"
TITLE: Final = "Gemini CLI chat (session-….json or .jsonl from ~/.gemini/tmp/…/chats)"
_AGENT: Final = "gemini-cli"
_TYPES: Final = frozenset({"user", "gemini", "info", "error", "warning"})
_REWOUND: Final = "rewound"
_FAILED: Final = frozenset({"error", "cancelled"})


@dataclass(slots=True, kw_only=True)
class _Entry:
    """A message, as the last record with its id states it; `rewound` if the user took it back. `source` has all of these records
    in file order, with those about the session that follow them.
    """

    record: JsonObject
    source: list[JsonObject]
    rewound: bool = False


def recognises(opening: Opening) -> bool:
    """Return whether it has a session with the hash of its project, or one with messages of Gemini CLI's types."""
    return any(
        isinstance(each.get("projectHash"), str) and isinstance(each.get("sessionId"), str)
        for each in (opening.fields, *opening.lines)
    ) or (
        "sessionId" in opening.fields
        and any(text_at(each, "type") in _TYPES for each in list_at(opening.fields, "messages"))
    )


def read(reader: Reader) -> ParsedFile:
    """Return the session of the file. Raises `InvalidInput` (`unknown_format`) if no record can be used."""
    if "messages" in opening_of(reader.data).fields:
        document = reader.json_object()
        about = {name: value for name, value in document.items() if name != "messages"}
        reader.use()
        heads = [about]
        records = [each for each in list_at(document, "messages") if reader.takes(each, "a message")]
    else:
        lines = reader.lines(_is_line, "It is neither a message nor session information.")
        all_records = [line.record for line in lines]
        heads = list(takewhile(is_head, all_records))
        records = all_records[len(heads) :]
        about = _about(filter(is_head, all_records))
    entries, repeats = _entries(records)
    if repeats:
        reader.notes.append(
            f"{counted(repeats, 'line')} repeated a message that had changed. Each is stored in the source of that message."
        )
    return reader.parsed([_session(about, heads, entries, reader)])


def _is_line(record: JsonObject) -> bool:
    return is_head(record) or "$rewindTo" in record or "content" in record or "type" in record


def is_head(record: JsonObject) -> bool:
    """Return whether a line is about the session: the first one, or a change."""
    return "$set" in record or ("sessionId" in record and "type" not in record)


def _about(heads: Iterable[JsonObject]) -> JsonObject:
    """Return what is known of the session: its first line with every later change."""
    about: JsonObject = {}
    for each in heads:
        about |= record_at(each, "$set") if "$set" in each else each
    return about


def _entries(records: Iterable[JsonObject]) -> tuple[list[_Entry], int]:
    """Return the messages in the order in which they were first written, and each rewind where it happened; and how many
    records repeat a message.
    """
    entries: list[_Entry] = []
    by_id: dict[str, _Entry] = {}
    kept: dict[str, _Entry] = {}
    latest: _Entry | None = None
    repeats = 0
    for record in records:
        name = text_at(record, "id") or ""
        if latest is not None and is_head(record):
            latest.source.append(record)
            continue
        if "$rewindTo" in record:
            _rewind(kept, record["$rewindTo"])
        elif name in by_id:
            latest = by_id[name]
            latest.record = record
            latest.source.append(record)
            repeats += 1
            continue
        latest = _Entry(record=record, source=[record])
        entries.append(latest)
        if name and "$rewindTo" not in record:
            by_id[name] = kept[name] = latest
    return entries, repeats


def _rewind(kept: dict[str, _Entry], back_to: object) -> None:
    """Mark the message and all after it. Like Gemini CLI, mark all if there is no such message."""
    while kept:
        name, entry = kept.popitem()
        entry.rewound = True
        if name == back_to:
            return


def _session(
    about: JsonObject, heads: list[JsonObject], entries: list[_Entry], reader: Reader
) -> SessionDraft:
    ids = Ids()
    actions: list[ActionDraft] = []
    if heads:
        source = heads if len(heads) > 1 else heads[0]
        actions.append(system_event("session", ids.claim("session"), source, _about(heads)))
    for entry in entries:
        actions += _entry_actions(entry, ids)
    session = session_draft(
        reader.key(short_text_at(about, "sessionId"), [each.source[0] for each in entries]),
        actions,
        name=text_at(about, "summary"),
        agent=_AGENT,
        started_at=moment(about.get("startTime")),
        ended_at=moment(about.get("lastUpdated")),
        metadata={
            "project_hash": text_at(about, "projectHash"),
            "kind": text_at(about, "kind"),
            "directories": list_at(about, "directories") or None,
        },
    )
    earlier = filter(None, [first_words(actions)])
    return replace(session, earlier_names=(*session.earlier_names, *earlier))


def _entry_actions(entry: _Entry, ids: Ids) -> list[ActionDraft]:
    record = entry.record
    kind = "rewind" if "$rewindTo" in record else text_at(record, "type") or "unknown"
    base = ActionDraft(
        kind="event",
        id=ids.claim(short_text_at(record, "id") or id_with_digest(kind[:40], record)),
        layer="sys",
        role="system",
        agent=_AGENT,
        name=kind[:80],
        tags=(_REWOUND,) if entry.rewound else (),
        started_at=moment(record.get("timestamp")),
        source=record if len(entry.source) == 1 else entry.source,
    )
    content = _plain(record.get("content"))
    if kind == "user":
        return [replace(speaker("user", base), agent=None, output=content)]
    if kind == "gemini":
        return _answer(base, record, content, ids)
    if kind == "error":
        base = replace(base, error_type="error", error_message=text_of_content(record.get("content")))
    return [replace(base, output=record["$rewindTo"] if kind == "rewind" else content)]


def _answer(base: ActionDraft, record: JsonObject, content: object, ids: Ids) -> list[ActionDraft]:
    stem = speaker("agent", base)
    calls = [each for each in list_at(record, "toolCalls") if isinstance(each, dict)]
    call = replace(
        stem,
        kind="llm_call",
        model=short_text_at(record, "model"),
        usage=_usage(record_at(record, "tokens")),
        output=written(
            content=content,
            tool_calls=[{name: each.get(name) for name in ("id", "name", "args")} for each in calls],
        ),
    )
    return turn_or_parts(call, _parts(stem, record, content, calls), ids)


def _parts(
    stem: ActionDraft, record: JsonObject, content: object, calls: list[JsonObject]
) -> Iterator[ActionDraft]:
    for each in list_at(record, "thoughts"):
        words = [text for name in ("subject", "description") if (text := text_at(each, name))]
        at = moment(each.get("timestamp")) if isinstance(each, dict) else None
        yield thought(replace(stem, started_at=at or stem.started_at), "\n".join(words) or each)
    if content not in (None, "", []):
        yield replace(stem, output=content)
    for each in calls:
        yield from _tool(stem, each)


def _tool(stem: ActionDraft, call: JsonObject) -> Iterator[ActionDraft]:
    """Yield the call and, if it ended, its result, at the time at which it was recorded. `agentId` names the sub-agent
    that the tool ran."""
    sub_agent = text_at(call, "agentId")
    tags = (*stem.tags, f"agent:{sub_agent}"[:80]) if sub_agent else stem.tags
    tool, call_id = short_text_at(call, "name"), short_text_at(call, "id")
    yield tool_call(replace(stem, tags=tags), tool=tool, call_id=call_id, given=call.get("args"))
    status = text_at(call, "status")
    result = call.get("result")
    if result is None and status not in _FAILED:
        return
    parts = result if isinstance(result, list) else []
    answers = [record_at(part, "functionResponse", "response") for part in parts]
    only = answers[0] if len(answers) == 1 else {}
    yield tool_result(
        replace(stem, tags=tags, started_at=moment(call.get("timestamp"))),
        tool=tool,
        call_id=call_id,
        output=only["output"] if only.keys() == {"output"} else result,
        error_type=status if status in _FAILED else None,
        error_message=text_at(only, "error") if status in _FAILED else None,
    )


def _usage(tokens: JsonObject) -> Usage | None:
    """Return the tokens. Gemini counts thoughts apart from `output`, and what tools added to the prompt apart from
    `input`; both are in its total."""
    found = usage_of(
        tokens, read=["input"], written=["output"], total=["total"], cached=["cached"], reasoning=["thoughts"]
    )
    if found is None:
        return None
    return replace(
        found,
        input_tokens=_plus(found.input_tokens, count_at(tokens, "tool")),
        output_tokens=_plus(found.output_tokens, found.reasoning_tokens),
    )


def _plus(count: int | None, more: int | None) -> int | None:
    return None if count is None else count + (more or 0)


def _plain(content: object) -> object:
    """Return the text of a content that consists of texts only, any other content as it is."""
    is_text = isinstance(content, list) and all(
        isinstance(each, dict) and each.keys() == {"text"} for each in content
    )
    return text_of_content(content) if is_text else content
