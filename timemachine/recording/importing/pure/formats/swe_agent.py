"""Trajectories of SWE-agent: one `.traj` file each.

`trajectory` has the steps (thought, action, observation): a model call each, with the command below it. `history` has the messages to the model and repeats the
steps; such a message becomes part of its step's action. The report counts steps, messages, and the rest of the file,
which becomes a final `event` with the tokens and the cost of the run: they were recorded only for the run. SWE-agent
writes 0 for tokens and costs that it did not count or could not compute.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import counted
from timemachine.recording.importing.pure.chat import chat_actions, turn_actions
from timemachine.recording.importing.pure.drafts import (
    Ids,
    session_draft,
    system_event,
    tool_call,
    tool_result,
)
from timemachine.recording.importing.pure.model_turns import written
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.importing.pure.values import (
    cost_at_their_price,
    list_at,
    milliseconds,
    parsed_json,
    record_at,
    short_text,
    short_text_at,
    text_at,
    text_of_content,
    usage_of,
)
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.vocabulary import IN_TEXT, SENT

NAME: Final = "swe_agent"
TITLE: Final = "SWE-agent trajectory (.traj file)"
_AGENT: Final = "swe-agent"
_ISSUE: Final = re.compile(r"ISSUE:\s*(.+)")


def recognises(opening: Opening) -> bool:
    """Return whether it has a trajectory of steps with actions, or an empty one and a history."""
    found = opening.fields
    steps = found.get("trajectory")
    if not isinstance(steps, list):
        return False
    return any(isinstance(step, dict) and "action" in step and "args" not in step for step in steps) or (
        not steps and "history" in found
    )


def read(reader: Reader) -> ParsedFile:
    """Return the session of the file. Raises `InvalidInput` (`unknown_format`) if it has neither steps nor messages."""
    found = reader.json_object()
    if not (list_at(found, "trajectory") or list_at(found, "history")):
        raise reader.refusal("it has no `trajectory` and no `history`.")
    steps = [each for each in list_at(found, "trajectory") if reader.takes(each, "a step")]
    messages = [each for each in list_at(found, "history") if reader.takes(each, "a message")]
    owners = _owners(messages, steps)
    if owners:
        reader.notes.append(
            f"{counted(len(owners), 'message')} of the history repeated a step. Each is stored in the source of that step."
        )
    reader.use()
    ids = Ids()
    config = record_at(parsed_json(found.get("replay_config")))
    model = text_at(record_at(config, "agent", "model"), "name")
    actions = [*_ordered_actions(messages, steps, owners, ids), _end(found, model, ids)]
    instance = text_at(record_at(config, "problem_statement"), "id")
    session = session_draft(
        reader.key(None, found),
        actions,
        name=instance or _issue(messages),
        agent=_AGENT,
        metadata={
            "environment": text_at(found, "environment"),
            "instance": instance,
            "model": model,
            "exit_status": text_at(record_at(found, "info"), "exit_status"),
            "api_calls": record_at(found, "info", "model_stats").get("api_calls"),
        },
    )
    return reader.parsed([session])


def _owners(messages: Sequence[JsonObject], steps: Sequence[JsonObject]) -> dict[int, tuple[int, bool]]:
    """Return, by the place of a message that repeats a step, the place of the step and whether the model wrote it."""
    owners: dict[int, tuple[int, bool]] = {}
    step = -1
    for place, message in enumerate(messages):
        if message.get("is_demo"):
            continue
        if message.get("role") == "assistant":
            ahead = step + 1
            if ahead < len(steps) and message.get("action", message.get("content")) in (
                steps[ahead].get("action"),
                steps[ahead].get("response"),
            ):
                step = ahead
                owners[place] = (step, True)
        elif step >= 0 and owners.get(place - 1) == (step, True) and _seen(message, steps[step]):
            owners[place] = (step, False)
    return owners


def _seen(message: JsonObject, step: JsonObject) -> bool:
    shown, observed = text_at(message, "content"), text_at(step, "observation")
    return shown is not None and (
        observed is None or observed.strip()[:200] in shown or message.get("message_type") == "observation"
    )


def _ordered_actions(
    messages: Sequence[JsonObject],
    steps: Sequence[JsonObject],
    owners: dict[int, tuple[int, bool]],
    ids: Ids,
) -> Iterator[ActionDraft]:
    repeats = {owner: messages[place] for place, owner in owners.items()}
    done = 0
    for place, message in enumerate(messages):
        step, by_model = owners.get(place, (-1, False))
        if by_model:
            yield from _step(step, steps[step], repeats, ids)
            done = step + 1
        elif step < 0:
            demo = ("meta", "demo") if message.get("is_demo") else ()
            stem = ActionDraft(kind="event", agent=short_text_at(message, "agent"), tags=demo)
            actions = chat_actions if demo else turn_actions
            yield from actions(message, stem, ids, f"message-{place + 1}")
    for step in range(done, len(steps)):
        yield from _step(step, steps[step], repeats, ids)


def _step(
    place: int, step: JsonObject, repeats: dict[tuple[int, bool], JsonObject], ids: Ids
) -> Iterator[ActionDraft]:
    """Yield the model call with what it thought and the command it gave, and the observation.

    A call has no model and no tokens, because these were recorded only for the run.
    """
    wrote, saw = repeats.get((place, True)), repeats.get((place, False))
    calls = list_at(wrote, "tool_calls") or list_at(step, "tool_calls")
    call = next((each for each in calls if isinstance(each, dict)), {})
    first_word = (text_at(step, "action") or "").partition(" ")[0].strip()
    tool = short_text_at(record_at(call, "function"), "name") or short_text(first_word)
    stem = ActionDraft(
        kind="message",
        layer="agent",
        role="agent",
        agent=short_text_at(wrote, "agent") or _AGENT,
        iteration=place + 1,
    )
    turn, called = ids.claim(f"step-{place + 1}"), ids.claim(f"step-{place + 1}/call")
    response = text_at(step, "response") or text_at(wrote, "content")
    yield replace(
        stem,
        kind="llm_call",
        id=turn,
        input=written(messages=list_at(step, "query")),
        output=written(content=response, tool_calls=calls),
        source=step if wrote is None else [step, wrote],
    )
    thought = text_at(step, "thought", "response")
    yield replace(stem, id=ids.claim(f"step-{place + 1}/thought"), parent=turn, output=thought)
    call_id = short_text_at(call, "id")
    made = replace(stem, id=called, parent=turn, tags=() if call else (IN_TEXT,))
    yield tool_call(made, tool=tool, call_id=call_id, given=step.get("action"))
    sent = text_of_content(record_at(saw).get("content"))
    returned = replace(
        stem,
        id=ids.claim(f"step-{place + 1}/result"),
        parent=called,
        input=None if sent is None or sent == step.get("observation") else {SENT: sent},
        duration_ms=milliseconds(step.get("execution_time"), of_one=1000),
        source=saw,
    )
    yield tool_result(returned, tool=tool, call_id=call_id, output=step.get("observation"))


def _end(found: JsonObject, model: str | None, ids: Ids) -> ActionDraft:
    rest = {name: value for name, value in found.items() if name not in {"trajectory", "history"}}
    info = record_at(found, "info")
    stats = record_at(info, "model_stats")
    status = text_at(info, "exit_status")
    failed = status is not None and not status.startswith("submitted")
    usage = usage_of(stats, read=["tokens_sent"], written=["tokens_received"])
    counted_tokens = usage if usage and (usage.input_tokens or usage.output_tokens) else None
    cost = cost_at_their_price(
        stats.get("instance_cost", stats.get("total_cost")), counted_tokens, (model or "").replace("/", ":")
    )
    return replace(
        system_event("end", ids.claim("end"), source=rest, output=info or None),
        agent=_AGENT,
        usage=counted_tokens,
        cost_usd=cost if counted_tokens or cost else None,
        error_type=short_text_at(info, "exit_status") if failed else None,
    )


def _issue(messages: Sequence[JsonObject]) -> str | None:
    for message in messages:
        found = _ISSUE.search(text_at(message, "content") or "")
        if found is not None and message.get("role") == "user" and not message.get("is_demo"):
            return found[1]
    return None
