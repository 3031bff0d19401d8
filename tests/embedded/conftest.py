"""Fixture: machines that are stopped after the test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.embedded.machine import Machine

type Start = Callable[..., Machine]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start machines, and stop those that a test left running."""
    started: list[Machine] = []

    def begin(home: Path, **environment: str) -> Machine:
        started.append(Machine(home, **environment))
        return started[-1]

    yield begin
    for machine in started:
        if machine.process.poll() is None:
            machine.end()
