"""A data folder that was started once, copied for each test: a warm start takes two seconds, a first one four."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.embedded.machine import Machine

type Start = Callable[..., Machine]


@pytest.fixture(scope="session")
def used_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one `make up` left when it was asked to stop."""
    home = tmp_path_factory.mktemp("used") / "home"
    assert Machine(home).ready().end() == 0
    return home


@pytest.fixture
def home(used_home: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    return Path(shutil.copytree(used_home, tmp_path / "home"))


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts machines and stops those that a test left running."""
    started: list[Machine] = []

    def begin(home: Path, **environment: str) -> Machine:
        started.append(Machine(home, **environment))
        return started[-1]

    yield begin
    for machine in started:
        if machine.process.poll() is None:
            machine.end()
