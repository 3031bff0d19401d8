"""Answers requests from recorded model calls: each recorded answer once, in the order of the recording."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Final

from timemachine.client.playback.pure.apis import Api
from timemachine.client.playback.pure.calls import PlayedCall
from timemachine.client.playback.pure.equality import (
    Hasher,
    as_far_as_recorded,
    comparable,
    equal_first,
    with_joined_messages,
    without_instructions,
)
from timemachine.core.pure.json_types import JsonObject
from timemachine.llm.pure.requests.differences import first_difference
from timemachine.llm.pure.requests.json_values import RequestError
from timemachine.llm.pure.requests.neutral import Request
from timemachine.recording.model_calls.pure.requests import SYSTEM_PROMPT, TOOLS

CONFLICT: Final = 409
BAD_REQUEST: Final = 400
FAILED: Final = 500
EXCERPT: Final = 60
"""How many characters of two texts are shown where they differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An HTTP answer. `stream` has the server-sent events if the request asked for them. `step` is the recorded call that
    answered.
    """

    status: int
    body: JsonObject
    stream: bytes | None = None
    step: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A recorded call as one API reads it. `whole`: the whole body of its request was recorded. `bare`: instructions are
    not compared, because they were not recorded.
    """

    call: PlayedCall
    request: Request
    hashes: tuple[str, ...]
    settings: str
    whole: bool
    bare: bool


@dataclass(frozen=True, slots=True)
class _Query:
    """A request, with and without its instructions, and the hashes of its messages."""

    request: Request
    hashes: tuple[str, ...]
    bare: Request
    bare_hashes: tuple[str, ...]

    @classmethod
    def of(cls, request: Request, hasher: Hasher) -> "_Query":
        found = comparable(request)
        bare = without_instructions(found)
        hashes = hasher.messages(found)
        same = len(bare.messages) == len(found.messages)
        return cls(found, hashes, bare, hashes if same else hasher.messages(bare))

    def against(self, entry: _Entry) -> tuple[Request, tuple[str, ...]]:
        """Return what is compared with a recorded request."""
        request, hashes = (self.bare, self.bare_hashes) if entry.bare else (self.request, self.hashes)
        return (request if entry.whole else as_far_as_recorded(request, entry.request)), hashes


@dataclass(slots=True)
class _Index:
    """The recorded calls as one API reads them, and by the hashes of their messages."""

    entries: list[_Entry]
    by_messages: dict[tuple[str, ...], list[_Entry]] = field(default_factory=dict)


class Playback:
    """Answers from the model calls of one session. Any number of threads can use it.

    With `start_over`, equal requests begin again with their first answer after the last one; otherwise they are refused
    then.
    """

    def __init__(self, calls: Sequence[PlayedCall], *, start_over: bool = False) -> None:
        self.calls = tuple(calls)
        self._start_over = start_over
        self._lock = Lock()
        self._hasher = Hasher()
        apis = {call.api.path: call.api for call in self.calls if call.api is not None}
        self._indexes = {path: self._new_index(api) for path, api in apis.items()}
        self._used: set[int] = set()

    @property
    def unused(self) -> tuple[PlayedCall, ...]:
        """The recorded calls that answered no request."""
        with self._lock:
            return tuple(call for call in self.calls if call.sequence not in self._used)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that answered, in the order in which they first did."""
        named = (call.model or (call.answer and call.answer.model) for call in self.calls)
        return tuple(dict.fromkeys(each for each in named if each))

    def answer(self, api: Api, body: Any) -> Reply:
        """Answer a request, or say why the record has no answer: 409 with the nearest recorded request, 400 if the body is not
        a request, 500 for a call that failed when it was recorded.
        """
        try:
            asked = _Query.of(api.read(body), self._hasher)
        except RequestError as why:
            return _refused(api, BAD_REQUEST, why.message, code=why.code)
        index = self._index_of(api)
        equal = [entry for entry in _candidates(index, asked) if self._is_equal(entry, asked)]
        if not equal:
            return self._missed(api, index, asked)
        call = self._take([entry.call for entry in equal])
        return _used_up(api, equal) if call is None else _played(api, call, body)

    def _is_equal(self, entry: _Entry, asked: _Query) -> bool:
        request, hashes = asked.against(entry)
        return hashes == entry.hashes and self._hasher.settings(request) == entry.settings

    def _take(self, calls: Sequence[PlayedCall]) -> PlayedCall | None:
        with self._lock:
            unused = [call for call in calls if call.sequence not in self._used]
            if not unused and self._start_over:
                self._used.difference_update(call.sequence for call in calls)
                unused = list(calls)
            if not unused:
                return None
            self._used.add(unused[0].sequence)
            return unused[0]

    def _index_of(self, api: Api) -> _Index:
        with self._lock:
            if api.path not in self._indexes:
                self._indexes[api.path] = self._new_index(api)
            return self._indexes[api.path]

    def _new_index(self, api: Api) -> _Index:
        entries = (_entry(api, call, self._hasher) for call in self.calls)
        index = _Index([each for each in entries if each.request.messages])
        for entry in index.entries:
            index.by_messages.setdefault(entry.hashes, []).append(entry)
        return index

    def _missed(self, api: Api, index: _Index, asked: _Query) -> Reply:
        if not index.entries:
            return _refused(
                api, CONFLICT, "No request of a model call was recorded.", code="request_not_recorded"
            )
        unused = {call.sequence for call in self.unused}
        nearest = max(index.entries, key=lambda entry: self._nearness(entry, asked, unused))
        request, _ = asked.against(nearest)
        why = first_difference(nearest.request, request) or "nothing"
        message = (
            f"No recorded request equals this one. The closest is that of step {nearest.call.sequence}. "
            f"First difference (recorded and sent): {why}."
        )
        texts = _excerpts(nearest.request, request)
        if texts is not None:
            message += f" Recorded: {texts[0]!r}. Sent: {texts[1]!r}."
        facts = {"nearest_step": nearest.call.sequence, "difference": why}
        return _refused(api, CONFLICT, message, code="request_not_recorded", **facts)

    def _nearness(self, entry: _Entry, asked: _Query, unused: set[int]) -> tuple[int, int, int, bool, int]:
        """Return how near a recorded request is: messages in common from the beginning, then those in common anywhere,
        the number of messages with equal settings before others, one whose answer was not used, and the earliest.
        """
        request, hashes = asked.against(entry)
        common = len(set(hashes) & set(entry.hashes))
        lengths = abs(len(hashes) - len(entry.hashes))
        is_same = self._hasher.settings(request) == entry.settings
        return (
            equal_first(hashes, entry.hashes),
            common,
            -2 * lengths + is_same,
            entry.call.sequence in unused,
            -entry.call.sequence,
        )


def _entry(api: Api, call: PlayedCall, hasher: Hasher) -> _Entry:
    stated = _whole_request(api, call)
    if stated is not None:
        return _made(call, comparable(stated), hasher, whole=True, bare=False)
    frozen = call.frozen
    bare = SYSTEM_PROMPT in frozen.absent
    tools = () if any(each.startswith(TOOLS) for each in frozen.absent) else frozen.request.tools
    found = comparable(replace(frozen.request, model=call.model or call.answered_by, tools=tools))
    found = with_joined_messages(found) if api.joins else found
    return _made(call, without_instructions(found) if bare else found, hasher, whole=False, bare=bare)


def _made(call: PlayedCall, request: Request, hasher: Hasher, *, whole: bool, bare: bool) -> _Entry:
    hashes = hasher.messages(request)
    return _Entry(
        call=call, request=request, hashes=hashes, settings=hasher.settings(request), whole=whole, bare=bare
    )


def _whole_request(api: Api, call: PlayedCall) -> Request | None:
    """Return the request as this API reads it, if its whole body was recorded."""
    if call.api is not api:
        return None
    try:
        return api.read(call.input)
    except RequestError:
        return None


def _candidates(index: _Index, asked: _Query) -> Iterator[_Entry]:
    """Yield the calls with the same messages, in the order of the recording."""
    keys = {asked.hashes: False, asked.bare_hashes: True}
    found = [entry for key in keys for entry in index.by_messages.get(key, ())]
    yield from sorted(found, key=lambda entry: entry.call.sequence)


def _excerpts(recorded: Request, sent: Request) -> tuple[str, str] | None:
    """Return the beginnings of the texts of the first different message from where they differ."""
    for one, two in zip(recorded.messages, sent.messages, strict=False):
        if one == two:
            continue
        left, right = one.text, two.text
        if left == right:
            return None
        shorter = min(len(left), len(right))
        at = next((n for n in range(shorter) if left[n] != right[n]), shorter)
        start = max(0, at - EXCERPT // 3)
        return left[start : start + EXCERPT], right[start : start + EXCERPT]
    return None


def _used_up(api: Api, equal: Sequence[_Entry]) -> Reply:
    steps = ", ".join(f"{entry.call.sequence}" for entry in equal)
    were = "answer to this request was" if len(equal) == 1 else f"{len(equal):,} answers to this request were"
    message = (
        f"The recorded {were} already used (step {steps}), and each is used only once. "
        "To begin again with the first, start the playback with --start-over (in pytest: start_over=True)."
    )
    return _refused(api, CONFLICT, message, code="used_up", steps=[entry.call.sequence for entry in equal])


def _played(api: Api, call: PlayedCall, asked: Mapping[str, Any]) -> Reply:
    if call.failed is not None:
        message = f"This call failed when it was recorded (step {call.sequence}): {call.failed}"
        return _refused(api, FAILED, message, code="recorded_failure", step=call.sequence)
    if call.answer is None:
        message = f"Step {call.sequence} has this request, but its answer was not recorded in a known format."
        return _refused(api, CONFLICT, message, code="answer_not_recorded", step=call.sequence)
    body = api.body_of(call.answer, call.output)
    stream = api.stream(body, dict(asked)) if asked.get("stream") is True else None
    return Reply(status=200, body=body, stream=stream, step=call.sequence)


def _refused(api: Api, status: int, message: str, **facts: Any) -> Reply:
    return Reply(status=status, body=api.error(status, message, facts))
