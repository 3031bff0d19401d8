"""Trajectories of mini-swe-agent: a `.traj.json` file with `info` and `messages`, or in early versions only the messages.

See https://github.com/SWE-agent/mini-swe-agent (`agents/default.py`, `models/litellm_model.py`). The model gives each
command as the only bash block of its answer, or as a tool call; the next message is the output. The report counts
messages and the rest of the file, which becomes a final `event`. It has what the run cost beyond its calls: earlier
versions state only the cost of the run, and later ones write 0 for a cost that they could not calculate.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.price_conditions import with_conditions
from timemachine.recording.importing.pure.drafts import (
    Ids,
    beginning_until,
    session_draft,
    system_event,
    tool_call,
    tool_result,
)
from timemachine.recording.importing.pure.model_turns import speaker, thought, turn_or_parts, written
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.importing.pure.values import (
    count_at,
    dollars,
    list_at,
    model_name,
    moment_after_1970,
    parsed_json,
    record_at,
    short_text_at,
    sum_of,
    text_at,
    text_of_content,
    usage_of,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.vocabulary import IN_TEXT, SENT

NAME: Final = "mini_swe_agent"
TITLE: Final = "mini-swe-agent trajectory (.traj.json file)"
_AGENT: Final = "mini-swe-agent"
_BASH: Final = "bash"
_BLOCK: Final = re.compile(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n```", re.DOTALL)
_ROLES: Final = {"user": "user", "assistant": "agent", "system": "system"}
_OUTPUTS: Final = {"user", "tool"}
_SUCCEEDED: Final = {None, "", "Submitted"}


def recognises(opening: Opening) -> bool:
    """Return whether it names the format or has its statistics, or is a list of messages in which a model gives a bash block."""
    about = record_at(opening.fields, "info")
    named = text_at(opening.fields, "trajectory_format") or ""
    if "messages" in opening.fields and (
        named.startswith(_AGENT) or about.keys() & {"mini_version", "model_stats"}
    ):
        return True
    listed = isinstance(opening.document, list) and bool(opening.records)
    return listed and "ts" not in opening.records[0] and any(map(_is_command, opening.records))


def read(reader: Reader) -> ParsedFile:
    """Return the session of the file. Raises `InvalidInput` (`unknown_format`) if it has no messages."""
    found = reader.document()
    messages = found if isinstance(found, list) else list_at(found, "messages")
    taken = [each for each in messages if reader.takes(each, "a message")]
    if not taken:
        raise reader.refusal("it has no messages.")
    rest = (
        {name: value for name, value in found.items() if name != "messages"}
        if isinstance(found, dict)
        else {}
    )
    about = record_at(rest, "info")
    config = record_at(about, "config")
    model = model_name(short_text_at(record_at(config, "model"), "model_name"))
    ids = Ids()
    actions = _all_actions(taken, model, _has_costs(taken) or _cost_of_run(about) is None, ids)
    if rest:
        reader.use()
        actions.append(_end(rest, about, actions, taken, ids))
    session = session_draft(
        reader.key(None, beginning_until(taken, _is_dated) or found),
        actions,
        name=text_at(rest, "instance_id"),
        agent=_AGENT,
        metadata={
            "instance": text_at(rest, "instance_id"),
            "model": model,
            "exit_status": text_at(about, "exit_status"),
            "api_calls": record_at(about, "model_stats").get("api_calls"),
            "mini_version": text_at(about, "mini_version"),
        },
    )
    return reader.parsed([session])


def _is_command(message: JsonObject) -> bool:
    return message.get("role") == "assistant" and len(_blocks(message)) == 1


def _blocks(message: JsonObject) -> list[str]:
    return [each.strip() for each in _BLOCK.findall(text_of_content(message.get("content")) or "")]


def _is_dated(message: JsonObject) -> bool:
    return record_at(message, "extra").get("timestamp") is not None


def _cost(message: JsonObject) -> Decimal | None:
    """Return the cost of an answer. 0 means that it could not be calculated."""
    return dollars(record_at(message, "extra").get("cost")) or None


def _cost_of_run(about: JsonObject) -> Decimal | None:
    return dollars(record_at(about, "model_stats").get("instance_cost")) or None


def _has_costs(messages: Sequence[JsonObject]) -> bool:
    return any(_cost(each) is not None for each in messages)


def _all_actions(
    messages: Sequence[JsonObject], model: str | None, as_calls: bool, ids: Ids
) -> list[ActionDraft]:
    """Return the actions of the messages. Calls have model and tokens if their costs are theirs and not those of the run."""
    made: list[ActionDraft] = []
    waiting: list[ActionDraft] = []
    for place, message in enumerate(messages, start=1):
        base = ActionDraft(
            kind="message",
            id=ids.claim(f"message-{place}"),
            started_at=moment_after_1970(record_at(message, "extra").get("timestamp")),
            source=message,
        )
        if message.get("role") == "assistant" or message.get("object") == "response":
            turn = _answer(base, message, model if as_calls else None, as_calls, ids)
            waiting = [each for each in turn if each.kind == "tool_call"]
            made += turn
        elif waiting and (
            text_at(message, "role") in _OUTPUTS or message.get("type") == "function_call_output"
        ):
            made.append(_output(base, message, waiting))
        else:
            made.append(_other(base, message))
    return made


def _answer(
    base: ActionDraft, message: JsonObject, model: str | None, as_call: bool, ids: Ids
) -> list[ActionDraft]:
    stem = replace(speaker("agent", base), agent=_AGENT)
    parts = list(_parts(stem, message))
    call = replace(
        stem,
        kind="llm_call",
        model=model,
        parameters=with_conditions({}, record_at(message, "extra", "response"), message) or None,
        usage=_usage(message) if as_call else None,
        cost_usd=_cost(message),
        output=written(
            content=message.get("content"), tool_calls=message.get("tool_calls"), output=message.get("output")
        ),
    )
    return turn_or_parts(call, parts, ids)


def _parts(stem: ActionDraft, message: JsonObject) -> Iterator[ActionDraft]:
    if (reasoning := text_at(message, "reasoning_content")) is not None:
        yield thought(stem, reasoning)
    for item in list_at(message, "output"):
        if text_at(item, "type") == "message":
            yield replace(stem, output=text_of_content(item.get("content")) or item)
        elif text_at(item, "type") == "reasoning":
            yield thought(stem, text_of_content(item.get("summary")) or item)
    if message.get("content") not in (None, "", []):
        yield replace(stem, output=text_of_content(message["content"]) or message["content"])
    in_text = not _functions(message)
    for call_id, command in _commands(message):
        call = tool_call(stem, tool=_BASH, call_id=call_id, given={"command": command})
        yield replace(call, tags=(IN_TEXT,)) if in_text else call


def _functions(message: JsonObject) -> list[JsonObject]:
    """Return the calls that the model made as the API has them."""
    calls = [*list_at(message, "tool_calls"), *list_at(message, "output")]
    return [each for each in calls if isinstance(each, dict) and ("function" in each or "call_id" in each)]


def _commands(message: JsonObject) -> Iterator[tuple[str | None, Any]]:
    """Yield the commands that were run with the ids of their calls: as recorded, else from the tool calls, else from
    the only block."""
    actions = [each for each in list_at(record_at(message, "extra"), "actions") if isinstance(each, dict)]
    functions = _functions(message)
    if actions:
        for each in actions:
            yield short_text_at(each, "tool_call_id"), each.get("command")
    elif functions:
        for each in functions:
            given = parsed_json(record_at(each, "function").get("arguments", each.get("arguments")))
            command = given.get("command", given) if isinstance(given, dict) else given
            yield short_text_at(each, "id", "call_id"), command
    elif len(blocks := _blocks(message)) == 1:
        yield None, blocks[0]


def _output(base: ActionDraft, message: JsonObject, waiting: list[ActionDraft]) -> ActionDraft:
    """Return the output of the call with its id, else of the first one that waits."""
    call_id = short_text_at(message, "tool_call_id", "call_id")
    call = next((each for each in waiting if call_id and each.call_id == call_id), waiting[0])
    waiting.remove(call)
    extra = record_at(message, "extra")
    content = message.get("content", message.get("output"))
    failure = text_at(extra, "exception_info")
    sent = text_of_content(content) or content
    output = text_at(extra, "raw_output") or sent
    result = tool_result(
        replace(base, input=None if output == sent else {SENT: sent}),
        tool=_BASH,
        call_id=call.call_id,
        output=output,
        error_type="tool_error" if failure else None,
        error_message=failure,
    )
    return replace(result, parent=call.id)


def _other(base: ActionDraft, message: JsonObject) -> ActionDraft:
    role = text_at(message, "role") or "unknown"
    output = text_of_content(message.get("content")) or message.get("content")
    if role in _ROLES:
        tags = ("meta",) if "interrupt_type" in record_at(message, "extra") else ()
        return replace(speaker(_ROLES[role], base), tags=tags, output=output)
    return replace(base, kind="event", layer="sys", role="system", name=role[:80], output=output)


def _usage(message: JsonObject) -> Usage | None:
    usage = record_at(message, "extra", "response", "usage") or record_at(message, "usage")
    read = record_at(usage, "prompt_tokens_details") or record_at(usage, "input_tokens_details")
    wrote = record_at(usage, "completion_tokens_details") or record_at(usage, "output_tokens_details")
    found = usage_of(
        usage,
        read=["prompt_tokens", "input_tokens"],
        written=["completion_tokens", "output_tokens"],
        cache_write=["cache_creation_input_tokens"],
    )
    if found is None:
        return None
    cached = count_at(usage, "cache_read_input_tokens")
    return replace(
        found,
        cached_tokens=count_at(read, "cached_tokens") if cached is None else cached,
        reasoning_tokens=count_at(wrote, "reasoning_tokens"),
    )


def _end(
    rest: JsonObject,
    about: JsonObject,
    actions: Sequence[ActionDraft],
    messages: Sequence[JsonObject],
    ids: Ids,
) -> ActionDraft:
    """Return the final event with the cost of the run that no call has, and the tokens if no call has them."""
    whole = _cost_of_run(about)
    known = sum((each.cost_usd for each in actions if each.cost_usd is not None), Decimal(0))
    remaining = None if whole is None or whole <= known else whole - known
    status = text_at(about, "exit_status")
    failed = status not in _SUCCEEDED
    counts = (
        [] if any(each.usage for each in actions) else [usage for each in messages if (usage := _usage(each))]
    )
    return replace(
        system_event("end", ids.claim("end"), source=rest, output=about or None),
        agent=_AGENT,
        usage=sum_of(counts),
        cost_usd=remaining,
        error_type=short_text_at(about, "exit_status") if failed else None,
        error_message=text_at(about, "traceback", "submission") if failed else None,
    )
