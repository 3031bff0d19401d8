"""`make up`: run Postgres, migrations, the worker and the web server in one terminal."""

import json
import os
import subprocess
from contextlib import ExitStack
from pathlib import Path

from timemachine.core.pure.errors import TimeMachineError, Unavailable
from timemachine.core.pure.home import RunningServer, announce, home, withdraw
from timemachine.core.pure.secret_settings import secret
from timemachine.embedded import children, postgres, programs
from timemachine.embedded.address import Address, answers, chosen_address, refuse_taken
from timemachine.embedded.children import kill_leftovers, last_words, log_size
from timemachine.embedded.data_folder import (
    clear_socket_folder,
    is_prepared,
    only_one,
    remember_prepared,
    socket_folder,
)
from timemachine.embedded.programs import Database
from timemachine.embedded.supervisor import Supervisor
from timemachine.embedded.terminal import StopRequested, nap, print_error, print_line, stopping_on_signals

_CHECK_EVERY = 0.2  # seconds


def main() -> int:
    """Run until it is stopped. Returns the exit code: 0 after a signal, 1 after a failure."""
    try:
        with stopping_on_signals():
            _up(chosen_address())
    except StopRequested:
        print_line("Everything has stopped.")
    except TimeMachineError as why:
        print_error(why.message)
        return 1
    return 0


def _up(address: Address) -> None:
    _make_folder(home())
    with ExitStack() as stopping:  # in the reverse order of starting: Postgres ends last
        stopping.enter_context(only_one(home(), address.url))
        refuse_taken(address)
        _make_folder(programs.work_folder())
        kill_leftovers(programs.work_folder())
        programs.ensure_secret_key()
        database, server = _database(stopping)
        broker_url = secret("CELERY_BROKER_URL") or "pgmq://"
        environment = programs.shared_environment(address, database.url, broker_url)
        supervisor = Supervisor()
        stopping.callback(supervisor.stop)
        sign_in_url = _prepare_and_serve(supervisor, address, environment, database)
        supervisor.start(programs.worker(environment | database.owner_environment))
        stopping.callback(withdraw)
        announce(
            RunningServer(
                pid=os.getpid(),
                url=address.url,
                database_url=database.url if server else "",
                database_owner_url=database.owner_url if server else "",
            )
        )
        print_line(f"Time Machine runs at {address.url}")
        print_line(f"Sign in (once)     {sign_in_url}")
        print_line(f"Data               {home()}")
        print_line(f"Logs               {home() / 'logs'}")
        print_line("Ctrl-C stops everything.")
        _watch(supervisor, server)


def _database(stopping: ExitStack) -> tuple[Database, subprocess.Popen[bytes] | None]:
    """The operator's database, or ours, which runs until `stopping` is closed."""
    elsewhere = secret("DATABASE_URL")
    if elsewhere:
        return Database(url=elsewhere, owner_url=secret("DATABASE_OWNER_URL")), None
    sockets = socket_folder(home())
    stopping.callback(clear_socket_folder, home(), sockets)
    cluster = postgres.Cluster(
        data=home() / "postgres", sockets=sockets, log=home() / "logs" / "postgres.log"
    )
    server = postgres.start(cluster)
    stopping.callback(postgres.stop, server)
    return Database(url=cluster.url, owner_url=cluster.owner_url), server


def _prepare_and_serve(
    supervisor: Supervisor, address: Address, environment: dict[str, str], database: Database
) -> str:
    """Prepare the database, start the web server, and return a sign-in link."""
    web = programs.web_server(address, environment)
    before = log_size(web.log)
    known = is_prepared(database.url)
    if known:
        supervisor.start(web)
    else:
        print_line("Preparing the database …")
    written = children.run(programs.preparation(environment | database.owner_environment))
    remember_prepared(database.url)
    if not known:
        supervisor.start(web)
    while not answers(address):
        if supervisor.has_ended(web):
            raise Unavailable(
                f"The web server exited immediately: {last_words(web.log, since=before)} (see {web.log})"
            )
        nap(0.02)
    return str(json.loads(written.splitlines()[-1])["sign_in_url"])


def _watch(supervisor: Supervisor, server: subprocess.Popen[bytes] | None) -> None:
    while server is None or server.poll() is None:
        supervisor.tend()
        nap(_CHECK_EVERY)
    raise Unavailable(
        f"Postgres exited. See {home() / 'logs' / 'postgres.log'}. Everything else was stopped too. "
        "Run `timemachine up` to start again."
    )


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as why:
        raise Unavailable(
            f"Cannot create the folder {folder} ({why.strerror}). Set TIMEMACHINE_HOME to another folder."
        ) from why
