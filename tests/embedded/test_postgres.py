"""The throwaway cluster that the suite itself runs on."""

import os

import psycopg


def test_the_suite_runs_on_a_postgres_with_vectors() -> None:
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        version = connection.execute("SHOW server_version_num").fetchone()
        vector = connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone()
    assert version is not None
    assert int(version[0]) >= 150_000
    assert vector == (1,)
