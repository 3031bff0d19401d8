"""Browsers of people in tests."""

from typing import Any

from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext
from pytest_django.live_server_helper import LiveServer

from tests.core.accounts.people import member
from timemachine.core.accounts.models import OPERATOR, Project


def browser_of(project: Project, role: str = OPERATOR) -> Client:
    """The browser of a member of the project, signed in."""
    client = Client()
    client.force_login(member(project, role).user)
    return client


def chromium_of(project: Project, chromium: Browser, server: LiveServer, **how: Any) -> BrowserContext:
    """A Chromium window of a member of the project, signed in."""
    context = chromium.new_context(**how)
    cookie = browser_of(project).cookies[settings.SESSION_COOKIE_NAME].value
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": server.url}])
    return context
