"""A database of one's own: the parameters of its URL apply to every connection, and the URL is written nowhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.database import Database
from tests.embedded.conftest import Start
from tests.embedded.machine import clean_environment
from timemachine.embedded import postgres
from timemachine.embedded.data_folder import clear_socket_folder

SHOW_APPLICATION_NAMES = """
import psycopg
from django.conf import settings
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("SHOW application_name"); print(cursor.fetchone()[0])
with psycopg.connect(settings.CELERY_BROKER_TRANSPORT_OPTIONS["conn_string"]) as queue:
    print(queue.execute("SHOW application_name").fetchone()[0])
"""


@pytest.mark.parametrize("process", ["web", "worker"])
def test_parameters_of_the_address_apply_to_the_product_and_its_queue(process: str, tmp_path: Path) -> None:
    address = os.environ["DATABASE_URL"]
    also = "&" if "?" in address else "?"
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "timemachine.config.settings",
        "DATABASE_URL": f"{address}{also}application_name=of-the-address",
        "TIMEMACHINE_PROCESS": process,
    }
    environment.pop("CELERY_BROKER_URL", None)
    if process == "worker":  # the same from a file
        file = tmp_path / "address"
        file.write_text(environment.pop("DATABASE_URL") + "\n")
        environment["DATABASE_URL_FILE"] = str(file)
    seen = subprocess.run(
        [sys.executable, "-c", SHOW_APPLICATION_NAMES],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert seen.stdout.split() == ["of-the-address", "of-the-address"]


def test_the_data_folder_does_not_name_a_database_of_ones_own(
    used_home: Path, tmp_path: Path, start: Start
) -> None:
    (tmp_path / "elsewhere").mkdir()
    database = Database(tmp_path / "elsewhere", used_home)
    try:
        own = {"DATABASE_URL": database.cluster.url, "DATABASE_OWNER_URL": database.cluster.owner_url}
        machine = start(tmp_path / "home", **own).ready()
        assert "postgresql://" not in (machine.home / "server.json").read_text()
        for command in ("manage sign_in_link", "backup monday.zip"):
            refused = subprocess.run(
                [Path(sys.executable).with_name("timemachine"), *command.split()],
                env=clean_environment() | {"TIMEMACHINE_HOME": str(machine.home)},
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
            )
            assert refused.returncode == 1
            assert refused.stderr == (
                "The server that runs here uses a database of your own: set DATABASE_URL as for that server.\n"
            )
    finally:
        machine.end()
        postgres.stop(database.process)
        clear_socket_folder(tmp_path / "elsewhere", database.cluster.sockets)
