"""Parameters in `DATABASE_URL` apply to every connection to the database."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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
