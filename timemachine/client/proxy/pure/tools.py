"""The results of tools that a request has for the first time: those after the last answer of the model in it."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

from timemachine.client.proxy.pure.endpoints import CHAT, MESSAGES, RESPONSES, Endpoint
from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.json_values import object_at, text_at
from timemachine.llm.pure.usage import list_of, part_of

_OUTPUT: Final = "_call_output"
_CALL: Final = "_call"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewResult:
    """A result. `id` is the same if the same request is sent again, and no other result of the conversation has it."""

    id: str
    call_id: str
    tool: str | None
    output: Any
    failed: bool = False


def new_results(endpoint: Endpoint, request: JsonObject) -> list[NewResult]:
    """Return the results that follow the last answer of the model in a request, so that no earlier request had them."""
    if endpoint not in _FIELDS:
        return []
    messages = [part_of(each) for each in list_of(request.get(_FIELDS[endpoint]))]
    new = [*takewhile(lambda each: not _is_of_the_model(each), reversed(messages))][::-1]
    found = [each for message in new for each in _results(endpoint, message)]
    if not found:
        return []
    names = dict(_calls(messages))
    told = json.dumps([request.get("previous_response_id"), messages], sort_keys=True)
    digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return [
        NewResult(
            id=f"result:{digest}:{place}",
            call_id=call_id,
            tool=names.get(call_id),
            output=output,
            failed=failed,
        )
        for place, (call_id, output, failed) in enumerate(found, start=1)
    ]


def _is_of_the_model(message: Mapping[str, Any]) -> bool:
    kind = text_at(message, "type") or ""
    return message.get("role") == "assistant" or kind.endswith(_CALL) or kind == "reasoning"


def _results(endpoint: Endpoint, message: Mapping[str, Any]) -> Iterator[tuple[str, Any, bool]]:
    """Yield id, content and failure of the results in a message or item."""
    if endpoint is MESSAGES:
        for block in map(part_of, list_of(message.get("content"))):
            call_id = text_at(block, "tool_use_id")
            if block.get("type") == "tool_result" and call_id:
                yield call_id, block.get("content"), block.get("is_error") is True
        return
    is_result = message.get("role") == "tool" or (text_at(message, "type") or "").endswith(_OUTPUT)
    call_id = text_at(message, "tool_call_id") or text_at(message, "call_id")
    if is_result and call_id:
        yield call_id, message.get("content", message.get("output")), False


def _calls(messages: list[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield id and tool of the calls in a request."""
    for message in messages:
        blocks = [part_of(each) for each in list_of(message.get("content"))]
        for call in (message, *map(part_of, list_of(message.get("tool_calls"))), *blocks):
            call_id = text_at(call, "call_id") or text_at(call, "id")
            tool = text_at(call, "name") or text_at(object_at(call, "function"), "name")
            if call_id and tool:
                yield call_id, tool


_FIELDS: Final[Mapping[Endpoint, str]] = {CHAT: "messages", MESSAGES: "messages", RESPONSES: "input"}
