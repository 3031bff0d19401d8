"""Sessions of OpenHands: a list of events, one event per line, an object with `history`, lines of such objects, as
its evaluations and its resolver write them to `output.jsonl`, or a ZIP archive with conversations of its SDK (`sdk`).

The other events are those of https://github.com/OpenHands/OpenHands (`openhands/events/serialization/event.py`). An action of
the agent can name the model's response and state what the session cost so far; the cost of a call is the difference
to the action before it. The report counts events, and the rest of each object, which becomes a final `event`. It has
what the run cost beyond its calls.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.zip_files import Archive, is_zip
from timemachine.recording.importing.pure.drafts import (
    Ids,
    beginning_until,
    session_draft,
    system_event,
)
from timemachine.recording.importing.pure.formats.openhands.events import (
    AGENT,
    COUNTS,
    State,
    cost_stated,
    event_actions,
    usage_of_run,
)
from timemachine.recording.importing.pure.formats.openhands.sdk import (
    EVENT_FILE,
    STATE_FILE,
    Response,
    is_sdk_event,
    responses_in,
    sdk_actions,
)
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import (
    count_at,
    list_at,
    record_at,
    short_text,
    short_text_at,
    text_at,
)
from timemachine.recording.sessions.pure.draft import ActionDraft

NAME: Final = "openhands"
TITLE: Final = "OpenHands session (list of events, output.jsonl, or a .zip of conversation folders)"
_EVENT: Final = frozenset(
    {
        "args",
        "source",
        "extras",
        "cause",
        "content",
        "outputs",
        "command",
        "code",
        "action_risk",
        "is_confirmed",
    }
)


def recognises(opening: Opening) -> bool:
    """Return whether one of the first records is an event, or has a history of events, or there are files of events."""
    if opening.members:
        return any(EVENT_FILE.search(name) for name in opening.members)
    records = opening.records or tuple(each for each in (opening.fields,) if each)
    inside = opening.records_inside("items")
    return any(_is_event(each) or any(map(_is_event, _history(each)[:2])) for each in (*records, *inside))


def read(reader: Reader) -> ParsedFile:
    """Return the sessions: one per object with a history, or conversation in an archive, else one.

    Raises `InvalidInput` if there are none.
    """
    if is_zip(reader.data):
        sessions = list(_conversations(reader))
    else:
        records = list(
            reader.records(
                lambda each: _is_event(each) or bool(_history(each)), "It is not an event.", inside="items"
            )
        )
        runs = [each for each in records if not _is_event(each)]
        events = [each for each in records if _is_event(each)]
        sessions = [_session(each, _history(each), reader) for each in runs]
        if events:
            sessions.insert(0, _session({}, events, reader))
    if not any(session.actions for session in sessions):
        raise reader.refusal("it has no events.")
    return reader.parsed(sessions)


def _conversations(reader: Reader) -> Iterator[SessionDraft]:
    """Yield a session for each folder with events. A folder inside another one's is a sub-agent's."""
    archive = Archive(reader.data)
    names = frozenset(archive.names)
    files: dict[str, list[tuple[int, str]]] = {}
    for name in archive.names:
        if (found := EVENT_FILE.search(name)) is not None:
            files.setdefault(name[: found.start()], []).append((int(found[1]), name))
    paths = {folder: f"{folder}/{STATE_FILE}".lstrip("/") for folder in files}
    states = {
        folder: reader.json_object(archive.read(path)) if path in names else {}
        for folder, path in paths.items()
    }
    ids = {folder: _conversation_id(folder, state) for folder, state in states.items()}
    for folder, numbered in files.items():
        events = [reader.document(archive.read(name)) for _, name in sorted(numbered)]
        outer = _outer(folder, files)
        parent = None if outer is None else ids[outer]
        yield _conversation(ids[folder], states[folder], events, parent, reader)


def _outer(folder: str, folders: Collection[str]) -> str | None:
    """Return the innermost of the folders that this one is in, None if it is in none of them."""
    while folder:
        folder = folder.rpartition("/")[0]
        if folder in folders:
            return folder
    return None


def _conversation_id(folder: str, state: JsonObject) -> str | None:
    """Return the id of a conversation. Its folder is named after it, without the hyphens of the UUID."""
    name = folder.rpartition("/")[2]
    found = uuid_of(name)
    return short_text_at(state, "id") or (str(found) if found is not None else short_text(name))


def _conversation(
    name: str | None, state: JsonObject, events: Sequence[Any], parent: str | None, reader: Reader
) -> SessionDraft:
    taken: list[JsonObject] = []
    for each in events:
        if _is_event(each):
            reader.use()
            taken.append(each)
        else:
            reader.skip("It is not an event.")
    models = record_at(state, "stats", "usage_to_metrics")
    parts = [each for each in models.values() if isinstance(each, dict)]
    responses = {name: found for each in parts for name, found in responses_in(each).items()}
    ids = Ids()
    actions = _all_actions(taken, responses, State(ids=ids), as_calls=True)
    if state:
        reader.use()
        actions.append(_rest_of_calls(state, parts, actions, ids))
    return session_draft(
        reader.key(name, taken),
        actions,
        name=text_at(state, "title"),
        agent=AGENT,
        metadata={
            "status": text_at(state, "execution_status"),
            "model": text_at(record_at(state, "agent", "llm"), "model"),
            "working_dir": text_at(record_at(state, "workspace"), "working_dir"),
        },
        forked_from=parent,
    )


def _rest_of_calls(
    state: JsonObject, models: Sequence[JsonObject], actions: Sequence[ActionDraft], ids: Ids
) -> ActionDraft:
    """Return the final event: what the responses cost that no event names, and their tokens."""
    stated = [cost for each in models if (cost := cost_stated(each)) is not None]
    known = sum((each.cost_usd for each in actions if each.cost_usd is not None), Decimal(0))
    whole = sum(stated, Decimal(0))
    rest: dict[str, int] = {}
    named = {text_at(each.output, "response_id") for each in actions if each.kind == "llm_call"}
    for model in models:
        for each in list_at(model, "token_usages"):
            if text_at(each, "response_id") not in named:
                for name in COUNTS:
                    if (count := count_at(each, name)) is not None:
                        rest[name] = rest.get(name, 0) + count
    return replace(
        system_event("state", ids.claim("state"), source=state, output=None),
        usage=usage_of_run(rest),
        cost_usd=whole - known if stated and whole > known else None,
    )


def _all_actions(
    events: Sequence[JsonObject], responses: Mapping[str, Response], state: State, *, as_calls: bool
) -> list[ActionDraft]:
    """Return the actions of the events, those of the SDK first; a file has only one kind."""
    made = sdk_actions([each for each in events if is_sdk_event(each)], responses, state.ids)
    earlier = (each for each in events if not is_sdk_event(each))
    return made + [action for event in earlier for action in event_actions(event, as_calls, state)]


def _is_event(record: Any) -> bool:
    """Return whether it is an action or an observation, or an event of the SDK. A step of SWE-agent is both, and its messages
    have a role."""
    if not isinstance(record, dict) or "role" in record:
        return False
    if is_sdk_event(record):
        return True
    has_action, has_observation = (isinstance(record.get(name), str) for name in ("action", "observation"))
    return has_action != has_observation and not record.keys().isdisjoint(_EVENT)


def _history(record: JsonObject) -> list[Any]:
    """Return the events of a run; earlier versions wrote pairs of an action and its observation."""
    listed = list_at(record, "history") or list_at(record, "trajectory")
    return [event for each in listed for event in (each if isinstance(each, list) else [each])]


def _session(run: JsonObject, events: Sequence[Any], reader: Reader) -> SessionDraft:
    taken = [each for each in events if reader.takes(each, "an event")]
    rest = {name: value for name, value in run.items() if name not in {"history", "trajectory"}}
    metrics = record_at(rest, "metrics")
    issue = record_at(rest, "issue")
    as_calls = any("llm_metrics" in each for each in taken) or cost_stated(metrics) is None
    state = State(ids=Ids())
    actions = _all_actions(taken, responses_in(metrics), state, as_calls=as_calls)
    if rest:
        reader.use()
        actions.append(_end(rest, metrics, actions, state))
    instance = text_at(rest, "instance_id")
    return session_draft(
        reader.key(None, run or beginning_until(taken, _is_dated_answer) or taken),
        actions,
        name=instance or text_at(issue, "title"),
        agent=AGENT,
        metadata={
            "instance": instance,
            "issue": issue.get("number"),
            "repository": "/".join(text for name in ("owner", "repo") if (text := text_at(issue, name)))
            or None,
            "model": text_at(record_at(rest, "metadata", "llm_config"), "model"),
            "success": rest.get("success"),
        },
    )


def _is_dated_answer(event: JsonObject) -> bool:
    return text_at(event, "source") == "agent" and text_at(event, "timestamp") is not None


def _end(rest: JsonObject, metrics: JsonObject, actions: Sequence[ActionDraft], state: State) -> ActionDraft:
    """Return the final event: the cost that no call has, and the tokens of the run if no call has any."""
    whole = cost_stated(metrics)
    known = sum((each.cost_usd for each in actions if each.cost_usd is not None), Decimal(0))
    usages = [each for each in list_at(metrics, "token_usages") if isinstance(each, dict)]
    listed = {
        name: sum(known_counts)
        for name in COUNTS
        if (known_counts := [count for each in usages if (count := count_at(each, name)) is not None])
    }
    counted = any(each.usage for each in actions)
    failure = text_at(rest, "error")
    return replace(
        system_event("end", state.ids.claim("end"), source=rest, output=rest),
        usage=None if counted else usage_of_run(record_at(metrics, "accumulated_token_usage") or listed),
        cost_usd=None if whole is None or whole < known else whole - known,
        error_type="error" if failure else None,
        error_message=failure,
    )
