"""A project whose rows other connections see."""

import pytest

from timemachine.core.accounts.models import Project


@pytest.fixture
def committed(transactional_db: None) -> Project:
    return Project.objects.create(name="Many")
