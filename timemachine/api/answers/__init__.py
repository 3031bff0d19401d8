"""What operations answer, field by field: the OpenAPI document names them, and the tests hold every answer to them.

Answers are written as they are, nothing is read through these: a field that is missing here, or there, fails a test.
"""

from functools import cache
from types import UnionType
from typing import Any, Final, get_args

from pydantic import TypeAdapter

from timemachine.api.answers import (
    costs,
    models,
    shares,
)
from timemachine.api.answers.shape import Answers
from timemachine.api.errors import Error

_ROOMS: Final = (
    costs,
    models,
    shares,
)
ANSWERS: Final[Answers] = {named: answer for room in _ROOMS for named, answer in room.ANSWERS.items()}
PREFIX: Final = "Answer"


def documents_of(answer: Any) -> tuple[Any, ...]:
    """The documents of which an answer is one."""
    return get_args(answer) if isinstance(answer, UnionType) else (answer,)


def reference(answer: Any) -> dict[str, Any]:
    """The answer as the OpenAPI document refers to it."""
    named = [{"$ref": _TEMPLATE.format(model=each.__name__)} for each in documents_of(answer)]
    return named[0] if len(named) == 1 else {"anyOf": named}


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """All that is named above as JSON Schema, by the name that refers to it in the document."""
    named = {each.__name__: each for answer in ANSWERS.values() for each in documents_of(answer)}
    inputs = [(name, "serialization", TypeAdapter(each)) for name, each in named.items()]
    _, found = TypeAdapter.json_schemas(inputs, ref_template=_TEMPLATE)  # type: ignore[arg-type]  # a list of such
    named_there = {f"{PREFIX}{name}": each for name, each in found["$defs"].items()}
    return named_there | {"Error": TypeAdapter(Error).json_schema()}


_TEMPLATE: Final = f"#/components/schemas/{PREFIX}{{model}}"
