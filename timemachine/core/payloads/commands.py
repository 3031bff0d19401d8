"""Store bytes once, delete those that are no longer referenced, and insert many rows of any table."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from itertools import batched
from typing import Any, Final, LiteralString
from uuid import UUID

import psycopg
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.db.models import Exists, OuterRef, Q
from psycopg.sql import SQL, Identifier

from timemachine.core.payloads.fields import FaithfulTextField, hash_bytes
from timemachine.core.payloads.models import Payload
from timemachine.core.payloads.stored import to_store
from timemachine.core.pure.content import Content

type Prepare = Callable[[Any], Any]

BATCH = 500
FEW = 20
"""This many contents are inserted without looking for them first: the extra statement would take longer than resending
them.
"""
AT_ONCE = 10_000
_BINDING = (models.DB_CASCADE, models.DO_NOTHING)
_INSERT = """
INSERT INTO tm_payload (project_id, sha256, media_type, size, data, packed)
SELECT %b, new.* FROM unnest(%b::bytea[], %b::text[], %b::bigint[], %b::bytea[], %b::boolean[]) AS new
ON CONFLICT DO NOTHING RETURNING id, sha256, media_type
"""
_FIND = """
SELECT id, sha256, media_type FROM tm_payload WHERE project_id = %b AND sha256 = ANY(%b::bytea[])
ORDER BY id FOR KEY SHARE
"""
_LOCK = "SELECT FROM tm_payload WHERE id = ANY(%s) ORDER BY id FOR UPDATE"


def store(project_id: UUID, contents: Iterable[Content]) -> dict[Content, int]:
    """Return the id of each content's row, inserting missing ones. Call it in the transaction that refers to them: the rows
    cannot be deleted before it ends.
    """
    by_name = {(content.sha256, content.media_type): content for content in contents}
    found = _ids(project_id, list(by_name)) if len(by_name) > FEW else {}
    # one order everywhere, so that two writers of the same passages do not deadlock
    while missing := [by_name[name] for name in sorted(by_name) if name not in found]:
        for some in batched(missing, BATCH, strict=False):
            found |= _inserted(project_id, some)
        # rows that existed before, or that another transaction has inserted, unless one has deleted them in the meantime
        if existing := [name for name in by_name if name not in found]:
            found |= _ids(project_id, existing)
    return {content: found[name] for name, content in by_name.items()}


def payloads_of(row: models.Model) -> set[int]:
    """Return the payloads of all rows that are deleted together with a row. Takes a query for each path to it."""
    found = set[int]()
    for reference in _references():
        for way in _lookups(reference.model, type(row)):
            rows = reference.model._base_manager.filter(**{way: row.pk, f"{reference.name}__isnull": False})
            found.update(rows.values_list(reference.attname, flat=True))
    return found


def drop_unreferenced(among: Collection[int]) -> int:
    """Delete those of these payloads that no row refers to. Works only during an erasure; otherwise a trigger refuses
    it.
    """
    dropped = 0
    for some in batched(sorted(among), AT_ONCE):
        with connection.cursor() as cursor:
            found = _unreferenced(some)
            cursor.execute(_LOCK, [found])  # waits for transactions that store these contents again
            doomed = _unreferenced(found)
            cursor.execute("DELETE FROM tm_payload WHERE id = ANY(%s)", [doomed])
        dropped += len(doomed)
    return dropped


def _unreferenced(among: Collection[int]) -> list[int]:
    found = Payload.objects.filter(id__in=among)
    for reference in _references():
        users = reference.model._base_manager.filter(**{reference.name: OuterRef("id")})
        found = found.filter(~Exists(users))
    return list(found.values_list("id", flat=True))


def still_used(payloads: Collection[int]) -> int:
    """Return how many of these payloads are still referenced."""
    used = Q()
    for reference in _references():
        used |= Q(Exists(reference.model._base_manager.filter(**{reference.name: OuterRef("id")})))
    return Payload.objects.filter(used, id__in=list(payloads)).count()


def _references() -> list[models.ForeignKey[Payload, Payload]]:
    fields = Payload._meta.get_fields(include_hidden=True)
    return [field.field for field in fields if isinstance(field, models.ManyToOneRel)]


def _lookups(
    model: type[models.Model], to: type[models.Model], *, through: tuple[type[models.Model], ...] = ()
) -> Iterator[str]:
    """Yield the lookups from a model's rows to those that they cannot exist without."""
    if model is to:
        yield "pk"
        return
    for field in model._meta.get_fields():
        if isinstance(field, models.ForeignKey) and field.remote_field.on_delete in _BINDING:
            if field.related_model in (model, *through):
                continue
            for way in _lookups(field.related_model, to, through=(model, *through)):
                yield f"{field.name}__{way}"


def _inserted(project_id: UUID, contents: Sequence[Content]) -> dict[tuple[str, str], int]:
    """Return the inserted rows. One array per column: a parameter for each value takes twice the time."""
    rows = (
        (hash_bytes(content.sha256), content.media_type, len(content.data), *to_store(content.data))
        for content in contents
    )
    return _named(_INSERT, [project_id, *map(list, zip(*rows, strict=True))])


def _ids(project_id: UUID, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
    return _named(_FIND, [project_id, [hash_bytes(sha256) for sha256, _ in names]])


def _named(sql: str, facts: Sequence[object]) -> dict[tuple[str, str], int]:
    """Return rows by SHA-256 and media type. Parameters are bound by the server: as text, bytes would be twice as long."""
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        cursor.execute(sql, facts)
        return {(sha256.hex(), media_type): row for row, sha256, media_type in cursor}


def insert_rows(model: type[models.Model], rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows of a model in their order, in a fraction of the time of `bulk_create`: with one array per column.

    Each has a value for every column without a database default. Returns no ids.
    """
    if not rows:
        return
    statement, plan = _plan(model)
    columns = [_column([row[name] for row in rows], prepare) for name, prepare in plan]
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        cursor.execute(statement, columns)


def _column(values: list[Any], prepare: Prepare) -> list[Any] | None:
    """Return the values of a column as their array; None if all are, which takes no space."""
    if not any(value is not None for value in values):
        return None
    return [None if value is None else prepare(value) for value in values]


@cache
def _plan(model: type[models.Model]) -> tuple[bytes, list[tuple[str, Prepare]]]:
    """Return the statement, and for each column its name and the function that prepares its values."""
    meta = model._meta
    fields = [field for field in meta.concrete_fields if not (field.primary_key or field.generated)]
    names = [Identifier(str(field.column)) for field in fields]
    statement = SQL("INSERT INTO {} ({}) SELECT {} FROM unnest({}) AS new({})").format(
        Identifier(meta.db_table),
        SQL(", ").join(names),
        SQL(", ").join(
            name + SQL("::text[]" if isinstance(field, ArrayField) else "")
            for name, field in zip(names, fields, strict=True)
        ),
        SQL(", ").join(SQL("%b::{}[]").format(SQL(_type_in_array(field))) for field in fields),
        SQL(", ").join(names),
    )
    return statement.as_bytes(), [(field.attname, _preparation(field)) for field in fields]


def _type_in_array(field: models.Field[Any, Any]) -> LiteralString:
    """Return the type of the elements that a column is inserted from: `text` where a cast would cut off long values."""
    for kind, name in _TYPES_IN_ARRAY.items():
        if isinstance(field, kind):
            return name
    if isinstance(field, models.ForeignKey):
        return _type_in_array(field.target_field)
    raise TypeError(field)


def _preparation(field: models.Field[Any, Any]) -> Prepare:
    """Return the function that gives all values of an array the same type, which psycopg needs."""
    if isinstance(field, FaithfulTextField):
        return field.get_prep_value
    if isinstance(field, models.JSONField):
        return lambda value: field.get_db_prep_save(value, connection)
    if isinstance(field, ArrayField):
        prepare = field.base_field.get_prep_value
        return lambda value: _array_literal([prepare(each) for each in value])
    kinds = (
        kind for kind in (models.CharField, models.FloatField, models.DecimalField) if isinstance(field, kind)
    )
    return _PREPARATIONS.get(next(kinds, None), lambda value: value)


def _array_literal(texts: Sequence[str]) -> str:
    """Return a PostgreSQL array as text: `unnest` would flatten an array of arrays."""
    quoted = (text.replace("\\", "\\\\").replace('"', '\\"') for text in texts)
    return "{" + ",".join(f'"{text}"' for text in quoted) + "}"


_TYPES_IN_ARRAY: Final[dict[type[Any], LiteralString]] = {
    models.UUIDField: "uuid",
    models.BigIntegerField: "bigint",
    models.IntegerField: "integer",
    models.FloatField: "double precision",
    models.DecimalField: "numeric",
    models.BooleanField: "boolean",
    models.DateTimeField: "timestamptz",
    models.JSONField: "jsonb",
    models.CharField: "text",
    models.TextField: "text",
    ArrayField: "text",
}
_PREPARATIONS: Final[dict[type[Any] | None, Prepare]] = {
    models.CharField: str,
    models.FloatField: float,
    models.DecimalField: Decimal,
}
