"""Assembles a streamed answer: the text so far after each event, and at the end the body of an unstreamed response."""

import re
from collections.abc import Mapping
from typing import Any, Protocol

from timemachine.core.pure.content import parse_json
from timemachine.core.pure.errors import InvalidInput
from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.usage import list_of, part_of, text_of

_ARGUMENTS = "partial_json"
_FIELDS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": _ARGUMENTS,
}
"""The field of a piece of a block, by its type: https://docs.claude.com/en/docs/build-with-claude/streaming"""
_CITATIONS = "citations"
_OF_A_DELTA = frozenset({"type", "delta", "usage"})
_COMPLETION = "chat.completion"
_NOT_WHOLE = frozenset({"choices", "error", "obfuscation"})
"""Fields of chunks that a whole chat completion does not have, or has in another form."""
_OF_A_CHOICE = frozenset({"delta", "finish_reason", "logprobs"})
_OF_A_MESSAGE = frozenset({"content", "refusal", "tool_calls"})
_HALF = re.compile("[\ud800-\udfff]")
_FIRST_HALF = re.compile("[\ud800-\udbff]")


class AnswerStream(Protocol):
    """What the events of one answer add up to.

    `add` takes the JSON of an event and returns the text that it adds. `complete` is whether the provider reported the
    end. `body` is the response as the provider would have sent it unstreamed. `error` is the provider's error, if it
    sent one.
    """

    error: Mapping[str, Any] | None

    def add(self, event: Mapping[str, Any]) -> str: ...

    @property
    def complete(self) -> bool: ...

    @property
    def body(self) -> JsonObject: ...


class SurrogateJoiner:
    """Joins pieces of text that may split a surrogate pair. The first half is held back until the second arrives."""

    def __init__(self) -> None:
        self._held = ""

    def take(self, piece: str, *, last: bool = False) -> str:
        """Return what can be shown after this piece; after the last one everything, even a single half."""
        text = joined(self._held + piece)
        self._held = text[-1:] if not last and _FIRST_HALF.fullmatch(text[-1:]) else ""
        return text.removesuffix(self._held)


class OpenAIStream:
    """The chunks of a chat completion, with one choice or several. The text is that of the first."""

    def __init__(self) -> None:
        self.error: Mapping[str, Any] | None = None
        self._known: JsonObject = {}
        self._choices: dict[int, _Choice] = {}
        self._joiner = SurrogateJoiner()

    @property
    def complete(self) -> bool:
        """Whether a finish reason arrived for each choice. The usage may follow it."""
        return bool(self._choices) and all(each.finish is not None for each in self._choices.values())

    @property
    def body(self) -> JsonObject:
        choices = [each.body for _, each in sorted(self._choices.items())] or [_Choice().body]
        return {**self._known, "choices": choices}

    def add(self, event: Mapping[str, Any]) -> str:
        self.error = part_of(event).get("error") and part_of(event)
        usage = event.get("usage") or part_of(event.get("x_groq")).get("usage")
        found = {**event, "object": _COMPLETION if event.get("object") else None, "usage": usage}
        self._known |= {name: value for name, value in found.items() if value and name not in _NOT_WHOLE}
        text = ""
        for choice in map(part_of, list_of(event.get("choices"))):
            place = _index(choice)
            added = self._choices.setdefault(place, _Choice()).add(choice)
            text += added if place == 0 else ""
        return self._joiner.take(text, last=self.complete)


class _Choice:
    """The chunks of one choice of a chat completion."""

    def __init__(self) -> None:
        self.finish: str | None = None
        self._known: JsonObject = {}
        self._message: JsonObject = {}
        self._texts: dict[str, list[str]] = {"content": [], "refusal": []}
        self._lists: JsonObject = {}
        self._calls: dict[int, _Call] = {}
        self._logprobs: JsonObject = {}

    def add(self, choice: Mapping[str, Any]) -> str:
        """Add a chunk of this choice and return the text in it."""
        self.finish = text_of(choice.get("finish_reason")) or self.finish
        others = (name for name in choice if name not in _OF_A_CHOICE)
        self._known |= {name: choice[name] for name in others if choice[name] is not None}
        if "logprobs" in choice:
            self._known.setdefault("logprobs", None)
        for name, tokens in part_of(choice.get("logprobs")).items():
            self._logprobs.setdefault(name, []).extend(list_of(tokens))
        return self._write(part_of(choice.get("delta")))

    def _write(self, delta: Mapping[str, Any]) -> str:
        for call in map(part_of, list_of(delta.get("tool_calls"))):
            place = call.get("index")
            place = place if isinstance(place, int) else len(self._calls)
            self._calls.setdefault(place, _Call()).add(call)
        written = {"content": written_text(delta.get("content")), "refusal": text_of(delta.get("refusal"))}
        for name, text in written.items():
            self._texts[name].append(text or "")
        for name, value in delta.items():
            if name in _OF_A_MESSAGE or value is None:
                continue
            if isinstance(value, str) and name != "role":
                self._texts.setdefault(name, []).append(value)
            elif isinstance(value, list):
                self._lists.setdefault(name, []).extend(value)
            else:
                self._message[name] = value
        return "".join(text for text in written.values() if text)

    @property
    def body(self) -> JsonObject:
        texts = {name: joined("".join(texts)) or None for name, texts in self._texts.items()}
        others = {name: text for name, text in texts.items() if text or name in ("content", "refusal")}
        lists = {name: [*each] for name, each in self._lists.items()}
        message = {**self._message, **lists, **others}
        if self._calls:
            message["tool_calls"] = [call.body for _, call in sorted(self._calls.items())]
        logprobs = {name: [*tokens] or None for name, tokens in self._logprobs.items()}
        known = {**self._known, "logprobs": logprobs} if logprobs else self._known
        return {**known, "message": message, "finish_reason": self.finish}


class _Call:
    """The chunks of one tool call of a chat completion."""

    def __init__(self) -> None:
        self._known: JsonObject = {}
        self._name: str | None = None
        self._arguments: list[str] = []

    def add(self, chunk: Mapping[str, Any]) -> None:
        function = part_of(chunk.get("function"))
        self._known |= {name: chunk[name] for name in ("id", "type") if chunk.get(name)}
        self._name = text_of(function.get("name")) or self._name
        self._arguments.append(text_of(function.get("arguments")) or "")

    @property
    def body(self) -> JsonObject:
        function = {"name": self._name or "", "arguments": joined("".join(self._arguments))}
        return {"type": "function", **self._known, "function": function}


class AnthropicStream:
    """The events of a message."""

    def __init__(self) -> None:
        self.error: Mapping[str, Any] | None = None
        self._known: JsonObject = {}
        self._usage: JsonObject = {}
        self._blocks: dict[int, _Block] = {}
        self._joiner = SurrogateJoiner()

    @property
    def complete(self) -> bool:
        """Whether a stop reason arrived. None of the answer follows it."""
        return self._known.get("stop_reason") is not None

    @property
    def body(self) -> JsonObject:
        content = [block.body for _, block in sorted(self._blocks.items())]
        return {**self._known, "content": content, "usage": self._usage}

    def add(self, event: Mapping[str, Any]) -> str:
        """Add an event. Its `type` says which."""
        kind = event.get("type")
        if kind == "error":
            self.error = event
        elif kind == "message_start":
            self._learn(part_of(event.get("message")), part_of(event.get("message")))
        elif kind == "message_delta":
            others = {name: event[name] for name in event if name not in _OF_A_DELTA}
            self._learn({**others, **part_of(event.get("delta"))}, event)
        elif kind == "content_block_start":
            self._blocks[_index(event)] = _Block(part_of(event.get("content_block")))
        elif kind == "content_block_delta":
            delta = part_of(event.get("delta"))
            self._blocks.setdefault(_index(event), _Block({})).add(delta)
        return self._joiner.take(_text_in(event), last=self.complete)

    def _learn(self, known: Mapping[str, Any], with_usage: Mapping[str, Any]) -> None:
        for name, value in known.items():
            if name not in ("content", "usage") and (value is not None or name not in self._known):
                self._known[name] = value
        usage = part_of(with_usage.get("usage"))
        self._usage |= {name: value for name, value in usage.items() if value is not None}


class _Block:
    """One block of a message: text, thinking or a tool call, in pieces."""

    def __init__(self, begun: Mapping[str, Any]) -> None:
        self._begun = begun
        self._pieces: dict[str, list[str]] = {}
        self._citations: list[Any] = []

    def add(self, delta: Mapping[str, Any]) -> None:
        if "citation" in delta:
            self._citations.append(delta["citation"])
        name = _FIELDS.get(str(delta.get("type")))
        if name is not None:
            self._pieces.setdefault(name, []).append(text_of(delta.get(name)) or "")

    @property
    def body(self) -> JsonObject:
        """The block as an unstreamed message has it. Arguments that are not JSON stay text."""
        found = {"type": "text", **self._begun}
        for name, pieces in self._pieces.items():
            text = joined("".join(pieces))
            if name == _ARGUMENTS:
                found["input"] = _parsed(text) if text else found.get("input", {})
            else:
                found[name] = joined((text_of(found.get(name)) or "") + text)
        if self._citations:
            found[_CITATIONS] = [*list_of(found.get(_CITATIONS)), *self._citations]
        return found


def _index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0


def _parsed(text: str) -> Any:
    try:
        return parse_json(text)
    except InvalidInput:
        return text


def joined(text: str) -> str:
    """Join the halves of each surrogate pair into one character. A single half stays."""
    if not _HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def written_text(content: Any) -> str:
    """Return the text of a message's content: a string, or parts, of which some are reasoning and not answer."""
    if isinstance(content, list):
        parts = [part_of(part) for part in content]
        return "".join(text_of(part.get("text")) or "" for part in parts if part.get("type") == "text")
    return text_of(content) or ""


def _text_in(event: Mapping[str, Any]) -> str:
    begun, more = part_of(event.get("content_block")), part_of(event.get("delta"))
    if begun.get("type") == "text":
        return text_of(begun.get("text")) or ""
    return (text_of(more.get("text")) or "") if more.get("type") == "text_delta" else ""
