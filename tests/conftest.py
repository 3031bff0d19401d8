"""Fixtures for all tests."""

import gc
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import coverage
import pytest
from django.contrib.contenttypes.management import create_contenttypes
from django.db import connection, transaction
from django.db.models.signals import post_migrate
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from pytest_django.fixtures import Settings
from pytest_django.plugin import DjangoDbBlocker
from xdist.remote import Producer

from tests import crash_figures, database_roles
from tests.brokers import IN_MEMORY, received, use_broker
from tests.builders import recorded_session
from tests.embedded.homes import home_of_this_run
from tests.locking import one_at_a_time, shared_folder
from tests.measuring import unmeasured
from tests.scheduling import LongFilesFirst
from tests.static_files import find_once
from timemachine.config.celery import app as queue
from timemachine.core.accounts.models import Project
from timemachine.core.row_security import rows_of_every_project
from timemachine.recording.sessions.models import Session

MIGRATED = "migrated"
LONGEST_NAMED = 40
DAY_SECONDS = 24 * 60 * 60
EMPTIED = """
DO $$
DECLARE
    each text;
    many boolean;
BEGIN
    SET LOCAL ROLE NONE;
    LOOP
        BEGIN
            LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE;
            EXIT;
        EXCEPTION WHEN deadlock_detected THEN  -- let a request of the test finish first
            PERFORM pg_sleep(0.1);
        END;
    END LOOP;
    SET LOCAL session_replication_role = replica;  -- or a trigger would refuse
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

# Tests have no deadlines, because the machine may be slow. In CI every run tries the same examples, so that a
# failure comes from the change; elsewhere they are random.
hypothesis_settings.register_profile(
    "untimed",
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
    print_blob=True,
)
hypothesis_settings.load_profile("untimed")
find_once()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the results of the crash tests if they ran in this process."""
    for line in crash_figures.table():
        terminalreporter.write_line(line)


def pytest_collection_finish() -> None:
    """Exclude imports and collected tests from garbage collection: they live until the end, and scanning them takes time."""
    gc.collect()
    gc.freeze()


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name long byte strings by their length: the bytes of archives differ between the processes of a run."""
    return f"{len(val)} bytes" if isinstance(val, bytes) and len(val) > LONGEST_NAMED else None


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Save coverage immediately: a worker process that ends slowly is killed and would lose it."""
    measuring = coverage.Coverage.current()
    if measuring is not None and "PYTEST_XDIST_WORKER" in os.environ:
        measuring.save()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LongFilesFirst | None:
    """Use the order of files in `tests.scheduling`."""
    return LongFilesFirst(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None,
    django_db_blocker: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Migrate once per run: the database of each process is a copy."""
    if "PYTEST_XDIST_WORKER" not in os.environ or os.environ.get("TEST_DATABASE_URL"):
        return  # a single process, or an external server where nobody would remove it
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
    with unmeasured():  # coverage leaves migrations out
        connection.creation.create_test_db(verbosity=0)
    database_roles.grant()
    connection.close()  # a template must have no connections
    settings["TEST"]["NAME"] = own
    settings["NAME"] = name


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: pytest.FixtureRequest) -> Iterator[None]:
    """Connect as the application, until the database is removed.

    Also prevent Django from recreating content types and permissions after each transactional test: no test needs these.
    """
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    post_migrate.disconnect(create_contenttypes)
    with django_db_blocker.unblock():  # type: ignore[attr-defined]  # pytest-django gives it no type
        database_roles.grant()
        database_roles.connect_as_application()
    gc.freeze()  # also what migrations and the first query imported
    # of the class, because a test can leave another connection; style and options do not matter here
    type(connection.ops).sql_flush = staticmethod(_emptied)  # type: ignore[assignment]
    yield
    database_roles.connect_as_owner()


def _emptied(_style: object, tables: Sequence[str], **_: object) -> list[str]:
    """Delete rows if there are few, because TRUNCATE rebuilds every table and index. Wait for writers as TRUNCATE does."""
    named = ", ".join(f'"{each}"' for each in tables)
    return [EMPTIED.format(tables=named, names=", ".join(f"'{each}'" for each in tables))]


@pytest.fixture(scope="session")
def used_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the home folder that a stopped `make up` left."""
    return home_of_this_run(tmp_path_factory)


@pytest.fixture(autouse=True)
def not_at_midnight() -> None:
    """Wait for the next day in the last minute before midnight UTC, so that no test spans two days."""
    passed = time.time() % DAY_SECONDS
    if passed > DAY_SECONDS - 60:
        time.sleep(DAY_SECONDS - passed + 0.1)


@pytest.fixture(autouse=True)
def every_row() -> Iterator[None]:
    """See the rows of every project, as a command does, whatever a view that an earlier test called chose."""
    with rows_of_every_project():
        yield


@pytest.fixture(autouse=True)
def fast_hash(settings: Settings) -> None:
    """Hash passwords with one round instead of a million."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def silent_queue() -> Iterator[None]:
    """Use an empty queue without a worker."""
    before = {name: queue.conf[name] for name in IN_MEMORY}
    use_broker(IN_MEMORY)
    received()
    yield
    use_broker(before)


@pytest.fixture(scope="module")
def shared_rows(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Undo at the end of a file what its module-scoped fixtures write.

    Every test sees these rows and undoes only its own changes. It is not for files with transactional tests.
    """
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="module")
def recorded_once(shared_rows: None) -> Session:
    """Return a recorded session, created once per test file, in a project of its own."""
    return recorded_session(Project.objects.create(name="Prüfung"))


@pytest.fixture
def project(db: None) -> Project:
    """Return a new project."""
    return Project.objects.create(name="Prüfung")


@pytest.fixture
def other_project(db: None) -> Project:
    """Return a second project with another owner."""
    return Project.objects.create(name="Somebody else's")


@pytest.fixture(scope="session")
def recordings() -> Path:
    """Return the folder with real recordings from outside this project."""
    named = os.environ.get("RECORDINGS_DIR", "")
    folder = Path(named)
    if named and folder.is_dir():
        return folder
    if os.environ.get("CI"):
        pytest.fail("RECORDINGS_DIR does not name the folder with the recordings")
    pytest.skip("set RECORDINGS_DIR to the folder with the recordings")
