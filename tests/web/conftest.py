"""Fixtures that the tests of pages share."""

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
    """Readers of files have tests of their own."""
    with programs_unmeasured():
        yield


@pytest.fixture
def operator(project: Project) -> Client:
    """A browser in which an operator of the project is signed in."""
    return browser_of(project, "operator")


@pytest.fixture
def viewer(project: Project) -> Client:
    """A browser in which somebody is signed in who only reads."""
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
    """A collection with three frames in a project of its own, made once for the tests of a file."""
    collection = get_or_create_collection(Project.objects.create(name="Prüfung"), NAME, by="test")
    put_frames(collection, FACTS, by="test")
    return collection


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A Chromium, where there is one."""
    path = required()
    # playwright's loop runs in this thread, our queries are no part of it
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
        browser = playwright.chromium.launch(executable_path=str(path), args=flags)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]
