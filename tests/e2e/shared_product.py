"""One product for all test files that do not kill it: each file has its own project and its own administrator.

The first file that needs it starts it, and the last one stops it, because it uses a tenth of a core while idle.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
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
    """The product that the processes of a run share. A note file has its address and the number of files that use it."""

    def __init__(self, folder: Path, used_home: Path) -> None:
        self._home = folder / "shared-product"
        self._note = folder / "shared-product.json"
        self._used_home = used_home
        self._started: list[Machine] = []

    @contextmanager
    def project(self) -> Iterator[Product]:
        """Yield an empty project; the product runs until no project is in use."""
        with self._noted() as note:
            if not note:
                self._start(note)
            note["projects"] = note["projects"] or self._new_projects()
            key, secret = note["projects"].pop()
            note["users"] += 1
        url = f"http://127.0.0.1:{note['port']}"
        yield Product(home=self._home, url=url, key=key, sign_in_link=f"{url}/sign-in/{secret}/")
        with self._noted() as note:
            note["users"] -= 1
            if note["users"] == 0:
                self._stop(note)

    def wait(self) -> None:
        """Wait until everything that this process started has stopped, whichever process stopped it."""
        for machine in self._started:
            assert machine.process.wait(LONGEST_FILE) == 0

    def _start(self, note: dict[str, Any]) -> None:
        machine = Machine(copied(self._used_home, self._home), SWEEP_SECONDS="2").ready()
        self._started.append(machine)
        note |= {"port": machine.port, "pid": machine.process.pid, "users": 0, "projects": []}

    def _stop(self, note: dict[str, Any]) -> None:
        """Stop the product, which may be a child of another process, and rename its folder."""
        os.kill(note["pid"], signal.SIGTERM)
        output = self._home.with_name(f"{self._home.name}.said")
        wait_until(lambda: output.read_text().endswith("Everything has stopped.\n"))
        self._home.rename(self._home.with_name(f"stopped-product-{note['pid']}"))
        note.clear()

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
