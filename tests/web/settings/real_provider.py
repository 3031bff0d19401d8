"""A real OpenID Connect provider on loopback, in which tests change what it says about people."""

from dataclasses import dataclass
from typing import Any

import httpx2
from django.conf import settings as configured
from django.test import Client
from pytest_django.fixtures import Settings

from tests.web.settings.hostile_provider import CLIENT
from timemachine.core.accounts.models import ROLES, Project, User
from timemachine.core.accounts.provider.pure.roles import parse_roles

ZOE = {"email": "Zoe@example.org", "email_verified": True, "name": "Zoë", "groups": ["risk", "other"]}

BEGIN, ANSWER = "/sign-in/provider/", "/sign-in/provider/answer/"


def configure(settings: Settings, address: str, project: Project) -> None:
    settings.OIDC_NAME = "Bank account"
    settings.OIDC_DISCOVERY_URL = address
    settings.OIDC_CLIENT_ID = CLIENT
    settings.OIDC_CLIENT_SECRET = "a secret/+"
    settings.OIDC_ROLES = parse_roles(f"risk={project.pk}:operator; audit={project.pk}:admin", ROLES)


@dataclass(frozen=True, slots=True)
class RealProvider:
    """A provider in which tests change what it says about people."""

    address: str

    def put(self, subject: str, claims: dict[str, Any]) -> None:
        httpx2.put(f"{self.address}/users/{subject}", json=claims).raise_for_status()

    def sign_in(self, client: Client, subject: str = "zoe", query: str = "") -> Any:
        """Sign in as this subject; return the answer to the browser that comes back."""
        begun = client.get(f"{BEGIN}?{query}")
        assert begun.status_code == 302, begun.text
        back = httpx2.post(begun["Location"], data={"sub": subject}, follow_redirects=False)
        assert back.headers["Location"].startswith(f"{configured.PUBLIC_URL}{ANSWER}?")
        return client.get(back.headers["Location"].removeprefix(configured.PUBLIC_URL))


def who(client: Client) -> str | None:
    found = client.session.get("_auth_user_id")
    return User.objects.get(pk=found).email if found else None
