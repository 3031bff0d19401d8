"""The access matrix: every route of the product, requested by everybody who could send it a request.

`pages` and `operations` say who may do what; `callers` makes everybody. A new route without a row fails, and so does a row without a route.
"""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction

from tests.web.access.callers import ALL_SCOPES, ANYONE, BROWSERS, KEYS, Caller
from tests.web.access.cases import DONE, FAILED, NO_SUCH_METHOD, Case, cases, expected, kind_of, routes
from tests.web.everything import BY_NAME, CANARY, FullProject, body_of, everything_in
from timemachine.core.accounts.models import Project

CASES: Final = cases()
LACKING: Final = {
    "GET /health/workers": 503,
    "GET /sign-in/provider/": 404,
    "GET /sign-in/provider/answer/": 404,
    "GET /sessions/<session:id>/payloads/<sha256:sha256>/images/<int:number>": 404,
    "GET /share/<str:public_id>/steps/<int:sequence>/": 404,
    "GET /share/<str:public_id>/cells/<int:step>/": 404,
    "GET /share/<str:public_id>/payloads/<str:sha256>/images/<int:number>": 404,
    "POST /api/sessions/{session_id}/resume": 404,
    "POST /api/sessions/{session_id}/proposals": 404,
    "DELETE /api/sessions/{session_id}/compression": 404,
    "POST /api/comparisons/{comparison_id}/marks": 404,
    "GET /api/comparisons/{comparison_id}/judgements/{opinion_id}": 404,
}
"""What the project lacks here, and the answer to those who may ask for it: workers, a provider, an image, a checkpoint, …"""
HTMX: Final = {"HX-Request": "true"}
CHANGES: Final = {"INSERT", "UPDATE", "DELETE"}
NOTED: Final = re.compile(
    r'UPDATE "tm_api_key" SET "last_used_at" = \S+ WHERE'
    r'|UPDATE "tm_browser_session" SET "seen_at" = \S+ "expire_date" = \S+ WHERE'
    r"|UPDATE tm_share_grant SET "
)
"""Notes that a key, a browser or a link was used, whatever the answer."""


@pytest.fixture(scope="module")
def full_once(shared_rows: None) -> FullProject:
    return everything_in(Project.objects.create(name="Prüfung"))


@pytest.fixture
def full(full_once: FullProject, db: None) -> FullProject:
    return full_once


def test_every_route_has_a_row_and_every_row_a_route() -> None:
    rows = {str(case) for case in CASES}
    assert len(rows) == len(CASES), "a route has two rows"
    assert not sorted(routes() - rows), "add a line for these to tests/web/access/pages.py or operations.py"
    assert not sorted(rows - routes()), (
        "remove the lines of these from tests/web/access/pages.py or operations.py"
    )


@pytest.mark.parametrize("make", BROWSERS + KEYS, ids=lambda make: make.__name__)
def test_everybody_gets_what_the_tables_say(make: Callable[[FullProject], Caller], full: FullProject) -> None:
    caller = make(full)
    Project.objects.update(needs_second_factor=True)
    faults = [fault for case in CASES if is_tried(case, caller) for fault in faults_of(case, caller, full)]
    assert not faults, "\n".join(faults)


def is_tried(case: Case, caller: Caller) -> bool:
    """Return whether this caller's request tells something that no other's does."""
    if caller.is_forged:
        return case.method == "POST" and not case.route.startswith(("/api/", "/v1/", "/mcp"))
    if "machine" in caller.may:
        return "machine" in case.words
    if caller.key and not case.is_for_programs:
        return caller.may == ALL_SCOPES and not case.words <= set(ANYONE)
    if caller.is_of_another_project and expected(case, caller) == {DONE}:
        return False  # that is in their own project
    is_same_for_all = case.is_for_programs or case.words <= set(ANYONE)
    return caller.tries_everything or bool(caller.key) or not is_same_for_all


def faults_of(case: Case, caller: Caller, full: FullProject) -> Iterator[str]:
    due = expected(case, caller)
    for address, headers in requests_for(case, caller, full, due):
        with undone() as changed:
            answer = caller.send(case.method, address, sent(case, full), **headers)
            text = answer.getvalue().decode(errors="replace") if answer.streaming else answer.text
        what = f"{case} ({address} {headers or ''})"
        if due == {DONE} and str(case) in LACKING:
            kind = DONE if answer.status_code == LACKING[str(case)] else FAILED
        else:
            kind = kind_of(answer, case)
        if kind not in due:
            yield f"{what}: {' or '.join(sorted(due))} expected, {answer.status_code} received"
        if due != {DONE} and changed:
            yield f"{what}: refused, but has changed {changed}"
        if due.isdisjoint({DONE, NO_SUCH_METHOD}) and CANARY in text and CANARY not in address:
            yield f"{what}: refused, but shows something of the project"


def requests_for(
    case: Case, caller: Caller, full: FullProject, due: set[str]
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the address and the headers of each request."""
    if case.route.startswith("/^"):
        yield "/share/x/y", {}
        return
    address = full.at(case.route)
    yield address, {}
    if case.method == "GET" and not case.is_for_programs and due.isdisjoint({DONE, NO_SUCH_METHOD}):
        yield address, HTMX  # what refuses a page has to refuse a part of it
    if caller.is_of_another_project and (by_name := full.at(case.route, BY_NAME)) != address:
        yield by_name, {}


@contextmanager
def undone() -> Iterator[list[str]]:
    """Undo everything that happens inside. Yields the statements that changed rows of the project."""
    changed: list[str] = []

    def watch(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        done = execute(sql, params, many, context)
        statement = " ".join(sql.split())
        if (
            statement.split()[0].upper() in CHANGES
            and context["cursor"].rowcount > 0
            and not NOTED.match(statement)
        ):
            changed.append(statement[:300])
        return done

    with transaction.atomic(), connection.execute_wrapper(watch):
        yield changed
        transaction.set_rollback(True)


def sent(case: Case, full: FullProject) -> Any:
    """Return a query, a form or a JSON document that the route can read."""
    body = body_of(case.method, case.route, full)
    if case.route == "/api/collections/{name}/files":
        return {"file": SimpleUploadedFile("a.md", b"# One")}
    return json.dumps(body) if case.is_for_programs and case.method != "GET" else body
