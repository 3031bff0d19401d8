"""An API client with all scopes in the project of a test."""

import pytest

from tests.api.conftest import Program, program
from timemachine.core.accounts.models import Project


@pytest.fixture
def api(project: Project) -> Program:
    return program(project)


@pytest.fixture
def stranger(other_project: Project) -> Program:
    return program(other_project)
