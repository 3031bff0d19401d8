"""Whose rows the database shows: those of one project, of every project, or none.

Every query names its project anyway. This is a second wall: PostgreSQL hides the rows of other projects from a
query that forgets to (`timemachine/sql/row_security.sql`). A request sees nothing until it is known who asks; then it sees
one project. Commands and periodic jobs see every project.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final
from uuid import UUID

_EVERY: Final = "*"
_NONE: Final = ""
_visible: Final = ContextVar("visible_rows", default=_EVERY)


def visible_rows() -> str:
    """Return the value of the database's setting `timemachine.project`: a project's id, `*` for every project, or an empty text."""
    return _visible.get()


def see_project(project: UUID) -> None:
    """See only the rows of a project until the innermost of the blocks below ends; so call it in none but that of the request."""
    _visible.set(str(project))


@contextmanager
def rows_of(project: UUID) -> Iterator[None]:
    """See only the rows of a project inside."""
    with _seeing(str(project)):
        yield


@contextmanager
def rows_of_every_project() -> Iterator[None]:
    """See the rows of every project inside: to find out who asks, or for what belongs to a person and not to a project."""
    with _seeing(_EVERY):
        yield


@contextmanager
def no_rows() -> Iterator[None]:
    """See no project's rows inside, until one is chosen."""
    with _seeing(_NONE):
        yield


def with_the_same_rows[Part](parts: Iterable[Part]) -> Iterator[Part]:
    """Yield parts that are read later, seeing what is visible now."""
    return _each_seeing(_visible.get(), iter(parts))


def called_with_the_same_rows(function: Callable[[], None]) -> Callable[[], None]:
    """Return a function to call later, seeing what is visible now."""
    seen = _visible.get()

    def called() -> None:
        with _seeing(seen):
            function()

    return called


def _each_seeing[Part](seen: str, parts: Iterator[Part]) -> Iterator[Part]:
    while True:
        with _seeing(seen):
            try:
                part = next(parts)
            except StopIteration:
                return
        yield part


@contextmanager
def _seeing(what: str) -> Iterator[None]:
    token = _visible.set(what)
    try:
        yield
    finally:
        _visible.reset(token)
