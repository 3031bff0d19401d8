"""Signed-in browsers for tests."""

from typing import Any

from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext
from pytest_django.live_server_helper import LiveServer

from tests.core.accounts.people import member
from timemachine.core.accounts.models import OPERATOR, Project


def browser_of(project: Project, role: str = OPERATOR) -> Client:
    """Return a browser in which a member of the project is signed in."""
    client = Client()
    client.force_login(member(project, role).user)
    return client


def chromium_of(
    project: Project, chromium: Browser, server: LiveServer, role: str = OPERATOR, **options: Any
) -> BrowserContext:
    """Return a Chromium context in which a member of the project is signed in."""
    context = chromium.new_context(**options)
    cookie = browser_of(project, role).cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": server.url}])
    return context
