"""Response schemas: the OpenAPI document describes every answer field by field, and no answer deviates from it."""

import inspect
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any, get_type_hints

import pytest
from pydantic import BaseModel, ValidationError

from tests.answer_validation import conforms, held, typed_responses
from tests.api.conftest import Program
from timemachine.api.errors import Error
from timemachine.api.urls import api
from timemachine.core.accounts.schemas import ProjectOut
from timemachine.recording.importing.exporting import EXPORTS

JSON = "application/json"
ZIP = {"application/zip"}
FILES: dict[tuple[str, str], set[str]] = {
    ("get", "/api/sessions/{session_id}/evidence"): ZIP,
    ("get", "/api/replays/{replay_id}/evidence"): ZIP,
    ("get", "/api/comparisons/{comparison_id}/evidence"): ZIP,
    ("get", "/api/evidence"): ZIP,
    ("get", "/api/sessions/{session_id}/export"): {each.media_type for each in EXPORTS.values()},
    ("get", "/api/audit-log/export"): {"application/x-ndjson", "text/csv"},
    ("get", "/api/training"): {"application/x-ndjson"},
    ("get", "/api/comparisons/{comparison_id}/export"): {"text/csv"},
    ("get", "/api/sessions/{session_id}/transcript"): {"text/plain; charset=utf-8"},
    ("post", "/api/sessions/{session_id}/ask"): {"text/event-stream"},
    ("post", "/api/collections/{name}/ask"): {"text/event-stream"},
}
"""Answers with a file or a stream, and their media types; a document among them has its own schema."""

STORED = {"StoredOptions"}
"""Schemas of values returned as stored, perhaps by another version."""


def answers_in(document: dict[str, Any]) -> Iterator[tuple[str, str, str, str, Any]]:
    """Every answer: method, path, status, media type, schema."""
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            for status, answer in operation["responses"].items():
                for media_type, content in answer["content"].items():
                    yield method, path, status, media_type, content["schema"]


def test_every_operation_documents_its_answer_field_by_field(document: dict[str, Any]) -> None:
    described = set()
    for method, path, status, media_type, schema in answers_in(document):
        if not status.startswith("2") or media_type in FILES.get((method, path), ()):
            continue
        named = [each["$ref"] for each in schema.get("anyOf", [schema]) if "$ref" in each]
        assert media_type == JSON, f"{method} {path} answers {media_type}; name it in FILES"
        assert named, f"{method} {path} {status} has no schema: set `response=` in its decorator"
        described.add((method, path, int(status)))
    assert described == set(typed_responses())


def test_every_operation_is_annotated_with_its_schema() -> None:
    for view in (view for router in api._get_bound_routers() for view in router.path_operations.values()):
        for operation in view.operations:
            function = inspect.unwrap(operation.view_func)
            annotated = get_type_hints(function)["return"]
            assert "dict" not in str(annotated), f"{function.__module__}.{function.__name__} returns a dict"


def test_every_file_answer_is_documented_with_its_types(document: dict[str, Any]) -> None:
    files: dict[tuple[str, str], set[str]] = {}
    for method, path, status, media_type, _ in answers_in(document):
        if status.startswith("2") and (method, path) in FILES:
            files.setdefault((method, path), set()).add(media_type)
    assert {of: types - {JSON} | FILES[of] & {JSON} for of, types in files.items()} == FILES


def test_every_refusal_uses_the_error_schema(document: dict[str, Any]) -> None:
    for method, path, status, media_type, schema in answers_in(document):
        if not status.startswith("2"):
            assert (media_type, schema) == (JSON, {"$ref": "#/components/schemas/Error"}), (method, path)


def test_every_operation_documents_its_refusals(document: dict[str, Any]) -> None:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            answers = operation["responses"]
            assert {"401", "403", "default"} <= set(answers), (method, path)
            assert ("404" in answers) == ("{" in path), (method, path)
            assert all(each["content"] for each in answers.values()), (method, path)


def test_no_two_schemas_have_the_same_name(document: dict[str, Any]) -> None:
    defined = {(each.__module__, each.__name__) for each in _subclasses(BaseModel)}
    named = Counter(name for module, name in defined if module.startswith("timemachine."))
    assert [name for name in document["components"]["schemas"] if named[name] > 1] == []


def _subclasses(of: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for each in of.__subclasses__():
        yield each
        yield from _subclasses(each)


def test_every_document_lists_all_its_fields(document: dict[str, Any]) -> None:
    named = document["components"]["schemas"]
    of_documents = {name: each for name, each in named.items() if "properties" in each}
    open_ones = {name for name, each in of_documents.items() if each.get("additionalProperties") is not False}
    assert open_ones == STORED


@pytest.mark.parametrize("wrong", [{"more": 1}, {"name": None}, {"scopes": ["fly"]}, {"name": 7}])
def test_an_undocumented_field_is_detected(api: Program, wrong: dict[str, Any]) -> None:
    body = api.get("/project").json()
    conforms(ProjectOut, json.dumps(body).encode())
    with pytest.raises(ValidationError):
        conforms(ProjectOut, json.dumps(body | wrong).encode())


def test_a_refusal_without_facts_is_detected() -> None:
    with pytest.raises(ValidationError):
        conforms(Error, b'{"code": "gone", "message": "It is gone."}')


def test_a_stream_is_checked_against_its_schema_while_it_is_read(api: Program, session: str) -> None:
    answer = api.get(f"/sessions/{session}/transcript")
    document = json.loads(b"".join(answer.streaming_content))
    answer.streaming_content = [json.dumps(document | {"more": 1}).encode()]
    with pytest.raises(ValidationError, match="more"):
        list(held(answer).streaming_content)


def test_a_success_with_an_undocumented_status_fails(api: Program, session: str) -> None:
    answer = api.get(f"/sessions/{session}")
    answer.status_code = 202
    with pytest.raises(AssertionError, match=r"answers 202; named are \[200\]"):
        held(answer)
