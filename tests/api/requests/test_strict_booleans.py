"""Request bodies take true and false for a boolean, not text or numbers that look like them."""

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.api.conftest import Program
from timemachine.config import urls
from timemachine.core.pure.schemas import Strict

assert urls  # it imports every schema of a request


def schemas(base: type[Strict] = Strict) -> Iterator[type[Strict]]:
    for each in base.__subclasses__():
        yield each
        yield from schemas(each)


def holds_a_boolean(annotation: Any) -> bool:
    return annotation is bool or any(map(holds_a_boolean, get_args(annotation)))


BOOLEANS = sorted(
    (
        (f"{schema.__name__}.{name}", schema, name)
        for schema in set(schemas())
        for name in schema.model_fields
    ),
    key=lambda each: each[0],
)


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        pytest.param(schema, name, id=words)
        for words, schema, name in BOOLEANS
        if holds_a_boolean(schema.model_fields[name].rebuild_annotation())
    ],
)
@pytest.mark.parametrize("value", ["true", "yes", 1, 0], ids=str)
def test_a_field_takes_only_booleans(schema: type[Strict], name: str, value: object) -> None:
    field = schema.model_fields[name].rebuild_annotation()
    for sent in (value, [value]):  # some fields are lists of booleans
        with pytest.raises(ValidationError):
            TypeAdapter(field).validate_python(sent)


def test_the_refusal_names_the_field(api: Program, session: str) -> None:
    refused = api.post(f"/sessions/{session}/ask", {"question": "Why?", "no_cache": "yes"})
    assert (refused.status_code, refused.json()["message"]) == (422, "`no_cache` must be true or false.")
