"""The rows of the access matrix, the routes that the product has, and what one caller must get."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from tests.web.access.callers import Caller
from tests.web.access.operations import OPERATIONS
from tests.web.access.pages import PAGES
from tests.web.routes import every_route
from timemachine.api.urls import api
from timemachine.core.accounts.models import SCOPES

DONE, SIGN_IN, SECOND_FACTOR = "done", "asked to sign in", "asked for a second factor"
FORBIDDEN, NOT_FOUND, NO_SUCH_METHOD, FAILED = "forbidden", "not found", "method not allowed", "failed"
FOR_PROGRAMS: Final = {"key", *SCOPES}
OWN: Final = {"owner", "member"}
OF_NO_PROJECT: Final = re.compile(r"/(sign-in|share|v1)/|/(api|settings)/models/keys/")
"""These name nothing of a project: a secret, a provider, a signal that is not accepted, what visitors open with a link."""
CREATES_ITS_OWN: Final = {"POST /api/collections/{name}/put", "POST /api/collections/{name}/files"}
"""A put creates a collection of that name in the caller's own project."""
_PARAMETER: Final = re.compile(r"[<{](?:\w+:)?(\w+)[>}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One method of a route, with what a caller must be or have for it; no `words` if the route does not accept it."""

    method: str
    route: str
    words: frozenset[str]

    def __str__(self) -> str:
        return f"{self.method} {self.route}"

    @property
    def is_for_programs(self) -> bool:
        return bool(self.words & FOR_PROGRAMS)

    @property
    def names_something(self) -> bool:
        """Return whether the address names something of a project."""
        has_name = "<" in self.route or "{" in self.route
        return has_name and not OF_NO_PROJECT.match(self.route) and str(self) not in CREATES_ITS_OWN


def cases() -> list[Case]:
    """Return the rows of both tables."""
    return [*_pages(), *_operations()]


def routes() -> set[str]:
    """Return `METHOD /route` for every operation of the API, and for GET and POST of every other route in the URL configuration."""
    operations = {
        (method, _without_types(f"/api{prefix}{path}"))
        for prefix, router in api._routers
        for path, view in router.path_operations.items()
        for operation in view.operations
        for method in operation.methods
    }
    known = {path for _, path in operations}
    others = {f"/{each.written}" for each in every_route() if _without_types(f"/{each.written}") not in known}
    pages = {(method, route) for method in ("GET", "POST") for route in others}
    return {f"{method} {route}" for method, route in operations | pages}


def expected(case: Case, caller: Caller) -> set[str]:
    """Return the kinds of answers of which the caller must get one."""
    if not case.words:
        return {NO_SUCH_METHOD, FORBIDDEN} if caller.is_forged else {NO_SUCH_METHOD}
    missing = case.words.difference(caller.may)
    if caller.is_forged and not case.is_for_programs:
        return {FORBIDDEN}
    if missing & {"auditor", "nobody"}:
        return {NOT_FOUND}
    if missing:
        return _refusals(case, caller, missing)
    return {NOT_FOUND} if caller.is_of_another_project and case.names_something else {DONE}


def kind_of(answer: Any, case: Case) -> str:
    """Return the kind of an answer. A route that only takes a form may redirect to the page that has it."""
    status = answer.status_code
    if not case.words and status == HTTPStatus.FOUND:
        return NO_SUCH_METHOD
    to = answer.get("HX-Redirect") or (answer["Location"] if status == HTTPStatus.FOUND else "")
    if status == HTTPStatus.UNAUTHORIZED or to.startswith("/sign-in/?next="):
        return SIGN_IN
    if to == "/settings/second-factor/":
        return SECOND_FACTOR
    refusals = {403: FORBIDDEN, 404: NOT_FOUND, 405: NO_SUCH_METHOD, 429: FAILED}
    return refusals.get(status) or (FAILED if status >= HTTPStatus.INTERNAL_SERVER_ERROR else DONE)


def _refusals(case: Case, caller: Caller, missing: frozenset[str]) -> set[str]:
    if case.is_for_programs:
        return {FORBIDDEN} if "key" in caller.may else {SIGN_IN}
    if missing == {"machine"}:
        return {FORBIDDEN}
    if not caller.is_signed_in:
        return {SIGN_IN}
    if missing <= OWN:
        return {NOT_FOUND}
    return {SECOND_FACTOR, FORBIDDEN} if caller.lacks_second_factor else {FORBIDDEN}


def _pages() -> Iterator[Case]:
    for route, *cells in _rows(PAGES):
        for method, cell in zip(("GET", "POST"), cells, strict=True):
            words = frozenset() if cell == "-" else frozenset(cell.split("+"))
            yield Case(method=method, route=route, words=words)


def _operations() -> Iterator[Case]:
    for method, route, scopes in _rows(OPERATIONS):
        yield Case(method=method, route=route, words=frozenset(scopes.split("+")))


def _rows(table: str) -> Iterator[list[str]]:
    for line in table.splitlines():
        if line and not line.startswith("#"):
            yield line.split()


def _without_types(path: str) -> str:
    return _PARAMETER.sub(r"{\1}", path)
