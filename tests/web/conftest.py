"""Fixtures shared by the tests of pages."""

import os
from collections.abc import Iterator

import pytest
from django.test import Client
from playwright.sync_api import Browser, sync_playwright

from tests.chromium import required
from tests.measuring import programs_unmeasured
from tests.web.handbook import FACTS, NAME
from tests.web.people import browser_of
from timemachine.core.accounts.models import ADMIN, Project
from timemachine.knowledge.commands import get_or_create_collection, put_frames
from timemachine.knowledge.models import Collection


@pytest.fixture(scope="module", autouse=True)
def programs_measured_elsewhere() -> Iterator[None]:
    """Turn coverage off in the programs that read files; they have their own tests."""
    with programs_unmeasured():
        yield


@pytest.fixture
def operator(project: Project) -> Client:
    """A browser in which an operator of the project is signed in."""
    return browser_of(project, "operator")


@pytest.fixture
def viewer(project: Project) -> Client:
    """A browser in which a viewer of the project is signed in."""
    return browser_of(project, "viewer")


@pytest.fixture
def administrator(project: Project) -> Client:
    """A browser in which an administrator of the project is signed in."""
    return browser_of(project, ADMIN)


@pytest.fixture
def handbook(project: Project) -> Collection:
    """A collection with three frames."""
    collection = get_or_create_collection(project, NAME, by="test")
    put_frames(collection, FACTS, by="test")
    return collection


@pytest.fixture(scope="module")
def handbook_once(shared_rows: None) -> Collection:
    """A collection with three frames in its own project, created once for the tests of a file."""
    collection = get_or_create_collection(Project.objects.create(name="Prüfung"), NAME, by="test")
    put_frames(collection, FACTS, by="test")
    return collection


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A Chromium browser, if one is installed."""
    path = required()
    # Playwright's event loop runs in this thread, but the queries of the tests are not part of it
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        browser = playwright.chromium.launch(executable_path=str(path), args=flags)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]
