"""The base of every schema: a resource in JSON and in the OpenAPI document."""

from datetime import UTC, date, datetime
from decimal import Decimal
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from pydantic import Field

from timemachine.core.pure.schemas import Schema


class Weather(Schema):
    """A schema with a field of each kind."""

    place: str
    wind: float | None
    note: str | None = None
    reading: int | str | None = None
    from_: str | None = Field(default=None, alias="from")
    anything: Any = None
    times: int = 0


FIELDS = Weather.model_json_schema()["properties"]


def test_a_field_with_the_default_none_is_never_null_in_the_document() -> None:
    assert FIELDS["note"] == {"title": "Note", "type": "string"}
    assert FIELDS["reading"]["anyOf"] == [{"type": "integer"}, {"type": "string"}]
    assert FIELDS["from"]["type"] == "string"
    assert FIELDS["anything"] == {"title": "Anything"}


def test_a_field_without_a_default_may_be_null() -> None:
    assert {"type": "null"} in FIELDS["wind"]["anyOf"]
    assert FIELDS["times"]["default"] == 0


def test_an_unset_field_is_absent_from_the_json() -> None:
    found = Weather.model_construct(place="Kiel", wind=None, from_="a buoy")
    assert found.model_dump() == {"place": "Kiel", "wind": None, "from": "a buoy"}
    assert (found.note, found.times) == (None, 0)


class Reading(Schema):
    """A measurement at a station with its time."""

    id: str
    at: str
    day: str
    price: float
    tags: list[str]
    weather: list[Weather]
    best: Weather | None
    note: str | None = None


def test_a_resource_is_built_from_the_attributes_of_an_object() -> None:
    calm = SimpleNamespace(place="Kiel", wind=None)
    source = SimpleNamespace(
        id=UUID(int=1),
        at=datetime(2026, 1, 2, tzinfo=UTC),
        day=date(2026, 1, 2),
        price=Decimal("0.5"),
        weather=(calm,),
        best=calm,
        note="is not read",
    )
    found = Reading.from_attributes(source, tags=["north"])
    kiel = {"place": "Kiel", "wind": None}
    assert found.model_dump() == {
        "id": "00000000-0000-0000-0000-000000000001",
        "at": "2026-01-02T00:00:00Z",
        "day": "2026-01-02",
        "price": 0.5,
        "weather": [kiel],
        "best": kiel,
        "tags": ["north"],
    }
    with pytest.raises(AttributeError, match="tags"):
        Reading.from_attributes(source)
