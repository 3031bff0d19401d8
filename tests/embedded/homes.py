"""A data folder that was started once, copied for whoever needs a product: a first start costs four times what a later one does."""

import shutil
from pathlib import Path

import pytest

from tests.embedded.machine import Machine
from tests.locking import one_at_a_time, shared_folder


def home_of_this_run(factory: pytest.TempPathFactory) -> Path:
    """What one `make up` left when it was asked to stop, made once for all processes of a run; only copies of it are started.

    What it printed is beside it, in `used-home.said`.
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
            machine.said.rename(home.with_name("used-home.said"))
            draft.rename(home)
    return home


def copied(used: Path, to: Path) -> Path:
    """A home, or a part of one, that was used before, but by nobody who signed in."""
    return Path(shutil.copytree(used, to))
