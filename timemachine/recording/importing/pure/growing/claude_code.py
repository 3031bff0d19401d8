"""What of a growing Claude Code file is settled, and what later lines need."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.contents import Line
from timemachine.recording.importing.pure.formats.claude_code.ids import id_at
from timemachine.recording.importing.pure.formats.claude_code.queue import (
    holds_result,
    is_by_a_person,
    tag_of,
)
from timemachine.recording.importing.pure.formats.claude_code.requests import (
    SHAPE,
    is_by_sub_agent,
    requests_in,
)
from timemachine.recording.importing.pure.growing.settling import FINISHED_AFTER
from timemachine.recording.importing.pure.values import list_at, record_at, text_at, text_of_content

_TAKING: Final = frozenset({"dequeue", "remove"})
_END_OF_TURN: Final = frozenset({"turn_duration", "stop_hook_summary"})
_TITLES: Final = frozenset({"custom-title", "ai-title", "summary"})

type _Chain = str | bool
"""Who wrote a line: the id of a sub-agent, True for one without an id, False for the agent of the session."""


@dataclass(slots=True)
class _Answer:
    """The latest answer of an agent, from its first line on."""

    id: str | int
    begins: int
    stopped: bool = False


def held_from(lines: Sequence[Line], idle: float) -> int:
    """Return the index of the first line that may still change: of an answer that may go on, of a request that waits for its
    answer, or of a prompt that was taken from the queue and has not arrived. Nothing is settled before the first answer: by then
    the session, its start and its prompt are known."""
    if not any(line.record.get("type") == "assistant" for line in lines) or not any(map(_session_id, lines)):
        return 0
    answers: dict[_Chain, _Answer] = {}
    taken: int | None = None
    for at, line in enumerate(lines):
        record, chain = line.record, _chain(line.record)
        kind = record.get("type")
        if kind == "assistant":
            _go_on(answers, chain, record, at)
            taken = taken if chain else None
            continue
        latest = answers.get(chain)
        if latest is not None and (latest.stopped or _begins_a_turn(record)):
            del answers[chain]
        if (
            chain and record.get("parentUuid", 0) is None
        ):  # a sub-agent begins: the answer that called it is complete
            answers.pop(False, None)
        if kind == "queue-operation" and record.get("operation") in _TAKING and taken is None:
            taken = at
    at_number = {line.number: at for at, line in enumerate(lines)}
    requests = requests_in(lines)
    asked = {at_number[number]: at_number[own[0].number] for number, own in requests.answered.items()}
    open_answers = [each.begins for each in answers.values() if not (each.stopped and idle >= FINISHED_AFTER)]
    waiting = [at_number[own[0].number] for own in requests.waiting.values()]
    still = [*(asked.get(at, at) for at in open_answers), *waiting]
    return min([*still, len(lines) if taken is None else taken], default=len(lines))


def _go_on(answers: dict[_Chain, _Answer], chain: _Chain, record: JsonObject, at: int) -> None:
    message = record_at(record, "message")
    name = text_at(message, "id") or at
    if chain not in answers or answers[chain].id != name:
        answers[chain] = _Answer(name, at)
    answers[chain].stopped = text_at(message, "stop_reason") is not None


def _begins_a_turn(record: JsonObject) -> bool:
    """Return whether a line says that the answer before it is complete."""
    if record.get("type") == "system":
        return record.get("subtype") in _END_OF_TURN
    return _prompt(record) is not None


def _chain(record: JsonObject) -> _Chain:
    return (id_at(record, "agentId") or True) if is_by_sub_agent(record) else False


def _session_id(line: Line) -> str | None:
    return text_at(line.record, "sessionId", "session_id")


def _prompt(record: JsonObject) -> str | None:
    """Return what a person typed, None for any other line."""
    content = record_at(record, "message").get("content")
    typed = record.get("type") == "user" and record.get("isMeta") is not True and is_by_a_person(record)
    return (text_of_content(content) or "").strip() or None if typed and not holds_result(content) else None


def needed(lines: Sequence[Line]) -> set[int]:
    """Return the indexes of the lines that name the session and the place where it is, of the answers that wait for results
    or may go on, of sub-agents, of requests, and of prompts in the queue."""
    last_named = next((at for at in reversed(range(len(lines))) if _session_id(lines[at])), None)
    kept = {last_named} if last_named is not None else set()
    stating = {at for at, line in enumerate(lines) if line.record.get("type") == SHAPE}
    answers = _answers(lines)
    return (
        kept | stating | _names(lines) | answers | _requests(lines, answers) | _agents(lines) | _queued(lines)
    )


def _names(lines: Sequence[Line]) -> set[int]:
    """Return the first prompt and the first command, and the last title of each kind."""
    titles = {line.record["type"]: at for at, line in enumerate(lines) if line.record.get("type") in _TITLES}
    prompts: dict[bool, int] = {}
    for at, line in enumerate(lines):
        text = _prompt(line.record)
        if text is not None and not _chain(line.record) and line.record.get("isCompactSummary") is not True:
            prompts.setdefault(tag_of(text) is not None or text.startswith("/"), at)
    return {*titles.values(), *prompts.values()}


def _answers(lines: Sequence[Line]) -> set[int]:
    """Return the lines of answers whose calls wait for results, that started a sub-agent which this file has, or that are the
    latest of their agent."""
    calls: dict[str, str] = {}
    of_answer: dict[str, list[int]] = {}
    latest: dict[_Chain, str] = {}
    starting = set()
    has_sides = any(_chain(line.record) for line in lines) and not all(_chain(line.record) for line in lines)
    for at, line in enumerate(lines):
        message = record_at(line.record, "message")
        blocks = [record_at(block) for block in list_at(message, "content")]
        for block in blocks:
            calls.pop(text_at(block, "tool_use_id") or "", None)
        if line.record.get("type") != "assistant":
            continue
        name = text_at(message, "id") or str(at)
        of_answer.setdefault(name, []).append(at)
        latest[_chain(line.record)] = name
        for block in blocks:
            if (call := text_at(block, "id")) is not None and block.get("type") == "tool_use":
                calls[call] = name
                starting |= {name} if has_sides and block.get("name") in {"Agent", "Task"} else set()
    return {at for name in {*calls.values(), *latest.values(), *starting} for at in of_answer[name]}


def _requests(lines: Sequence[Line], answers: set[int]) -> set[int]:
    """Return the lines of the requests of these answers."""
    at_number = {line.number: at for at, line in enumerate(lines)}
    answered = requests_in(lines).answered
    return {at_number[each.number] for at in answers for each in answered.get(lines[at].number, ())}


def _agents(lines: Sequence[Line]) -> set[int]:
    """Return for each sub-agent the first line, the first one with its type, and the last one."""
    kept: dict[tuple[_Chain | int, str], int] = {}
    begun = 0
    for at, line in enumerate(lines):
        chain: _Chain | int = _chain(line.record)
        if chain is False:
            continue
        if chain is True:  # without ids, each beginning is another one
            begun = at if line.record.get("parentUuid", 0) is None else begun
            chain = begun
        kept.setdefault((chain, "first"), at)
        kept[chain, "last"] = at
        if text_at(line.record, "attributionAgent"):
            kept.setdefault((chain, "type"), at)
    return set(kept.values())


def _queued(lines: Sequence[Line]) -> set[int]:
    """Return the operations of prompts that wait in the queue, and prompts since the last answer."""
    waiting: list[tuple[str, int]] = []
    said: set[int] = set()
    for at, line in enumerate(lines):
        record = line.record
        if _chain(record):
            continue
        match record.get("type"):
            case "queue-operation":
                said.add(at)
                waiting = _after(record, waiting, at)
            case "assistant":
                said = set()
            case "attachment":
                said.add(at)
            case "user" if _prompt(record) is not None:
                said.add(at)
    return said | {at for _, at in waiting}


def _after(record: JsonObject, waiting: list[tuple[str, int]], at: int) -> list[tuple[str, int]]:
    """Return the prompts that wait after an operation. One that names no text takes the first."""
    text = (text_of_content(record.get("content")) or "").strip()
    operation = record.get("operation")
    if operation == "enqueue":
        return [*waiting, (text, at)]
    if operation == "popAll":
        return []
    if operation in _TAKING:
        gone = next((each for each in waiting if each[0] == text or not text), None)
        return [each for each in waiting if each is not gone]
    return waiting
