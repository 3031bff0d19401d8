"""Fixtures that the tests of intakes share."""

import pytest

from timemachine.core.accounts.models import Project
from timemachine.knowledge.commands import collection_named
from timemachine.knowledge.models import Collection


@pytest.fixture
def handbook(project: Project) -> Collection:
    """An empty collection."""
    return collection_named(project, "handbook", by="test")
