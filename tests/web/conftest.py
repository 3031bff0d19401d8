"""Fixtures that the tests of pages share."""

import pytest
from django.test import Client

from tests.web.handbook import FACTS, NAME
from tests.web.people import browser_of
from timemachine.accounts.models import Project
from timemachine.retrieval.commands import collection_named, put
from timemachine.retrieval.models import Collection


@pytest.fixture
def operator(project: Project) -> Client:
    """A browser in which an operator of the project is signed in."""
    return browser_of(project, "operator")


@pytest.fixture
def viewer(project: Project) -> Client:
    """A browser in which somebody is signed in who only reads."""
    return browser_of(project, "viewer")


@pytest.fixture
def handbook(project: Project) -> Collection:
    """A collection with three frames."""
    collection = collection_named(project, NAME, by="test")
    put(collection, FACTS, by="test")
    return collection
