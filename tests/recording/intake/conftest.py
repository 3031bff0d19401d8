"""Shared fixtures for tests of intakes."""

from collections.abc import Iterator

import pytest

from tests.measuring import programs_unmeasured
from timemachine.core.accounts.models import Project
from timemachine.knowledge.commands import get_or_create_collection
from timemachine.knowledge.models import Collection


@pytest.fixture(scope="module", autouse=True)
def programs_measured_elsewhere() -> Iterator[None]:
    """File readers have tests of their own."""
    with programs_unmeasured():
        yield


@pytest.fixture
def handbook(project: Project) -> Collection:
    """An empty collection."""
    return get_or_create_collection(project, "handbook", by="test")
