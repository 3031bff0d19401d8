"""Fixtures that the tests of intakes share."""

import pytest

from timemachine.accounts.models import Project
from timemachine.retrieval.commands import collection_named
from timemachine.retrieval.models import Collection


@pytest.fixture
def handbook(project: Project) -> Collection:
    """An empty collection."""
    return collection_named(project, "handbook", by="test")
