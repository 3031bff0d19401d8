"""What the model read and wrote: messages in Anthropic's form with `ts`, or in the AI SDK's (Roo Code's version 2)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.drafts import Ids, first_words, link_results, tool_call, tool_result
from timemachine.recording.importing.pure.formats.cline.screen import Request, model_of
from timemachine.recording.importing.pure.formats.cline.tags import (
    calls_in,
    is_injected,
    result_in,
    without_task,
)
from timemachine.recording.importing.pure.joining import paired
from timemachine.recording.importing.pure.model_turns import speaker, thought, turn_or_parts, written
from timemachine.recording.importing.pure.values import (
    cost_at_their_price,
    dollars,
    list_at,
    moment_after_1970,
    number,
    record_at,
    short_text_at,
    text_at,
    text_of_content,
    text_or_parts,
    usage_of,
)
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.vocabulary import IN_TEXT, SENT

_ROLES: Final = {"user": "user", "assistant": "agent", "system": "system", "tool": "tool"}
_AGENT: Final = "cline"


def is_history(record: Any) -> bool:
    """Return whether it is a message of a Cline or Roo Code task: it has a `ts`, or a text in Cline's tags."""
    if not isinstance(record, dict) or record.get("role") not in _ROLES or "content" not in record:
        return False
    if isinstance(record.get("ts"), int | float):
        return True
    text = text_of_content(record["content"]) or ""
    return "<task>" in text[:1000] or "<environment_details>" in text


def task_of(actions: Sequence[ActionDraft]) -> str | None:
    """Return the first words of the user, without Cline's tags."""
    words = first_words(actions)
    return without_task(words) if words else None


@dataclass(slots=True, kw_only=True)
class _Calls:
    """The calls of the last answer that were written as tags: they have no ids."""

    pending: list[ActionDraft]

    def of(self, tool: str) -> ActionDraft | None:
        """Return the first call of the tool that has no result yet."""
        found = next((each for each in self.pending if each.tool == tool), None)
        if found is not None:
            self.pending.remove(found)
        return found


def history_actions(
    messages: Sequence[JsonObject], requests: Sequence[Request], ids: Ids
) -> list[ActionDraft]:
    """Return the actions of the messages. An answer gets the tokens and the cost of its request, which is marked."""
    made: list[ActionDraft] = []
    answers = _paired(messages, requests)
    tagged = _Calls(pending=[])
    for place, message in enumerate(messages, start=1):
        base = ActionDraft(
            kind="message",
            id=ids.claim(short_text_at(message, "id") or f"message-{place}"),
            layer="sys",
            role="system",
            agent=_AGENT if message.get("role") == "assistant" else None,
            tags=("meta",) if message.get("isSummary") is True else (),
            started_at=moment_after_1970(message.get("ts"), seconds_each=0.001),
            source=message,
        )
        if _role(message) == "agent":
            turn = _answer(base, message, answers.get(place), ids)
            tagged = _Calls(
                pending=[each for each in turn if each.kind == "tool_call" and each.call_id is None]
            )
            made += turn
        else:
            made += _read(base, message, tagged, ids)
    return link_results(made)


def _role(message: JsonObject) -> str:
    if message.get("type") == "reasoning":
        return "agent"
    return _ROLES.get(text_at(message, "role") or "", "system")


def _paired(messages: Sequence[JsonObject], requests: Sequence[Request]) -> dict[int, Request]:
    """Return the request of each answer by the answer's place."""
    places = [place for place, each in enumerate(messages, start=1) if each.get("role") == "assistant"]
    answered = paired(
        [number(messages[place - 1].get("ts")) for place in places], [each.ts for each in requests]
    )
    found = {places[answer]: requests[request] for answer, request in answered.items()}
    for request in found.values():
        request.answered = True
    return found


def _answer(base: ActionDraft, message: JsonObject, request: Request | None, ids: Ids) -> list[ActionDraft]:
    stem = speaker("agent", base)
    usage = _usage(record_at(message, "metrics"))
    stated = record_at(message, "metrics").get("cost")
    model = model_of(message)
    if request is not None:
        model, usage = model or request.model, usage or request.usage
        stated = request.stated.get("cost") if dollars(stated) is None else stated
    cost = cost_at_their_price(stated, usage, model)
    call = replace(stem, kind="llm_call", model=model, usage=usage, cost_usd=cost)
    if request is not None:
        call = replace(
            call,
            error_type=request.failure,
            source=[message, *request.records],
        )
    parts = list(_written(stem, message))
    output = written(content=message.get("content"), reasoning=message.get("summary"))
    if message.get("type") == "reasoning":  # it belongs to the answer after it
        call = replace(call, kind="message")
    return turn_or_parts(replace(call, output=output), parts, ids)


def _usage(metrics: JsonObject) -> Usage | None:
    """Return the tokens: in the SDK at the top, in the editor under `tokens`. Both include cached tokens."""
    return usage_of(
        record_at(metrics, "tokens") or metrics,
        read=["inputTokens", "prompt"],
        written=["outputTokens", "completion"],
        cached=["cacheReadTokens", "cached"],
        cache_write=["cacheWriteTokens"],
        reasoning=["reasoningTokens"],
    )


def _written(stem: ActionDraft, message: JsonObject) -> Iterator[ActionDraft]:
    if (reasoned := text_at(message, "reasoning_content")) is not None:
        yield thought(stem, reasoned)
    if message.get("type") == "reasoning":
        yield thought(stem, text_at(message, "text") or text_of_content(message.get("summary")) or message)
    for block in _blocks(message):
        yield from _block(stem, block)


def _block(stem: ActionDraft, block: Any) -> Iterator[ActionDraft]:
    kind = text_at(block, "type")
    if kind in ("tool_use", "tool-call"):
        call_id, tool = short_text_at(block, "id", "toolCallId"), short_text_at(block, "name", "toolName")
        yield tool_call(stem, tool=tool, call_id=call_id, given=block.get("input"))
    elif kind in ("thinking", "reasoning", "redacted_thinking"):
        yield thought(stem, text_at(block, "thinking", "text") or block)
    elif (text := text_at(block, "text")) is not None:
        yield replace(stem, output=text)
        for tool, given in calls_in(text):
            yield replace(tool_call(stem, tool=tool, call_id=None, given=given), tags=(*stem.tags, IN_TEXT))
    elif kind != "text":
        yield replace(stem, output=block)


def _blocks(message: JsonObject) -> list[Any]:
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else list_at(message, "content")


def _read(base: ActionDraft, message: JsonObject, tagged: _Calls, ids: Ids) -> list[ActionDraft]:
    """Return what the model read: results, what the user wrote, and what Cline added to it (tagged `meta`)."""
    role = _role(message)
    stem = speaker("user" if role == "tool" else role, base)
    text_blocks: list[Any] = []
    made: list[ActionDraft] = []
    for block in _blocks(message):
        text = text_at(block, "text")
        answered = result_in(text) if text else None
        if text_at(block, "type") in ("tool_result", "tool-result"):
            made.append(_result(stem, block))
        elif answered is not None:
            tool, output = answered
            call = tagged.of(tool)
            told = replace(stem, input={SENT: text})
            result = tool_result(told, tool=tool, call_id=None, output=output or None)
            made.append(replace(result, parent=call.id if call else None))
        elif text is not None and is_injected(text):
            made.append(replace(stem, tags=(*stem.tags, "meta"), output=text))
        elif made and made[-1].kind == "tool_result" and made[-1].output is None and text is not None:
            sent = f"{record_at(made[-1].input).get(SENT)}\n\n{text}"
            made[-1] = replace(made[-1], output=text, input={SENT: sent})
        else:
            text_blocks.append(block)
    if text_blocks or not made:
        made.insert(0, replace(stem, output=_text_or_blocks(text_blocks)))
    return [
        replace(
            each,
            id=each.id if place == 1 else ids.claim(f"{base.id}/{place}"),
            source=message if place == 1 else None,
        )
        for place, each in enumerate(made, start=1)
    ]


def _text_or_blocks(blocks: list[Any]) -> Any:
    """Return the text of blocks that are all texts, otherwise the blocks."""
    texts = [text_at(each, "text") for each in blocks]
    return "\n".join(text for text in texts if text) if all(texts) else blocks


def _result(stem: ActionDraft, block: JsonObject) -> ActionDraft:
    content = block.get("content", block.get("output"))
    if isinstance(content, dict) and content.keys() == {
        "type",
        "value",
    }:  # the AI SDK names the type of the value
        content = content["value"]
    parts = content if isinstance(content, list) else []
    failed = block.get("is_error") is True or any(
        isinstance(each, dict) and each.get("success") is False for each in parts
    )
    errors = [text for each in parts if (text := text_at(each, "error"))]
    return tool_result(
        stem,
        tool=short_text_at(block, "name", "toolName"),
        call_id=short_text_at(block, "tool_use_id", "toolCallId"),
        output=text_or_parts(content),
        error_type="tool_error" if failed else None,
        error_message=(errors[0] if errors else text_of_content(content)) if failed else None,
    )
