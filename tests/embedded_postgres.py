"""Start a temporary Postgres for a test run and remove it afterwards. `TEST_DATABASE_URL` names another server instead.

It is a pytest plugin that has to be loaded with `-p`, because it must act before pytest-django reads the settings. As a
program, it runs one command with such a database: `python -m tests.embedded_postgres COMMAND…`.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import pytest

from timemachine.embedded import postgres
from timemachine.embedded.data_folder import clear_socket_folder, socket_folder


@pytest.hookimpl(wrapper=True)  # wrappers run before pytest-django's own hook
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    """Set `DATABASE_URL` and an empty `TIMEMACHINE_HOME` for this run; xdist's workers inherit them."""
    _restore_signals()
    if "PYTEST_XDIST_WORKER" not in os.environ:
        started = ExitStack()
        early_config.add_cleanup(started.close)
        os.environ.update(throwaway_environment(started))
    return (yield)


def _restore_signals() -> None:
    """Let Ctrl-C and a closed terminal end the programs that tests start, even if a shell started the tests in the background."""
    for which in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(which) is signal.SIG_IGN:
            signal.signal(which, signal.default_int_handler if which == signal.SIGINT else signal.SIG_DFL)


def throwaway_environment(started: ExitStack) -> dict[str, str]:
    """Return `DATABASE_URL`, `TIMEMACHINE_HOME` and `STATIC_ROOT` for one run. Closing `started` stops the server and deletes everything."""
    folder = Path(tempfile.mkdtemp(prefix="timemachine-tests-")).resolve()
    started.callback(shutil.rmtree, folder)
    home, static = str(folder / "home"), folder / "static"
    static.mkdir()  # WhiteNoise warns if it does not exist
    return {
        "TIMEMACHINE_HOME": home,
        "STATIC_ROOT": str(static),
        "DATABASE_URL": os.environ.get("TEST_DATABASE_URL") or _start(folder, started),
    }


def _start(folder: Path, started: ExitStack) -> str:
    sockets = socket_folder(folder)
    started.callback(clear_socket_folder, folder, sockets)
    cluster = postgres.Cluster(
        data=folder / "postgres", sockets=sockets, log=folder / "postgres.log", throwaway=True
    )
    started.callback(postgres.stop, postgres.start(cluster))
    return cluster.owner_url


if __name__ == "__main__":
    with ExitStack() as stack:
        sys.exit(
            subprocess.run(
                sys.argv[1:], env=os.environ | throwaway_environment(stack), check=False
            ).returncode
        )
