"""The three programs and their arguments."""

import secrets
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

from timemachine.core.pure.home import home, secret_key_file, write_private
from timemachine.embedded.address import Address
from timemachine.embedded.children import Program

_LOW_PRIORITY = ("nice", "-n", "10")  # pages and recording go before background work
_PYTHON = (sys.executable, "-P", "-m")


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """The URL of the role that reads and writes rows, and that of the owner of the tables, or "" if it is the same."""

    url: str
    owner_url: str

    @property
    def owner_environment(self) -> dict[str, str]:
        """The variables of programs that also connect as the owner."""
        return {"DATABASE_OWNER_URL": self.owner_url}


def preparation(environment: dict[str, str]) -> Program:
    """Migrations and the setup of a first start; prints one line of JSON."""
    return _program("preparation of the database", ("django", "prepare"), environment)


def web_server(address: Address, environment: dict[str, str]) -> Program:
    """Pages and API."""
    command = ("timemachine.config.server", address.host, str(address.port))
    return _program("web server", command, environment | {"TIMEMACHINE_PROCESS": "web"})


def worker(environment: dict[str, str]) -> Program:
    """Celery with beat in one process. If this process is killed, it stops immediately: its leases expire and another worker continues."""
    # threads need a third of the memory of processes, and mostly wait for models
    work = ("--beat-thread", "-s", str(home() / "beat-schedule"), "--pool", "threads")
    quiet = ("--without-gossip", "--without-mingle", "--without-heartbeat")
    command = ("celery", "--quiet", "-A", "timemachine.config", "worker", *work, *quiet)
    checked = {
        "CELERY_SKIP_CHECKS": "1"
    }  # the preparation has checked; Celery's checks would import every page
    environment = environment | checked | {"TIMEMACHINE_PROCESS": "worker"}
    return _program("worker", command, environment, signal.SIGQUIT, before=_LOW_PRIORITY)


def work_folder() -> Path:
    """The working folder of the programs, used by nothing else."""
    return home() / "work"


def shared_environment(address: Address, database_url: str, broker_url: str) -> dict[str, str]:
    """The environment variables of every program, added to the operator's.

    Without `Database.owner_environment`, a program does not get the URL of the owner, even if the operator set it.
    """
    return {
        "DJANGO_SETTINGS_MODULE": "timemachine.config.settings",
        "TIMEMACHINE_HOME": str(home()),
        "DATABASE_URL": database_url,
        "DATABASE_OWNER_URL": "",
        "CELERY_BROKER_URL": broker_url,
        # read already; a program refuses a setting that has a value and a file
        "DATABASE_URL_FILE": "",
        "DATABASE_OWNER_URL_FILE": "",
        "CELERY_BROKER_URL_FILE": "",
        "PORT": str(address.port),
    }


def ensure_secret_key() -> None:
    """Create the key that signs cookies if it is missing."""
    if not secret_key_file().exists():
        write_private(secret_key_file(), secrets.token_urlsafe(50) + "\n")


def _program(
    name: str,
    command: tuple[str, ...],
    environment: dict[str, str],
    last_signal: signal.Signals = signal.SIGINT,
    before: tuple[str, ...] = (),
) -> Program:
    return Program(
        name=name,
        command=(*before, *_PYTHON, *command),
        log=home() / "logs" / f"{name.split(maxsplit=1)[0]}.log",
        folder=work_folder(),
        environment=environment,
        last_signal=last_signal,
    )
