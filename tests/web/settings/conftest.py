"""A member, and two providers: a real one, and one that answers wrongly."""

from collections.abc import Iterator

import pytest
from oidc_provider_mock import User as Identity
from oidc_provider_mock import run_server_in_thread
from pytest_django.fixtures import Settings

from tests.core.accounts.people import member
from tests.web.settings.hostile_provider import HostileProvider, hostile_provider
from tests.web.settings.real_provider import ZOE, RealProvider, configure
from timemachine.core.accounts.models import Project, User


@pytest.fixture
def user(project: Project) -> User:
    return member(project, "viewer", "a@example.org").user


@pytest.fixture
def provider(settings: Settings, project: Project) -> Iterator[RealProvider]:
    with run_server_in_thread(require_nonce=True, user_claims=[Identity(sub="zoe", claims=ZOE)]) as server:
        address = f"http://localhost:{server.server_port}"
        configure(settings, f"{address}/.well-known/openid-configuration", project)
        yield RealProvider(address)


@pytest.fixture
def hostile(settings: Settings, project: Project) -> Iterator[HostileProvider]:
    with hostile_provider() as found:
        configure(settings, found.address, project)
        yield found
