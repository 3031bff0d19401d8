"""Conversations that a provider stored: each request names the response before it, and has only what is new."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from timemachine.core.payloads.queries import is_intact, value
from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.model_calls.pure.requests import (
    Circumstances,
    FrozenRequest,
    continued,
    recorded,
    response_id,
)
from timemachine.recording.model_calls.pure.values import answer_parts
from timemachine.recording.sessions.models import Action, Session

_AT_ONCE: Final = 20


class StoredTurns:
    """The model calls of a session up to a step, by the ids of their responses. They are read backwards, as far as needed.

    `seen` returns what may be seen of fields of a step.
    """

    def __init__(self, session: Session, through: int, seen: Callable[[JsonObject], JsonObject]) -> None:
        self._unread = _backwards(session, through)
        self._by_response: dict[str, Action] = {}
        self._whole: dict[int, FrozenRequest] = {}
        self._seen = seen

    def whole(self, sequence: int, own: FrozenRequest) -> FrozenRequest:
        """Return the request of a call with the turns before it, as far as this session recorded them."""
        later: list[tuple[int, FrozenRequest, Action]] = []
        while own.continues is not None:
            before = self._with_response(own.continues)
            if before is None or before.sequence >= sequence:
                break
            found = self._whole.get(before.sequence) or self._own(before)
            if found is None:
                break
            later.append((sequence, own, before))
            sequence, own = before.sequence, found
        for number, request, before in reversed(later):
            own = self._whole[number] = self._continued(request, own, before)
        return own

    def _with_response(self, name: str) -> Action | None:
        while name not in self._by_response:
            call = next(self._unread, None)
            if call is None:
                return None
            found = response_id(value(call.output), call.parameters, call.metadata)
            if found is not None:
                self._by_response.setdefault(found, call)
        return self._by_response[name]

    def _own(self, call: Action) -> FrozenRequest | None:
        seen = self._seen({"input": value(call.input), "parameters": call.parameters})
        altered = () if is_intact(call.input) else (call.sequence,)
        return recorded(seen["input"], Circumstances(parameters=seen["parameters"], altered=altered))

    def _continued(self, own: FrozenRequest, whole: FrozenRequest, before: Action) -> FrozenRequest:
        answer = answer_parts(self._seen({"output": value(before.output)})["output"])
        if not is_intact(before.output):
            whole = replace(whole, verdict="altered")
        return continued(own, whole, answer, before.sequence)


def _backwards(session: Session, through: int) -> Iterator[Action]:
    """Yield the model calls up to a step, the last first; only a few are read, as most calls continue the one before."""
    calls = session.actions.filter(kind="llm_call").select_related("input", "output").order_by("-sequence")
    while found := list(calls.filter(sequence__lte=through)[:_AT_ONCE]):
        yield from found
        through = found[-1].sequence - 1
