"""Results of tau2-bench (tau³-bench): `{info, tasks, simulations}`, or a single simulation; one session per simulation.

A message with tokens or a cost is a model call with the message under it, of the agent or of the simulated user. In
voice runs, `ticks` hold pieces of both sides' messages, their tool calls and results. Ticks with none of these are
merged while the same sides speak. tau2-bench writes the sum of each side's costs on the simulation; what its messages
do not account for is the cost of the session's final event. Times have no offset and are read as UTC.

The report counts simulations (without contents), messages and ticks, and the file without its simulations.
Source: src/tau2/data_model/ of sierra-research/tau2-bench.
"""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import groupby
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import sum_known
from timemachine.llm.pure.price_conditions import with_conditions
from timemachine.recording.importing.pure.chat import chat_actions
from timemachine.recording.importing.pure.drafts import Ids, link_results, session_draft, system_event
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import (
    dollars,
    list_at,
    milliseconds,
    milliseconds_between,
    model_name,
    moment,
    number,
    record_at,
    short_text_at,
    text_at,
    usage_of,
)
from timemachine.recording.sessions.pure.draft import ActionDraft

NAME: Final = "tau2_bench"
TITLE: Final = "tau2-bench results (JSON object with simulations, or one simulation)"
_SIMULATION: Final = frozenset({"task_id", "termination_reason"})
_CONTENTS: Final = ("messages", "ticks")
_SIDES: Final = {"assistant": "agent", "user": "user"}
_UTC: Final = "Times in this file have no UTC offset, so they were read as UTC."


def recognises(opening: Opening) -> bool:
    """Return whether it has simulations of tasks, or is one."""
    found = opening.fields
    first = next(iter(list_at(found, "simulations")), None)
    is_run = isinstance(first, dict) and "task_id" in first and "traj" not in first
    return is_run or _is_simulation(found) or ("tasks" in found and "agent_info" in record_at(found, "info"))


def read(reader: Reader) -> ParsedFile:
    """Return one session per simulation. Raises `InvalidInput` (`unknown_format`) if there are none."""
    found = reader.json_object()
    whole = _is_simulation(found)
    simulations = [found] if whole else list_at(found, "simulations")
    info = record_at(found, "info")
    drafts = [_session(each, info, reader) for each in simulations if reader.takes(each, "a simulation")]
    if not drafts:
        raise reader.refusal(
            "it has no simulations. If they are in a folder next to it, import the files in that folder."
        )
    if any(draft.started_at for draft in drafts):
        reader.notes.append(_UTC)
    if not whole:
        reader.use()
        rest = {name: value for name, value in found.items() if name != "simulations"}
        run = system_event(
            "run", "run", source=rest, output={"info": info, "timestamp": found.get("timestamp")}
        )
        drafts[0] = replace(drafts[0], actions=(*drafts[0].actions, run))
    return reader.parsed(drafts)


def _is_simulation(record: JsonObject) -> bool:
    return record.keys() >= _SIMULATION and any(name in record for name in _CONTENTS)


def _session(simulation: JsonObject, info: JsonObject, reader: Reader) -> SessionDraft:
    ids = Ids()
    models = {side: short_text_at(record_at(info, f"{named}_info"), "llm") for side, named in _SIDES.items()}
    messages, ticks = list_at(simulation, "messages"), list_at(simulation, "ticks")
    actions = [
        action
        for place, message in enumerate(messages, start=1)
        if reader.takes(message, "a message")
        for action in _message(message, models, ids, f"message-{place}")
    ]
    if ticks and not messages:
        actions += _ticks([each for each in ticks if reader.takes(each, "a tick")], models, ids)
    elif ticks:
        reader.notes.append(
            "Ticks that repeat the messages were not read; they are kept in the source of the last step."
        )
    left_out = ("messages",) if messages else _CONTENTS
    rest = {name: value for name, value in simulation.items() if name not in left_out}
    actions.append(_end(rest, actions, ids))
    task, trial = simulation.get("task_id"), simulation.get("trial")
    return session_draft(
        reader.key(short_text_at(simulation, "id"), simulation),
        link_results(actions),
        name=f"Task {task}, trial {trial}",
        agent="tau2-bench",
        started_at=moment(simulation.get("start_time"), offset_missing=True),
        ended_at=moment(simulation.get("end_time"), offset_missing=True),
        metadata={
            "task_id": task,
            "trial": trial,
            "reward": number(record_at(simulation, "reward_info").get("reward")),
            "termination_reason": text_at(simulation, "termination_reason"),
            "seed": simulation.get("seed"),
            "mode": text_at(simulation, "mode"),
            "domain": text_at(record_at(info, "environment_info"), "domain_name"),
            "agent_cost": number(simulation.get("agent_cost")),
            "user_cost": number(simulation.get("user_cost")),
        },
    )


def _end(rest: JsonObject, actions: list[ActionDraft], ids: Ids) -> ActionDraft:
    """Return the end of a simulation, with the cost that it states beyond those of its messages."""
    costs: list[Decimal] = []
    for agent in _SIDES.values():
        stated = dollars(rest.get(f"{agent}_cost"))
        spent = sum_known(*(each.cost_usd for each in actions if each.agent == agent)) or Decimal(0)
        if stated is not None and stated > spent:
            costs.append(stated - spent)
    outcome = {
        name: rest.get(name) for name in ("termination_reason", "reward_info", "agent_cost", "user_cost")
    }
    failed = text_at(rest, "termination_reason") in {"agent_error", "user_error", "too_many_errors"}
    return replace(
        system_event("end", ids.claim("end"), source=rest, output=outcome),
        started_at=moment(rest.get("end_time"), offset_missing=True),
        cost_usd=sum_known(*costs),
        error_type=text_at(rest, "termination_reason") if failed else None,
    )


def _message(
    message: JsonObject, models: dict[str, str | None], ids: Ids, where: str
) -> Iterator[ActionDraft]:
    several = list_at(message, "tool_messages")
    if several:  # the results of one message's calls
        for place, each in enumerate(several, start=1):
            result = _result(record_at(each), ids, f"{where}/result-{place}")
            yield replace(result, source=message if place == 1 else None)
        return
    role = text_at(message, "role") or ""
    if role == "tool":
        yield replace(_result(message, ids, where), source=message)
        return
    raw = record_at(message, "raw_data")
    usage = usage_of(message.get("usage"), read=["prompt_tokens"], written=["completion_tokens"])
    cost = dollars(message.get("cost")) or None  # it writes 0 for a cost that it could not calculate
    base = ActionDraft(
        kind="event",
        agent=_SIDES.get(role),
        started_at=moment(message.get("timestamp"), offset_missing=True),
    )
    spoken = chat_actions(message, base, ids, where)
    if usage is None and cost is None and not raw:
        yield from spoken
        return
    call = replace(
        base,
        kind="llm_call",
        id=ids.claim(f"{where}/call"),
        layer="agent",
        role="agent",
        model=model_name(short_text_at(raw, "model") or models.get(role)),
        parameters=with_conditions({}, raw) or None,
        usage=usage,
        cost_usd=cost,
        duration_ms=milliseconds(message.get("generation_time_seconds"), of_one=1000),
        output={"content": message.get("content"), "tool_calls": message.get("tool_calls")},
        source=message,
    )
    yield call
    for each in spoken:
        yield replace(each, parent=call.id, source=None)


def _result(message: JsonObject, ids: Ids, where: str) -> ActionDraft:
    failed = message.get("error") is True
    content = message.get("content")
    return ActionDraft(
        kind="tool_result",
        id=ids.claim(where),
        layer="tool",
        role="tool",
        agent=_SIDES.get(text_at(message, "requestor") or ""),
        call_id=short_text_at(message, "id"),
        started_at=moment(message.get("timestamp"), offset_missing=True),
        output=content,
        error_type="tool_error" if failed else None,
        error_message=content if failed and isinstance(content, str) else None,
    )


def _ticks(ticks: list[JsonObject], models: dict[str, str | None], ids: Ids) -> Iterator[ActionDraft]:
    for (silent, *speaking), group in groupby(ticks, _state):
        held = list(group)
        if silent:
            yield _span(held, speaking, ids)
        else:
            for tick in held:
                yield from _tick(tick, models, ids)


def _state(tick: JsonObject) -> tuple[bool, bool, bool]:
    """Return whether a tick has no content, and whether the agent and the user speak in it."""
    chunks = [record_at(tick, f"{agent}_chunk") for agent in _SIDES.values()]
    has_content = any(text_at(chunk, "content") or list_at(chunk, "tool_calls") for chunk in chunks) or any(
        list_at(tick, f"{agent}_tool_{what}") for agent in _SIDES.values() for what in ("calls", "results")
    )
    return (not has_content, *(chunk.get("contains_speech") is True for chunk in chunks))  # type: ignore[return-value]


def _span(ticks: list[JsonObject], speaking: list[bool], ids: Ids) -> ActionDraft:
    start, end = (moment(tick.get("timestamp"), offset_missing=True) for tick in (ticks[0], ticks[-1]))
    sides = [agent for agent, speaks in zip(_SIDES.values(), speaking, strict=True) if speaks]
    return replace(
        system_event("ticks", ids.claim(f"ticks-{ticks[0].get('tick_id')}"[:80]), source=ticks, output=None),
        started_at=start,
        duration_ms=milliseconds_between(start, end),
        output={"ticks": len(ticks), "speaking": sides},
    )


def _tick(tick: JsonObject, models: dict[str, str | None], ids: Ids) -> list[ActionDraft]:
    """Return what both sides said and did in a tick."""
    where = f"tick-{tick.get('tick_id')}"[:80]
    found: list[ActionDraft] = []
    for role, agent in _SIDES.items():
        chunk = {"role": role, **record_at(tick, f"{agent}_chunk")}
        calls = list_at(tick, f"{agent}_tool_calls")
        chunk |= {"tool_calls": calls} if calls and not list_at(chunk, "tool_calls") else {}
        if text_at(chunk, "content") or list_at(chunk, "tool_calls"):
            found += _message(chunk, models, ids, f"{where}/{agent}")
        found += [
            _result(each, ids, f"{where}/{agent}-result-{place}")
            for place, each in enumerate(list_at(tick, f"{agent}_tool_results"), start=1)
            if isinstance(each, dict)
        ]
    at = moment(tick.get("timestamp"), offset_missing=True)
    placed = [replace(each, started_at=each.started_at or at, source=None) for each in found]
    if not placed:  # only results that are not objects
        placed = [system_event("tick", ids.claim(where), source=None, output=None)]
    return [replace(placed[0], source=tick), *placed[1:]]
