"""One product for all files of a run that only use it: each works in a project of its own, as an administrator of its own.

The process that needs it first starts it, and stops it as soon as no other one uses it any more.
"""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from tests.e2e.product import Product
from tests.embedded.homes import copied
from tests.embedded.machine import Machine, clean_environment
from tests.locking import one_at_a_time
from tests.waiting import wait_until

AT_ONCE: Final = 12
LONGEST_FILE: Final = 1_800.0
NEW_PROJECTS: Final = f"""
import django; django.setup()
import json, uuid
from timemachine.core.accounts.commands.keys import make_api_key
from timemachine.core.accounts.commands.links import make_sign_in_link
from timemachine.core.accounts.commands.projects import make_project
from timemachine.core.accounts.models import SCOPES, User
made = []
for _ in range({AT_ONCE}):
    ada = User(email=f"ada-{{uuid.uuid4()}}@example.org", name="Ada Prüferin")
    ada.set_unusable_password()
    ada.save()
    _, key = make_api_key(make_project("My project", administrator=ada), name="Tests", scopes=SCOPES)
    made.append([key, make_sign_in_link(ada)])
print(json.dumps(made))
"""


class SharedProduct:
    """The product that the processes of a run share. A note in their folder says where it is; who uses it holds a lock."""

    def __init__(self, folder: Path, used_home: Path) -> None:
        self._home = folder / "shared-product"
        self._note = folder / "shared-product.json"
        self._used_home = used_home
        self._machine: Machine | None = None
        self._users = folder.joinpath("shared-product.users").open("w")

    def use(self) -> None:
        """Start the product unless another process has."""
        with self._noted() as note:
            if not note:
                self._machine = Machine(copied(self._used_home, self._home), SWEEP_SECONDS="1").ready()
                note |= {"port": self._machine.port, "projects": []}
            fcntl.flock(self._users, fcntl.LOCK_SH)

    def project(self) -> Product:
        """A project in which nobody has recorded anything."""
        with self._noted() as note:
            url = f"http://127.0.0.1:{note['port']}"
            note["projects"] = note["projects"] or self._new_projects()
            key, secret = note["projects"].pop()
        return Product(home=self._home, url=url, key=key, sign_in_link=f"{url}/sign-in/{secret}/")

    def leave(self) -> None:
        """Let the product go; who started it waits for the others and stops it."""
        if self._machine:
            wait_until(partial(self._is_stopped, self._machine), LONGEST_FILE)
        self._users.close()

    def _is_stopped(self, machine: Machine) -> bool:
        with self._noted() as note, suppress(BlockingIOError):
            fcntl.flock(self._users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            assert machine.end() == 0
            note.clear()
            self._home.rename(self._home.with_name(f"stopped-product-{os.getpid()}"))
            return True
        return False

    @contextmanager
    def _noted(self) -> Iterator[dict[str, Any]]:
        with one_at_a_time(self._note.with_suffix(".lock")):
            note = json.loads(self._note.read_text()) if self._note.exists() else {}
            yield note
            self._note.write_text(json.dumps(note))

    def _new_projects(self) -> list[list[str]]:
        settings = {
            "TIMEMACHINE_HOME": str(self._home),
            "DJANGO_SETTINGS_MODULE": "timemachine.config.settings",
        }
        command = (sys.executable, "-c", NEW_PROJECTS)
        made: list[list[str]] = json.loads(
            subprocess.check_output(command, env=clean_environment() | settings)
        )
        return made
