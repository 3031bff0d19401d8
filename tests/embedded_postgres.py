"""A pytest plugin: one throwaway Postgres a run, removed with all it wrote; `TEST_DATABASE_URL` names another server instead.

It has to be loaded by `-p` and act before pytest-django reads the settings.
"""

import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

from timemachine.embedded import postgres
from timemachine.embedded.sockets import clear_socket_folder, socket_folder


@pytest.hookimpl(wrapper=True)  # wrappers run before pytest-django's own hook
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    """Set `DATABASE_URL` and an empty `TIMEMACHINE_HOME` for this run; xdist's workers inherit them."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        _set_up(early_config)
    return (yield)


def _set_up(config: pytest.Config) -> None:
    folder = Path(tempfile.mkdtemp(prefix="timemachine-tests-")).resolve()
    config.add_cleanup(lambda: shutil.rmtree(folder))
    os.environ["TIMEMACHINE_HOME"] = str(folder / "home")
    os.environ["DATABASE_URL"] = os.environ.get("TEST_DATABASE_URL") or _start(config, folder)


def _start(config: pytest.Config, folder: Path) -> str:
    sockets = socket_folder(folder)
    config.add_cleanup(lambda: clear_socket_folder(folder, sockets))
    cluster = postgres.Cluster(
        data=folder / "postgres", sockets=sockets, log=folder / "postgres.log", throwaway=True
    )
    server = postgres.start(cluster)
    config.add_cleanup(lambda: postgres.stop(server))
    return cluster.url
