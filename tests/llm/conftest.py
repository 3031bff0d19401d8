"""The scripted model server of these tests, without waiting between retries."""

from collections.abc import Iterator

import pytest

from tests.stub_model_server import StubModelServer
from timemachine.llm.pure.cancellation import Cancellation


@pytest.fixture
def stub() -> Iterator[StubModelServer]:
    with StubModelServer() as server:
        yield server


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Record how long each retry would have waited; the tests do not wait."""
    waited: list[float] = []
    monkeypatch.setattr(Cancellation, "pause", lambda _, seconds: waited.append(seconds))
    return waited
