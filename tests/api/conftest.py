"""Fixtures for API tests: a program with a key of every scope, and one of another project."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from tests.answer_validation import held
from tests.measuring import programs_unmeasured
from timemachine.core.accounts.commands.keys import make_api_key
from timemachine.core.accounts.models import SCOPES, Project


@dataclass
class Program:
    """A program with a key. Every answer it gets is checked against the OpenAPI document."""

    key: str
    client: Client

    def get(self, path: str, **query: Any) -> Any:
        return held(self.client.get(f"/api{path}", query, headers=self._headers))

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.raw(path, json.dumps(body or {}), **headers)

    def raw(self, path: str, body: str | bytes, **headers: str) -> Any:
        return self._send(self.client.post, path, body, **headers)

    def patch(self, path: str, body: Any) -> Any:
        return self._send(self.client.patch, path, json.dumps(body))

    def put(self, path: str, body: Any) -> Any:
        return self._send(self.client.put, path, json.dumps(body))

    def delete(self, path: str) -> Any:
        return held(self.client.delete(f"/api{path}", headers=self._headers))

    def delete_for(self, path: str, body: Any) -> Any:
        return self._send(self.client.delete, path, json.dumps(body))

    def _send(self, how: Callable[..., Any], path: str, body: str | bytes, **headers: str) -> Any:
        response = how(f"/api{path}", body, content_type="application/json", headers=self._headers | headers)
        return held(response)

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


def program(project: Project, *scopes: str) -> Program:
    """A program with a key of these scopes, by default of all scopes."""
    _, key = make_api_key(project, name="test", scopes=scopes or SCOPES)
    return Program(key=key, client=Client())


@pytest.fixture(scope="module", autouse=True)
def programs_measured_elsewhere() -> Iterator[None]:
    """File readers have tests of their own."""
    with programs_unmeasured():
        yield


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture
def stranger(other_project: Project) -> Program:
    return program(other_project)


@pytest.fixture(scope="session")
def document() -> Any:
    """The OpenAPI document; generating it takes a second."""
    return Client().get("/api/openapi.json").json()


@pytest.fixture(scope="module")
def shared_api(shared_rows: None) -> Program:
    """A key of a project that is created once per test file."""
    return program(Project.objects.create(name="Prüfung"))


@pytest.fixture(scope="module")
def shared_session(shared_api: Program) -> str:
    """A session of that project."""
    return begun(shared_api)


PASSAGES = [
    {"title": "Retention", "text": "Invoices are kept for ten years.", "uri": "a"},
    {"title": "Travel", "text": "Train tickets are booked in second class.", "metadata": {"seite": 3}},
]


@pytest.fixture
def session(api: Program) -> str:
    return begun(api)


def begun(api: Program) -> str:
    """The id of a new session `run-1` with a collection."""
    api.post("/collections/handbook/put", {"frames": PASSAGES})
    return str(
        api.post("/sessions", {"name": "Lauf ä", "collection": "handbook", "key": "run-1"}).json()["id"]
    )
