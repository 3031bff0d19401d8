"""Fixtures that the tests of intakes share."""

import pytest

from timemachine.core.accounts.models import Project
from timemachine.knowledge.commands import get_or_create_collection
from timemachine.knowledge.models import Collection


@pytest.fixture
def handbook(project: Project) -> Collection:
    """An empty collection."""
    return get_or_create_collection(project, "handbook", by="test")
