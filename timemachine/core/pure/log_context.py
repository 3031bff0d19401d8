"""What this thread works for: the id of a request, and the job. Every log line has it, and jobs inherit it."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

HEADER: Final = "X-Request-ID"
_WELL_FORMED: Final = re.compile(r"[A-Za-z0-9._:=-]{1,128}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a thread works for. None if it works for no request, or for no job."""

    request_id: str | None = None
    job: str | None = None


_CURRENT: Final = ContextVar("work", default=Work())  # noqa: B039  # it is frozen


def current() -> Work:
    """Return what this thread works for."""
    return _CURRENT.get()


def begin_request(sent: str | None) -> str:
    """Work for a request until `end_request`. Return its id: the one that was sent if it is well-formed, else a new one."""
    request_id = sent if sent and _WELL_FORMED.fullmatch(sent) else uuid4().hex
    _CURRENT.set(Work(request_id=request_id))
    return request_id


def end_request() -> None:
    """Work for nobody."""
    _CURRENT.set(Work())


@contextmanager
def working_on(job: str, request_id: str | None) -> Iterator[None]:
    """Work on a job, which a request may have enqueued, while the block runs."""
    before = _CURRENT.set(Work(request_id=request_id, job=job))
    try:
        yield
    finally:
        _CURRENT.reset(before)


def with_request_id(error: Mapping[str, object]) -> dict[str, object]:
    """Return an error as the API answers it, with the id of the request."""
    return {**error, "request_id": current().request_id}


def of_this_request() -> str:
    """Return where to look in the log, after "in the server's log"; empty outside of requests."""
    request_id = current().request_id
    return f" under the request ID {request_id}" if request_id else ""
