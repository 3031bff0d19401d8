"""Read rows of a model with prepared statements: with Django's `raw`, working out columns and converters takes as long
as the query."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

from django.db import connection, models

from timemachine.core import prepared_statements

type Read = Callable[[Any], Any]


def columns(model: type[models.Model], table: str = "") -> str:
    """Return the columns of a model for SELECT, in the order in which `rows_of` reads them, optionally prefixed with a
    table name."""
    of = f"{table}." if table else ""
    return ", ".join(
        f"{of}{connection.ops.quote_name(str(field.column))}" for field in model._meta.concrete_fields
    )


def rows_of[Row: models.Model](
    model: type[Row], sql: str, facts: Mapping[str, Any], *related: str
) -> Iterator[Row]:
    """Yield the rows of a statement that returns the `columns` of the model. One query.

    `related` names foreign keys whose `columns` follow; they are all NULL if a row refers to nothing.
    """
    for found, _ in rows_with(model, sql, facts, *related):
        yield found


def rows_with[Row: models.Model](
    model: type[Row], sql: str, facts: Mapping[str, Any], *related: str
) -> Iterator[tuple[Row, list[Any]]]:
    """Yield the same rows, each with the values that follow those columns."""
    keys = [model._meta.get_field(name) for name in related]
    plans = [_plan(model), *(_plan(key.related_model) for key in keys)]
    for row in prepared_statements.fetch_rows(sql, facts):
        values = iter(row)
        found, *others = [_made(plan, list(islice(values, len(plan.names)))) for plan in plans]
        for key, other in zip(keys, others, strict=True):
            key.set_cached_value(found, other)  # type: ignore[union-attr]  # as select_related does
        yield found, list(values)


@dataclass(frozen=True, slots=True)
class _Plan:
    """A model, the names of its attributes, and converters for the columns that need one."""

    model: type[models.Model]
    names: list[str]
    readers: list[tuple[int, Read]]
    key: int


def _made(plan: _Plan, values: list[Any]) -> Any:
    if values[plan.key] is None:
        return None
    for at, read in plan.readers:
        values[at] = read(values[at])
    return plan.model.from_db(connection.alias, plan.names, values)


@cache
def _plan(model: type[models.Model]) -> _Plan:
    fields = list(model._meta.concrete_fields)
    readers = [(at, read) for at, field in enumerate(fields) if (read := _reader(field))]
    return _Plan(model, [field.attname for field in fields], readers, fields.index(model._meta.pk))


def _reader(field: models.Field[Any, Any]) -> Read | None:
    column = field.get_col(field.model._meta.db_table)
    converters = [*connection.ops.get_db_converters(column), *field.get_db_converters(connection)]
    if not converters:
        return None

    def read(value: Any) -> Any:
        for convert in converters:
            value = convert(value, column, connection)
        return value

    return read
