"""Trajectories in ATIF, the Agent Trajectory Interchange Format (written for v1.7).

The report counts steps, and each trajectory without its steps, which becomes a final `event`. A trajectory inside
another one is a session of its own that branches from it. A step with `is_copied_context` was copied from an earlier
trajectory. ATIF does not say which; Harbor's agents do, see `_earlier`.

If a trajectory cost more than its steps state, the rest is on the final event, with the tokens of the calls that state no
cost. These calls have no model, because their price is in the sum; model and metrics are in their metadata.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final, cast

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.price_conditions import with_conditions
from timemachine.recording.importing.pure.drafts import (
    Ids,
    id_with_digest,
    link_results,
    session_draft,
    system_event,
    tool_result,
)
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import (
    count_at,
    dollars,
    list_at,
    model_name,
    moment,
    record_at,
    short_text_at,
    sum_of,
    text_at,
    usage_of,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage, copy_of
from timemachine.recording.sessions.pure.validation import key_of
from timemachine.recording.sessions.pure.vocabulary import ROLES, SETTINGS

NAME: Final = "atif"
TITLE: Final = "ATIF trajectory (JSON object with schema_version and steps)"
_SOURCES: Final = {"user": "user", "agent": "agent"}
_LAYERS: Final = {"system": "sys", "tool": "tool", None: None}
_NOT_RECORDED: Final = object()


def recognises(opening: Opening) -> bool:
    """Return whether `schema_version` names ATIF."""
    return (text_at(opening.fields, "schema_version") or "").upper().startswith("ATIF")


def read(reader: Reader) -> ParsedFile:
    """Return the session of the trajectory and of those inside it. Raises `InvalidInput` if it has no steps."""
    found = reader.json_object()
    if not list_at(found, "steps"):
        raise reader.refusal("it has no `steps`.")
    return reader.parsed(_sessions(found, reader, None))


def _sessions(found: JsonObject, reader: Reader, outer: str | None) -> list[SessionDraft]:
    key = reader.key(short_text_at(found, "trajectory_id", "session_id"), found)
    inner = [each for each in list_at(found, "subagent_trajectories") if isinstance(each, dict)]
    drafts = [_session(found, key, reader, outer)]
    for each in inner:
        drafts += _sessions(each, reader, key)
    for _ in range(len(list_at(found, "subagent_trajectories")) - len(inner)):
        reader.skip("It is not an object, so it is not a trajectory.")
    return drafts


def _session(found: JsonObject, key: str, reader: Reader, outer: str | None) -> SessionDraft:
    made_up = list_at(record_at(found, "agent", "extra"), "not_recorded")  # by our export: ATIF requires them
    agent = {name: value for name, value in record_at(found, "agent").items() if name not in made_up}
    ids = Ids()
    named = _earlier(found)
    earlier = outer if named and outer else named
    steps = [each for each in list_at(found, "steps") if reader.takes(each, "a step")]
    beyond = _cost_beyond(found, steps)
    actions = [action for step in steps for action in _step(step, agent, ids, earlier)]
    if beyond is not None:
        actions = [_in_the_sum(action) if _has_no_cost(action) else action for action in actions]
    reader.use()
    return session_draft(
        key,
        link_results(
            [*_tools(agent, ids), *actions, replace(_rest(found, agent, actions, ids), cost_usd=beyond)]
        ),
        agent=short_text_at(agent, "name"),
        metadata={
            "schema_version": text_at(found, "schema_version"),
            "session_id": text_at(found, "session_id"),
            "agent_version": text_at(agent, "version"),
            "model": text_at(agent, "model_name"),
            "notes": text_at(found, "notes"),
            "continued_trajectory_ref": text_at(found, "continued_trajectory_ref"),
        },
        forked_from=outer or earlier,
    )


def _tools(agent: JsonObject, ids: Ids) -> Iterator[ActionDraft]:
    """Yield an event with the tools that the agent could call, if they are recorded."""
    tools = list_at(agent, "tool_definitions")
    if tools:
        stated = system_event("tools", ids.claim(id_with_digest("tools", tools)), None, {"tools": tools})
        yield replace(stated, tags=(SETTINGS,))


def _cost_beyond(found: JsonObject, steps: Sequence[JsonObject]) -> Decimal | None:
    """Return what the trajectory states to have cost beyond its own steps. None if it states no more, or if its sum has the
    costs of copied steps or of other trajectories, too."""
    whole = _whole_cost(found)
    own, copied = (
        _sum_of_costs(
            dollars(record_at(each, "metrics").get("cost_usd"))
            for each in steps
            if _is_copied(each) is copies
        )
        for copies in (False, True)
    )
    inner = _sum_of_costs(map(_whole_cost, list_at(found, "subagent_trajectories")))
    if (
        whole is None
        or _has_other_sums(found)
        or _has_copied_tokens(found, steps)
        or whole <= own
        or whole - own in {copied, inner, copied + inner}
    ):
        return None
    return whole - own


def _has_other_sums(found: JsonObject) -> bool:
    """Return whether the sums are also those of trajectories in other files: Harbor adds up the whole series, and the
    sub-agents that steps refer to."""
    results = (
        each
        for step in list_at(found, "steps")
        for each in list_at(record_at(step, "observation"), "results")
    )
    refers = any(list_at(each, "subagent_trajectory_ref") for each in results)
    return _number(found) is not None or (refers and not list_at(found, "subagent_trajectories"))


def _has_copied_tokens(found: JsonObject, steps: Sequence[JsonObject]) -> bool:
    """Return whether the tokens of the trajectory are those of all steps, copied ones included."""
    for name in ("prompt_tokens", "completion_tokens"):
        own, copied = (
            sum(
                count_at(record_at(each, "metrics"), name) or 0
                for each in steps
                if _is_copied(each) is copies
            )
            for copies in (False, True)
        )
        if not copied or record_at(found, "final_metrics").get(f"total_{name}") != own + copied:
            return False
    return True


def _sum_of_costs(costs: Iterable[Decimal | None]) -> Decimal:
    return sum((each for each in costs if each is not None), Decimal(0))


def _is_copied(step: JsonObject) -> bool:
    return step.get("is_copied_context") is True


def _whole_cost(trajectory: Any) -> Decimal | None:
    return dollars(record_at(trajectory, "final_metrics").get("total_cost_usd"))


def _has_no_cost(action: ActionDraft) -> bool:
    return action.kind == "llm_call" and action.cost_usd is None and action.copied_from is None


def _in_the_sum(call: ActionDraft) -> ActionDraft:
    """Return a call whose cost is part of that of the trajectory."""
    facts = {"model": call.model, "metrics": record_at(call.source, "metrics") or None}
    known = {name: value for name, value in facts.items() if value}
    return replace(call, model=None, usage=None, metadata=known or None)


def _earlier(found: JsonObject) -> str | None:
    """Return the session that a trajectory of Harbor's agents continues.

    A sub-agent names it as `parent_session_id`. A trajectory that continues after the context was summarised is
    numbered, in its `session_id` as well (`Terminus2` in Harbor's source).
    """
    extra = record_at(found, "agent", "extra")
    named = short_text_at(extra, "parent_session_id")
    number = _number(found)
    first, _, last = (short_text_at(found, "session_id") or "").rpartition("-cont-")
    if named is None and number and first and last == f"{number}":
        named = first if number == 1 else f"{first}-cont-{number - 1}"
    return None if named is None else key_of(named, NAME)


def _number(found: JsonObject) -> int | None:
    """Return the place of a trajectory in a series of Harbor, from 1 on; None for the first one, and outside of a series."""
    return count_at(record_at(found, "agent", "extra"), "continuation_index") or None


def _step(step: JsonObject, agent: JsonObject, ids: Ids, earlier: str | None) -> list[ActionDraft]:
    """Return the actions of a step; the first one has the step as its `source`."""
    name = ids.claim(id_with_digest(f"step-{step.get('step_id')}"[:40], step))
    role = _role(step)
    base = ActionDraft(
        kind="message",
        layer=_LAYERS.get(role, "agent"),
        role=role,
        agent=short_text_at(agent, "name") if role == "agent" else None,
        started_at=moment(step.get("timestamp"), offset_missing=True),
        copied_from=copy_of(earlier) if _is_copied(step) else None,
    )
    called = role == "agent" and step.get("llm_call_count") != 0
    first = [_call(step, agent, base)] if called else []
    rest = list(_parts(step, base, whole=not called))
    made = _failed([*first, *rest] or [replace(base, output=step.get("message"))], step)
    return [
        replace(
            _as_recorded(action, step),
            id=name if place == 1 else ids.claim(f"{name}/{place}"),
            parent=name if called and place > 1 and action.kind != "tool_result" else None,
            source=step if place == 1 else None,
        )
        for place, action in enumerate(made, start=1)
    ]


def _role(step: JsonObject) -> str | None:
    """Return whose step it is. Our exports name roles that ATIF has no word for, and say if none was recorded."""
    role = record_at(step, "extra").get("role", _NOT_RECORDED)
    if role is None or role in ROLES:
        return cast("str | None", role)
    return _SOURCES.get(text_at(step, "source") or "", "system")


def _failed(made: Sequence[ActionDraft], step: JsonObject) -> list[ActionDraft]:
    """Return the actions with the errors that our exports list."""
    remaining = [each for each in list_at(record_at(step, "extra"), "errors") if isinstance(each, dict)]
    found = []
    for action in made:
        error = next((each for each in remaining if _is_of(each, action)), None)
        if error is None:
            found.append(action)
            continue
        remaining.remove(error)
        found.append(
            replace(action, error_type=short_text_at(error, "type"), error_message=text_at(error, "message"))
        )
    return found


def _as_recorded(action: ActionDraft, step: JsonObject) -> ActionDraft:
    """Return a call without the id or tool that our export made up."""
    if action.kind != "tool_call" or action.call_id is None:
        return action
    made_up = list_at(record_at(record_at(step, "extra"), "not_recorded"), action.call_id)
    return replace(
        action,
        call_id=None if "call_id" in made_up else action.call_id,
        tool=None if "tool" in made_up else action.tool,
    )


def _is_of(error: JsonObject, action: ActionDraft) -> bool:
    ids = (error.get("call_id"), action.call_id)
    return error.get("kind") == action.kind and (None in ids or ids[0] == ids[1])


def _call(step: JsonObject, agent: JsonObject, base: ActionDraft) -> ActionDraft:
    metrics = record_at(step, "metrics")
    effort = step.get("reasoning_effort")
    return replace(
        base,
        kind="llm_call",
        model=model_name(short_text_at(step, "model_name") or short_text_at(agent, "model_name")),
        parameters=with_conditions(
            {} if effort is None else {"reasoning_effort": effort}, record_at(metrics, "extra")
        )
        or None,
        usage=_usage(metrics),
        cost_usd=dollars(metrics.get("cost_usd")),
        output={name: step[name] for name in ("message", "tool_calls") if step.get(name)},
    )


def _usage(metrics: JsonObject) -> Usage | None:
    return usage_of(metrics, read=["prompt_tokens"], written=["completion_tokens"], cached=["cached_tokens"])


def _parts(step: JsonObject, base: ActionDraft, *, whole: bool) -> Iterator[ActionDraft]:
    if (thought := text_at(step, "reasoning_content")) is not None:
        yield replace(base, name="thinking", tags=("thinking",), output=thought)
    message = step.get("message")
    if message not in (None, "", []) or (whole and base.role != "agent"):
        yield replace(base, output=message)
    for call in list_at(step, "tool_calls"):
        yield replace(
            base,
            kind="tool_call",
            layer="tool",
            tool=short_text_at(call, "function_name"),
            call_id=short_text_at(call, "tool_call_id"),
            input=call.get("arguments") if isinstance(call, dict) else call,
        )
    for result in list_at(record_at(step, "observation"), "results"):
        inner = list_at(result, "subagent_trajectory_ref")
        content = result.get("content") if isinstance(result, dict) else result
        yield tool_result(
            base,
            call_id=short_text_at(result, "source_call_id"),
            output={"content": content, "subagent_trajectory_ref": inner} if inner else content,
        )


def _rest(found: JsonObject, agent: JsonObject, actions: list[ActionDraft], ids: Ids) -> ActionDraft:
    """Return the final event: the trajectory without its steps. It has the tokens of the calls whose cost is in the sum of
    the run; those of the run count only if no step of its own has any, and if they are only of this run."""
    rest = {name: value for name, value in found.items() if name not in {"steps", "subagent_trajectories"}}
    final = record_at(found, "final_metrics")
    own = [action for action in actions if action.copied_from is None]
    in_sum = [usage for each in own if each.metadata and (usage := _usage(record_at(each.source, "metrics")))]
    stated = usage_of(
        final,
        read=["total_prompt_tokens"],
        written=["total_completion_tokens"],
        cached=["total_cached_tokens"],
    )
    is_counted = (
        in_sum or any(action.usage or action.cost_usd is not None for action in own) or _has_other_sums(found)
    )
    return replace(
        system_event("trajectory", ids.claim(id_with_digest("trajectory", rest)), rest, rest),
        agent=short_text_at(agent, "name"),
        usage=sum_of(in_sum) if is_counted else stated,
    )
