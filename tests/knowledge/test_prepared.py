"""Pipelined statements are one transaction, even without a `BEGIN`."""

from collections.abc import Iterator

import pytest
from django.db import DataError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from timemachine.core import prepared_statements
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import NotFound
from timemachine.knowledge import collection_time
from timemachine.knowledge.commands import NewFrame, create_collection, erase_collection, put_frames
from timemachine.knowledge.find import Query, find
from timemachine.knowledge.models import Collection

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def collection(project: Project) -> Collection:
    made = create_collection(project, "handbook", by="test")
    put_frames(made, [NewFrame(text="Invoices are kept for ten years.")], by="test")
    made.refresh_from_db()
    return made


@pytest.fixture
def other() -> Iterator[BaseDatabaseWrapper]:
    made = connection.copy()
    yield made
    made.close()


def test_a_lock_is_held_until_the_last_answer(collection: Collection, other: BaseDatabaseWrapper) -> None:
    with prepared_statements.pipelined_transaction():
        request = collection_time.request_read_lock(collection.id)
        assert collection_time.moment_when_locked(request, None).frame_count == 1
        assert not _may_change(other, collection)
        assert prepared_statements.fetch_rows("SELECT 1", {}) == [(1,)]
        assert not _may_change(other, collection)
    assert _may_change(other, collection)


def test_each_statement_sees_what_was_committed_before_it(
    collection: Collection, other: BaseDatabaseWrapper
) -> None:
    name = "SELECT name FROM tm_collection"
    with prepared_statements.pipelined_transaction():
        assert prepared_statements.fetch_rows(name, {}) == [("handbook",)]
        with other.cursor() as cursor:
            cursor.execute("UPDATE tm_collection SET name = 'renamed' WHERE id = %s", [collection.id])
        assert prepared_statements.fetch_rows(name, {}) == [("renamed",)]


def test_an_error_is_raised_where_the_rows_are_read_and_the_connection_still_works(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for _ in range(50):  # later results have arrived by then, or have not
        with pytest.raises(DataError, match="division by zero"):
            _invalid_query()
    assert prepared_statements.fetch_rows("SELECT 3", {}) == [(3,)]
    assert not caplog.records


def test_a_find_leaves_no_lock_or_setting(collection: Collection, other: BaseDatabaseWrapper) -> None:
    erased = create_collection(collection.project, "erased", by="test")
    erase_collection(erased)
    with pytest.raises(NotFound):
        find(erased, Query(text="invoices"))
    assert [hit.frame for hit in find(collection, Query(text="invoices")).hits] == [0]
    assert prepared_statements.fetch_rows("SHOW lock_timeout", {}) == [("0",)]
    assert connection.connection.info.transaction_status.name == "IDLE"
    assert _may_change(other, collection)


def test_inside_a_transaction_it_is_a_savepoint(collection: Collection, other: BaseDatabaseWrapper) -> None:
    with transaction.atomic():
        assert find(collection, Query(text="invoices")).hits
        assert not _may_change(other, collection)
    assert _may_change(other, collection)


def _invalid_query() -> None:
    with prepared_statements.pipelined_transaction():
        broken = prepared_statements.send("SELECT 1 / %(by)s::int", {"by": 0})
        prepared_statements.send("SELECT pg_sleep(0.002)", {})
        prepared_statements.send("SELECT 2", {})
        broken.rows()


def _may_change(other: BaseDatabaseWrapper, collection: Collection) -> bool:
    with other.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(tm_collection_lock(%s))", [collection.id])
        return bool(cursor.fetchone()[0])
