"""Browsers of people in tests."""

from django.test import Client

from tests.core.accounts.people import member
from timemachine.core.accounts.models import OPERATOR, Project


def browser_of(project: Project, role: str = OPERATOR) -> Client:
    """The browser of a member of the project, signed in."""
    client = Client()
    client.force_login(member(project, role).user)
    return client
