"""Fuzzing the API from its OpenAPI document: every answer is a documented one and never a server error.

`SCHEMA_EXAMPLES` says how many requests each operation gets, drawn anew each time; without it they are few, and the same each time.
"""

import json
import logging
import os
import socket
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from django.db import connection
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import APIOperation, BaseSchema, Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core import NotSet
from schemathesis.core.result import Ok
from schemathesis.specs.openapi import checks

from tests.builders import compared, recorded_session, replayed
from timemachine.core.accounts.commands.keys import make_api_key
from timemachine.core.accounts.models import SCOPES, Project
from timemachine.replay.runs.pure.options import ReplayOptions

type Operation = APIOperation[Any, Any, Any, Any]
EXAMPLES_PER_OPERATION = os.environ.get("SCHEMA_EXAMPLES")
EXAMPLES = int(EXAMPLES_PER_OPERATION or "2")
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
JSON = "application/json"
BIG = (2**31, 2**63, 2**70, -(2**70))
ODD_VALUES: tuple[Any, ...] = (
    *BIG, "\0", "a\0b", "\ud800", -1, 0, 0.5, 1e308, "", " ", "a" * 5_000, True, None, [], {}, ["\0"], [None], [[]], [{}],
    {"\0": "\ud800"},
)  # fmt: skip
ODD_WORDS = (
    *map(str, BIG), "\0", "", " ", "a" * 5_000, "-1", "1e400", "nan", "now", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "'", "(",
    "WzFd", "W10", "bnVsbA", "eyJhIjoxfQ", "WyJcdTAwMDAiXQ", "WzFlNDAwXQ",
)  # fmt: skip
ODD_SEGMENTS = (*map(str, BIG), "%00", "a%00b", "%ED%A0%80", "%FF", "%0A", "-1", "a" * 5_000, "%F0%9F%92%A9")
ODD: dict[str, tuple[Any, ...]] = {"path_parameters": ODD_SEGMENTS, "query": ODD_WORDS, "body": ODD_VALUES}
ORDER = ("GET", "POST", "PUT", "PATCH", "DELETE")
"""Objects are read before they are changed, and changed before they are deleted."""


django_application = cache(get_wsgi_application)


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """The WSGI application; its responses are read to the end and closed, as a web server does."""
    answer = django_application()(environ, start_response)
    try:
        return [b"".join(answer)]
    finally:
        answer.close()


def modes(operation: Operation) -> list[GenerationMode]:
    """Valid requests, and invalid ones where a query or a body can be invalid: any path segment is valid."""
    return list(GenerationMode) if operation.query or operation.body else [GenerationMode.POSITIVE]


class Api:
    """The document, the objects that requests can refer to, and three kinds of keys."""

    def __init__(self, schema: BaseSchema) -> None:
        self.schema = schema
        project = Project.objects.create(name="Prüfung")
        session = recorded_session(project, key="run-1")
        replay = replayed(session, ReplayOptions(audit=True, reason="Why?", use_model="local:extractive-1"))
        comparison = compared(project, [session], "local:extractive-1", "local:extractive-3")
        keys = [make_api_key(project, name=each[0], scopes=each)[1] for each in (SCOPES, ["read"])]
        self.keys = (*[keys[0]] * 4, keys[1], None)
        self.there: dict[str, tuple[Any, ...]] = {
            **dict.fromkeys(("session_id", "session", "a", "b", "target_id"), ("run-1", str(session.id))),
            **dict.fromkeys(("name", "collection"), ("handbook",)),
            **dict.fromkeys(("model", "use_model"), ("local:extractive-1",)),
            "replay_id": (str(replay.id),),
            "comparison_id": (str(comparison.id),),
            "sequence": (1, 2, 3),
            "number": (0, 1),
            "provider": ("openai",),
            "sessions": (["run-1"],),
            "target_type": ("session",),
            "as_of": ("now",),
            "query": ("invoices",),
            "question": ("How long are invoices kept?",),
        }

    def operations(self) -> Iterator[Operation]:
        """All operations, in `ORDER`."""
        found: list[Operation] = [
            each.ok() for each in self.schema.get_all_operations() if isinstance(each, Ok)
        ]
        yield from sorted(found, key=lambda each: ORDER.index(each.method.upper()))

    def ask(self, case: Case[Operation], key: str | None) -> None:
        """Send the request and check the answer."""
        headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {key}"} if key else {})
        is_json = case.media_type == JSON and not isinstance(case.body, NotSet | bytes)
        body: dict[str, Any] = {"data": json.dumps(case.body)} if is_json else {}
        answer = case.call(headers=headers, **body)
        case.validate_response(answer, checks=CHECKS)

    def named(self, part: Any) -> Any:
        """Names and ids of existing objects, for parameters that refer to one."""
        if not isinstance(part, dict):
            return part
        return {name: self.there.get(name, (value,))[0] for name, value in part.items()}

    @property
    def cases(self) -> Any:
        """Requests for an operation: valid and invalid, with existing and unknown ids, some with an odd value."""

        @st.composite
        def drawn(draw: st.DrawFn, operation: Operation) -> tuple[Case[Operation], str | None]:
            made = draw(st.one_of([operation.as_strategy(generation_mode=each) for each in modes(operation)]))
            of_what_is_there = draw(st.sampled_from([True, True, True, False]))
            parts: dict[str, Any] = {
                name: self.named(getattr(made, name)) if of_what_is_there else getattr(made, name)
                for name in ODD
            }
            name = draw(st.sampled_from(["", *ODD]))
            is_form = name == "body" and made.media_type != JSON
            if isinstance(values := parts.get(name), dict) and values and not is_form:
                odd = {draw(st.sampled_from(sorted(values))): draw(st.sampled_from(ODD[name]))}
                parts[name] = {**values, **odd}
            return operation.Case(**parts, media_type=made.media_type), draw(st.sampled_from(self.keys))

        return drawn


@pytest.fixture
def described(
    transactional_db: None,
    silent_queue: None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> Api:
    """The API, cut off from the network."""

    def nowhere(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "there is no network in this test")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", None)
    connection.close_at = None  # one connection for all requests, as on a server
    caplog.set_level(logging.ERROR, "django.request")
    schema = schemathesis.openapi.from_wsgi("/api/openapi.json", application)
    schema.config.generation.with_security_parameters = False
    return Api(schema)


def test_every_answer_is_documented(described: Api) -> None:
    for operation in described.operations():

        @settings(
            max_examples=EXAMPLES,
            derandomize=not EXAMPLES_PER_OPERATION,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(described.cases(operation))
        def check_operation(drawn: tuple[Case[Operation], str | None]) -> None:
            described.ask(*drawn)

        check_operation()
