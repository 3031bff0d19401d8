"""The sessions that an integration records into: one for each run, or the one that it was given."""

import hashlib
from datetime import datetime
from functools import cache
from typing import Any, Final

from timemachine.client.machine import TimeMachine
from timemachine.client.recording.recorder import KEY, Session
from timemachine.client.recording.usage import counts, fields_of
from timemachine.core.pure.json_types import JsonObject

PROVIDER: Final = "openai"


class Sessions:
    """Opens a session for each run of a framework. If a `session` is given, all runs are recorded into it, and it is not ended here."""

    def __init__(self, machine: TimeMachine | None = None, session: Session | None = None) -> None:
        self._machine = machine
        self._given = session

    def open(self, key: str, name: str | None, *, ends: bool = True, **about: Any) -> Session:
        """The session of a run. With the key of an open session, it continues that one; `ends` is whether its end is that of the session."""
        if self._given is not None:
            return self._given
        machine = self._machine or shared_machine()
        return machine.session(name or key, key=valid_key(key), end=ends, **about)

    def close(self, session: Session) -> None:
        """End the session of a run without waiting for its delivery."""
        if session is not self._given:
            session.end(wait=False)

    def flush(self, timeout: float = 30.0) -> bool:
        """Wait until everything recorded so far is delivered; returns whether it is."""
        if self._given is not None:
            return self._given.flush(timeout)
        return (self._machine or shared_machine()).flush(timeout)


@cache
def shared_machine() -> TimeMachine:
    """The `TimeMachine` of all integrations that were not given one."""
    return TimeMachine()


def valid_key(given: str) -> str:
    """The key itself, or `run-` and a hash if the server would not accept it."""
    if KEY.fullmatch(given):
        return given
    return f"run-{hashlib.sha256(given.encode()).hexdigest()[:12]}"


def usage_of(given: Any) -> dict[str, int] | None:
    """Token counts in our names; None if nothing was counted, which frameworks write as zeros."""
    found = counts(fields_of(given)) if given is not None else {}
    return found if any(found.values()) else None


def model_of(name: str | None, provider: str | None = None) -> str | None:
    """The model as `provider:model`. A name can have its provider before a slash, as LiteLLM writes it."""
    if name is None or ":" in name.partition("/")[0]:
        return name
    before, slash, rest = name.partition("/")
    if provider is None and slash:
        return f"{before}:{rest}"
    return f"{provider or PROVIDER}:{name}"


def error_of(failure: BaseException) -> JsonObject:
    """An exception as the error of an action."""
    return {"type": type(failure).__name__, "message": str(failure)}


def milliseconds(start: datetime, end: datetime) -> float:
    """The time between two moments."""
    return (end - start).total_seconds() * 1e3


def without_none(given: JsonObject) -> JsonObject:
    """The fields that are set."""
    return {name: value for name, value in given.items() if value is not None}
