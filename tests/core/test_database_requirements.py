"""What a database needs: each thing that is missing is one sentence with what to do."""

from dataclasses import replace

import psycopg
import pytest
from django.db import connection

from timemachine.core.pure.database_requirements import DatabaseFacts, Unsuitable, check
from timemachine.core.pure.same_database import is_same_database

GOOD = DatabaseFacts(
    version=150_008, encoding="UTF8", installed="0.7.4", available="0.8.1", shares_connections=False
)


@pytest.mark.parametrize(
    "facts", [GOOD, replace(GOOD, version=180_000, installed=None), replace(GOOD, installed="0.10.0")]
)
def test_a_suitable_database_is_accepted(facts: DatabaseFacts) -> None:
    check(facts)


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        (
            replace(GOOD, version=140_011),
            "The database runs PostgreSQL 14, but Time Machine needs 15 or newer: upgrade the database, "
            "or set DATABASE_URL to another one.",
        ),
        (
            replace(GOOD, encoding="SQL_ASCII"),
            "The database has the encoding SQL_ASCII, in which not every text can be recorded: "
            "create one with `CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`.",
        ),
        (
            replace(GOOD, installed=None, available=None),
            "The extension pgvector is missing on the database server: install pgvector 0.7 or newer there, "
            "for example the package postgresql-15-pgvector.",
        ),
        (
            replace(GOOD, installed="0.6.2"),
            "This database has pgvector 0.6.2, but Time Machine needs 0.7 or newer: "
            "run `ALTER EXTENSION vector UPDATE` in it.",
        ),
        (
            replace(GOOD, installed="0.6.2", available="0.6.2"),
            "The database server has pgvector 0.6.2, but Time Machine needs 0.7 or newer: install a newer pgvector there.",
        ),
        (
            replace(GOOD, installed=None, available="0.4.4"),
            "The database server has pgvector 0.4.4, but Time Machine needs 0.7 or newer: install a newer pgvector there.",
        ),
        (
            replace(GOOD, installed="0.6.2", available=None),
            "The database server has pgvector 0.6.2, but Time Machine needs 0.7 or newer: install a newer pgvector there.",
        ),
    ],
)
def test_what_is_missing_is_said_in_one_sentence(facts: DatabaseFacts, sentence: str) -> None:
    with pytest.raises(Unsuitable) as refused:
        check(facts)
    assert (refused.value.code, refused.value.message) == ("database_unsuitable", sentence)


def test_a_pooler_by_transaction_is_refused_with_the_reason() -> None:
    with pytest.raises(
        Unsuitable, match=r"loses the locks and prepared statements of Time Machine: connect to"
    ):
        check(replace(GOOD, shares_connections=True))


def test_an_owner_in_another_database_is_refused() -> None:
    with pytest.raises(Unsuitable, match="DATABASE_URL and DATABASE_OWNER_URL lead to different databases"):
        check(replace(GOOD, owner_is_elsewhere=True))


def test_a_database_is_told_from_another_one_and_nothing_stays_locked(db: None) -> None:
    parts = connection.settings_dict
    where = {
        "host": parts["HOST"],
        "port": parts["PORT"] or None,
        "user": parts["USER"],
        "password": parts["PASSWORD"],
    }
    with (
        psycopg.connect(**where, dbname=parts["NAME"], autocommit=True) as one,
        psycopg.connect(**where, dbname=parts["NAME"], autocommit=True) as same,
        psycopg.connect(**where, dbname="postgres", autocommit=True) as other,
    ):
        assert is_same_database(one, same)
        assert not is_same_database(one, other)
        held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid IN (%s, %s)"
        pids = [one.info.backend_pid, other.info.backend_pid]
        assert other.execute(held, pids).fetchone() == (0,)
