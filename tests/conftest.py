"""Fixtures that every room's tests may use."""

import gc
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import coverage
import pytest
from django.contrib.contenttypes.management import create_contenttypes
from django.db import connection
from django.db.models.signals import post_migrate
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from pytest_django.fixtures import Settings
from xdist.remote import Producer

from tests import branches, crash_figures
from tests.alone import one_at_a_time, shared_folder
from tests.brokers import IN_MEMORY, received, use_broker
from tests.embedded.homes import home_of_this_run
from tests.measuring import unmeasured
from tests.static_files import find_once
from tests.turns import Turns
from timemachine.config.celery import app as queue
from timemachine.core.accounts.models import Project

MIGRATED = "migrated"
LONGEST_NAMED = 40
DAY_SECONDS = 24 * 60 * 60
EMPTIED = """
DO $$
DECLARE
    each text;
    many boolean;
BEGIN
    LOOP
        BEGIN
            LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE;
            EXIT;
        EXCEPTION WHEN deadlock_detected THEN  -- a request of the test is still under way, and is let go first
            PERFORM pg_sleep(0.1);
        END;
    END LOOP;
    SET LOCAL session_replication_role = replica;
    FOREACH each IN ARRAY ARRAY[{names}] LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %I OFFSET 300)', each) INTO many;
        IF many THEN
            TRUNCATE {tables};
            RETURN;
        END IF;
        EXECUTE format('DELETE FROM %I', each);
    END LOOP;
END $$
"""

# nothing is timed in a test: a busy machine proves nothing about a law
# in CI each run tries the same examples, so that it fails for what a change did; at a desk they are drawn anew each time
hypothesis_settings.register_profile(
    "untimed",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
    print_blob=True,
)
hypothesis_settings.load_profile("untimed")
find_once()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What the crash lab saw, where it ran in this process."""
    for line in crash_figures.table():
        terminalreporter.write_line(line)


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: thousands of tests, which the garbage collector went through every second."""
    gc.collect()
    gc.freeze()


def pytest_make_parametrize_id(val: object) -> str | None:
    """What an archive holds is no name of a test: it has the time at which it was made, and each process of a run makes its own."""
    return f"{len(val)} bytes" if isinstance(val, bytes) and len(val) > LONGEST_NAMED else None


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of which the branches are measured."""
    for item in items:
        if branches.measured(item):
            item.add_marker(branches.MARK)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """What a process of the run covered is kept at once: one that takes long to end is killed, and would leave nothing."""
    measuring = coverage.Coverage.current()
    if measuring is not None and "PYTEST_XDIST_WORKER" in os.environ:
        measuring.save()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Turns | None:
    """Whole files in an order of ours."""
    return Turns(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None,
    django_db_blocker: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Migrate once for all processes of a run: each one's database is a copy of the first."""
    if "PYTEST_XDIST_WORKER" not in os.environ or os.environ.get("TEST_DATABASE_URL"):
        return  # nobody to share it with, or nobody who removes it
    made = shared_folder(tmp_path_factory) / "migrated"
    with one_at_a_time(made.with_suffix(".lock")), django_db_blocker.unblock():  # type: ignore[attr-defined]  # pytest-django gives it no type
        if not made.exists():
            _make_migrated_database()
            made.touch()
    connection.settings_dict["TEST"]["TEMPLATE"] = MIGRATED


def _make_migrated_database() -> None:
    settings = connection.settings_dict
    name, own = settings["NAME"], settings["TEST"]["NAME"]
    settings["TEST"]["NAME"] = MIGRATED
    with unmeasured():  # migrations are left out of what is measured
        connection.creation.create_test_db(verbosity=0)
    connection.close()  # nobody may look at what is copied
    settings["TEST"]["NAME"] = own
    settings["NAME"] = name


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: pytest.FixtureRequest) -> None:
    """Transactional tests empty the tables by TRUNCATE, which production refuses: switch those triggers off here.

    After each of them Django would also make its content types and permissions anew, which nothing here looks at.
    """
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    post_migrate.disconnect(create_contenttypes)
    emptying = "SELECT tgrelid::regclass, tgname FROM pg_trigger WHERE NOT tgisinternal AND tgtype & 32 > 0"
    with django_db_blocker.unblock(), connection.cursor() as cursor:  # type: ignore[attr-defined]  # pytest-django gives it no type
        cursor.execute(emptying)
        for table, trigger in cursor.fetchall():
            cursor.execute(f'ALTER TABLE {table} DISABLE TRIGGER "{trigger}"')
    gc.freeze()  # what migrations and the first query imported, too
    connection.ops.sql_flush = _emptied  # type: ignore[assignment]  # its style and its options say nothing here


def _emptied(_style: object, tables: Sequence[str], **_: object) -> list[str]:
    """Few rows are deleted, as TRUNCATE makes every table and index anew; like it, this waits for whoever still writes."""
    named = ", ".join(f'"{each}"' for each in tables)
    return [EMPTIED.format(tables=named, names=", ".join(f"'{each}'" for each in tables))]


@pytest.fixture(scope="session")
def used_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one `make up` left when it was asked to stop."""
    return home_of_this_run(tmp_path_factory)


@pytest.fixture(autouse=True)
def on_one_day() -> None:
    """No test sees a day end, or a week or a year: in the last minute before midnight it waits for the next day to begin."""
    passed = time.time() % DAY_SECONDS  # a day of UTC, as the product's are
    if passed > DAY_SECONDS - 60:
        time.sleep(DAY_SECONDS - passed + 0.1)


@pytest.fixture(autouse=True)
def fast_hash(settings: Settings) -> None:
    """One round instead of a million."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def silent_queue() -> Iterator[None]:
    """An empty queue that no worker listens to."""
    before = {name: queue.conf[name] for name in IN_MEMORY}
    use_broker(IN_MEMORY)
    received()
    yield
    use_broker(before)


@pytest.fixture
def project(db: None) -> Project:
    """A project of its own."""
    return Project.objects.create(name="Prüfung")


@pytest.fixture
def other_project(db: None) -> Project:
    """Somebody else's project."""
    return Project.objects.create(name="Somebody else's")


@pytest.fixture(scope="session")
def recordings() -> Path:
    """The folder with recordings that none of us made."""
    named = os.environ.get("RECORDINGS_DIR", "")
    folder = Path(named)
    if named and folder.is_dir():
        return folder
    if os.environ.get("CI"):
        pytest.fail("RECORDINGS_DIR does not name the folder with the recordings")
    pytest.skip("set RECORDINGS_DIR to the folder with the recordings")
