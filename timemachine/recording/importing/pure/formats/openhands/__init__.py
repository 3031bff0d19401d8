"""Sessions of OpenHands: a list of events, one event per line, an object with `history`, or lines of such objects, as
its evaluations and its resolver write them to `output.jsonl`.

The events are those of https://github.com/OpenHands/OpenHands (`openhands/events/serialization/event.py`). An action of
the agent can name the model's response and state what the session cost so far; the cost of a call is the difference
to the action before it. The report counts events, and the rest of each object, which becomes a final `event`. It has
what the run cost beyond its calls.
"""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.drafts import (
    Ids,
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
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import (
    count_at,
    list_at,
    record_at,
    text_at,
)
from timemachine.recording.sessions.pure.draft import ActionDraft

NAME: Final = "openhands"
TITLE: Final = "a session of OpenHands (a list of events, or output.jsonl)"
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
    """Return whether one of the first records is an event, or has a history of events."""
    records = opening.records or tuple(each for each in (opening.fields,) if each)
    return any(_is_event(each) or any(map(_is_event, _history(each)[:2])) for each in records)


def read(reader: Reader) -> ParsedFile:
    """Return the sessions: one per object with a history, else one. Raises `InvalidInput` if there are none."""
    records = list(
        reader.records(lambda each: _is_event(each) or bool(_history(each)), "It is not an event.")
    )
    runs = [each for each in records if not _is_event(each)]
    events = [each for each in records if _is_event(each)]
    sessions = [_session(each, _history(each), reader) for each in runs]
    if events:
        sessions.insert(0, _session({}, events, reader))
    if not sessions:
        raise reader.refusal("it has no events.")
    return reader.parsed(sessions)


def _is_event(record: Any) -> bool:
    """Return whether it is an action or an observation. A step of SWE-agent is both, and its messages have a role."""
    if not isinstance(record, dict) or "role" in record:
        return False
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
    actions = [action for event in taken for action in event_actions(event, as_calls, state)]
    if rest:
        reader.use()
        actions.append(_end(rest, metrics, actions, state))
    instance = text_at(rest, "instance_id")
    return session_draft(
        reader.key(None, run or taken),
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
