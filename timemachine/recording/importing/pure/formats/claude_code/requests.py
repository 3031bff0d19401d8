"""The requests that Claude Code writes down before the answers, seen since 2.1.332.

    api-request-shape    the system prompt and the tools, whenever they are others than before
    api-request-blob     a message that is not in the transcript in these words, once
    api-request          the parameters, and the hashes of the messages

An `api-request` follows its blobs, and the lines of the answer name its `id` as their `requestRef`. Each agent has one request
at a time. Lines of a sub-agent have its `agentId` and no `isSidechain`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.formats.claude_code.ids import id_at
from timemachine.recording.importing.pure.values import record_at, text_at

SHAPE: Final = "api-request-shape"
_REQUEST: Final = "api-request"
_BLOB: Final = "api-request-blob"
_TYPES: Final = (SHAPE, _REQUEST, _BLOB)


@dataclass(frozen=True, slots=True)
class Requests:
    """The lines of requests: `answered` by the number of the first line of the answer, `waiting` by the agent that has no answer
    yet."""

    answered: dict[int, list[Line]] = field(default_factory=dict)
    waiting: dict[str | None, list[Line]] = field(default_factory=dict)


def requests_in(lines: Sequence[Line]) -> Requests:
    """Return the requests of one session's lines. One that its agent's next request follows was not answered."""
    found = Requests()
    for line in lines:
        kind = line.record.get("type")
        if kind in (_BLOB, _REQUEST):
            agent = id_at(line.record, "agentId")
            before = found.waiting.get(agent, [])
            is_whole = bool(before) and before[-1].record["type"] == _REQUEST
            found.waiting[agent] = [line] if is_whole else [*before, line]
        elif kind == "assistant" and (name := text_at(line.record, "requestRef")) is not None:
            agents = [agent for agent, own in found.waiting.items() if own[-1].record.get("id") == name]
            for agent in agents[:1]:
                found.answered[line.number] = found.waiting.pop(agent)
    return found


def is_by_sub_agent(record: JsonObject) -> bool:
    """Return whether a line is a sub-agent's."""
    is_request = record.get("type") in _TYPES and id_at(record, "agentId") is not None
    return is_request or record.get("isSidechain") is True


def parameters_of(request: Sequence[Line]) -> JsonObject:
    """Return the parameters of the request with these lines. The model is recorded with the answer."""
    given = record_at(request[-1].record, "params") if request else {}
    return {name: value for name, value in given.items() if name != "model"}


def settings_in(record: JsonObject) -> JsonObject | None:
    """Return the system prompt and the tools that a line states for the requests after it, None if it states none."""
    shape = record_at(record, "shape") if record.get("type") == SHAPE else {}
    names = {"system": "system_prompt", "tools": "tools"}
    return {ours: shape[theirs] for theirs, ours in names.items() if shape.get(theirs)} or None


def settings_again(
    lines: Sequence[Line], answered: Mapping[int, Sequence[Line]]
) -> Iterator[tuple[int, JsonObject]]:
    """Yield the number of the first line of each answer to a request with other settings than its agent stated last, and these
    settings: they are written once."""
    written: dict[str | None, JsonObject] = {}
    latest: dict[str | None, str | None] = {}
    for line in lines:
        stating = line.record if line.number not in answered else answered[line.number][-1].record
        agent, name = id_at(stating, "agentId"), text_at(stating, "shapeHash")
        settings = settings_in(line.record)
        if settings is not None:
            written[name], latest[agent] = settings, name
        elif line.number in answered and name in written and latest.get(agent) != name:
            latest[agent] = name
            yield line.number, written[name]
