"""ATIF, the Agent Trajectory Interchange Format (v1.7): a JSON document, written step by step.

A model call is a step of the agent; what it contains (thoughts, messages, tool calls and their results) is part of
that step. Any other action is a step of the system. Each step has its complete actions in `extra`.
"""

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.exports import Exported, line_of, text_of
from timemachine.recording.sessions.pure.corrections import unknown_cost_calls
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALLS, SPENDING

NAME: Final = "atif"
TITLE: Final = "ATIF v1.7 trajectory, for tools that train and evaluate agents"
ENDING: Final = ".atif.json"
MEDIA_TYPE: Final = "application/json"
_UNKNOWN: Final = "unknown"
_SUMS: Final = {
    "prompt_tokens": "total_prompt_tokens",
    "completion_tokens": "total_completion_tokens",
    "cached_tokens": "total_cached_tokens",
    "cost_usd": "total_cost_usd",
}
_USAGE: Final = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cached_tokens": "cached_tokens",
}


def parts(session: Exported) -> Iterator[bytes]:
    """Yield the trajectory. Its sums cover what was recorded in it, without copied steps; if the cost of a call is unknown, there is no total cost."""
    about = session.about
    agent: JsonObject = {"name": about["agent"] or _UNKNOWN, "version": _UNKNOWN}
    agent["extra"] = {"not_recorded": ["version"] if about["agent"] else ["name", "version"]}
    opening = {"schema_version": "ATIF-v1.7", "session_id": about["key"], "agent": agent}
    yield line_of(opening)[:-1] + b',"steps":['
    sums: JsonObject = {}
    number = unknown = 0
    for number, step in enumerate(_steps(session), start=1):
        own = [each for each in step["extra"]["timemachine"] if each["copied_from"] is None]
        for metrics in (_called(each).get("metrics", {}) for each in own if each["kind"] in SPENDING):
            for name, value in metrics.items():
                sums[name] = sums.get(name, 0) + (Decimal(str(value)) if name == "cost_usd" else value)
        unknown += sum(map(_unknown_cost_calls, own))
        yield b",\n" if number > 1 else b"\n"
        yield line_of({"step_id": number, **step})
    final = {
        _SUMS[name]: float(value) if isinstance(value, Decimal) else value for name, value in sums.items()
    }
    extra: JsonObject = {"timemachine": about}
    if unknown:
        extra |= {"known_cost_usd": final.pop(_SUMS["cost_usd"], None), "unknown_cost_calls": unknown}
    ending = {"final_metrics": {**final, "total_steps": number}, "extra": extra}
    yield b"\n]," + line_of(ending)[1:] + b"\n"


def _steps(session: Exported) -> Iterator[JsonObject]:
    open_step: JsonObject | None = None
    for each in session.steps:
        action = each.action
        if open_step is not None and _joins(open_step, action):
            _join(open_step, action)
            continue
        if open_step is not None:
            yield open_step
        open_step = _new_step(action)
    if open_step is not None:
        yield open_step


def _new_step(action: JsonObject) -> JsonObject:
    kind = action["kind"]
    step: JsonObject = {"timestamp": action["started_at"], "source": "system", "message": ""}
    if step["timestamp"] is None:
        del step["timestamp"]
    step["extra"] = {"timemachine": []}
    if action["copied_from"] is not None:
        step["is_copied_context"] = True
    if kind in MODEL_CALLS:
        step |= {"source": "agent", "llm_call_count": 1, **_called(action)}
        step["message"] = text_of(action["output"]) if kind == "ask" else ""
        _attach(step, action, "llm_call")
        return step
    if kind in {"tool_call", "tool_result"} or (kind == "message" and action["role"] == "agent"):
        step |= {"source": "agent", "llm_call_count": 0}
        _join(step, action)
        return step
    if kind == "message":
        step["source"] = "user" if action["role"] == "user" else "system"
        step["message"] = text_of(action["output"])
        if action["role"] not in {"user", "system"}:
            step["extra"]["role"] = action["role"]
    else:
        step["message"] = text_of(action["output"]) or action["name"] or kind
    _attach(step, action, "message")
    return step


def _attach(step: JsonObject, action: JsonObject, read_as: str, call_id: str | None = None) -> None:
    """Add the complete action to the step, and its error, for which ATIF has no field, under the kind and call id by
    which it is imported again."""
    step["extra"]["timemachine"].append(action)
    if action["error"] is not None:
        error = {"kind": read_as, "call_id": call_id or action["call_id"], **action["error"]}
        step["extra"].setdefault("errors", []).append(error)


def _called(action: JsonObject) -> JsonObject:
    usage = action["usage"] or {}
    metrics: JsonObject = {name: usage.get(ours) for name, ours in _USAGE.items()}
    metrics["cost_usd"] = None if action["cost_usd"] is None else float(action["cost_usd"])
    recorded = {name: value for name, value in metrics.items() if value is not None}
    return {
        **({"model_name": action["model"]} if action["model"] is not None else {}),
        **({"metrics": recorded} if recorded else {}),
    }


def _unknown_cost_calls(action: JsonObject) -> int:
    usage = action["usage"] or {}
    used = {name: usage.get(name) for name in ("input_tokens", "output_tokens")}
    return unknown_cost_calls(
        action["kind"], model=action["model"], cost_usd=action["cost_usd"], prices=action["prices"], **used
    )


def _joins(step: JsonObject, action: JsonObject) -> bool:
    """Return whether the action belongs to the open step: a result belongs to its call, and calls precede all results."""
    if step["source"] != "agent" or ("is_copied_context" in step) != (action["copied_from"] is not None):
        return False
    calls = [call["tool_call_id"] for call in step.get("tool_calls", [])]
    if action["kind"] == "tool_result":
        return action["call_id"] is not None and action["call_id"] in calls
    if "observation" in step:
        return False
    if action["kind"] == "tool_call":
        return action["call_id"] not in calls
    if action["kind"] != "message" or action["role"] != "agent" or calls:
        return False
    return "reasoning_content" not in step if _is_thought(action) else step["message"] == ""


def _join(step: JsonObject, action: JsonObject) -> None:
    if action["kind"] == "tool_call":
        _join_call(step, action)
        return
    _attach(step, action, action["kind"])
    if action["kind"] == "tool_result":
        calls = [call["tool_call_id"] for call in step.get("tool_calls", [])]
        result: JsonObject = {"content": text_of(action["output"])}
        if action["call_id"] in calls:
            result["source_call_id"] = action["call_id"]
        step.setdefault("observation", {"results": []})["results"].append(result)
    elif _is_thought(action):
        step["reasoning_content"] = text_of(action["output"])
    else:
        step["message"] = text_of(action["output"])


def _join_call(step: JsonObject, action: JsonObject) -> None:
    """Add a call, which must have an id and a name; `extra` lists which of them were made up."""
    name = action["call_id"] or f"step-{action['sequence']}"
    _attach(step, action, "tool_call", name)
    given = action["input"]
    if not isinstance(given, dict):  # ATIF requires an object
        given = {} if given is None else {"input": given}
    step.setdefault("tool_calls", []).append(
        {
            "tool_call_id": name,
            "function_name": action["tool"] or _UNKNOWN,
            "arguments": given,
        }
    )
    if missing := [field for field in ("call_id", "tool") if not action[field]]:
        step["extra"].setdefault("not_recorded", {})[name] = missing


def _is_thought(action: JsonObject) -> bool:
    return "thinking" in action["tags"]
