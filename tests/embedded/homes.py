"""A used data folder, copied for tests that need a product: a first start takes four times as long as a later one."""

import shutil
from pathlib import Path

import pytest

from tests.embedded.machine import Machine
from tests.locking import one_at_a_time, shared_folder


def home_of_this_run(factory: pytest.TempPathFactory) -> Path:
    """Return the data folder of a stopped `make up`, created once for all processes of a run; only copies are started.

    What it printed is next to it, in `used-home.said`.
    """
    shared = shared_folder(factory)
    home = shared / "used-home"
    with one_at_a_time(shared / "used-home.lock"):
        if not home.exists():
            draft = shared / "used-home.new"
            shutil.rmtree(draft, ignore_errors=True)
            machine = Machine(draft).ready()
            assert machine.page() < 500
            assert machine.end() == 0
            machine.log.rename(home.with_name("used-home.said"))
            draft.rename(home)
    return home


def copied(used: Path, to: Path) -> Path:
    """Copy a used home, or a part of one, in which no one has signed in yet."""
    return Path(shutil.copytree(used, to))
