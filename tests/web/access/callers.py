"""Everybody who could send a request to a project: people in browsers, programs with keys, an auditor, strangers."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

from django.conf import settings as django_settings
from django.test import Client

from tests.core.accounts.people import member, person
from tests.web.everything import FullProject
from tests.web.settings.test_second_factor import first_step, signed_in, with_app
from tests.web.visitors import opened
from timemachine.core.accounts.commands.keys import make_api_key, revoke_api_key
from timemachine.core.accounts.models import ADMIN, SCOPES, ApiKey, BrowserSession, Project
from timemachine.core.pure.clock import now

ELSEWHERE: Final = "203.0.113.77"
ANYONE: Final = ("anyone",)
PERSON: Final = (*ANYONE, "person")
VIEWER: Final = (*PERSON, "member", "viewer")
OPERATOR: Final = (*VIEWER, "operator")
ADMINISTRATOR: Final = (*OPERATOR, "administrator", "owner")
ALL_SCOPES: Final = (*ANYONE, "key", *SCOPES)


@dataclass(kw_only=True)
class Caller:
    """Somebody who sends requests, with what the server accepts of them, in the words of `cases`."""

    client: Client
    may: tuple[str, ...] = ANYONE
    key: str = ""
    is_signed_in: bool = False
    lacks_second_factor: bool = False
    is_of_another_project: bool = False
    is_forged: bool = False
    """Whether a page of another site sends the forms."""
    tries_everything: bool = False
    """Whether this caller also requests what is the same for all browsers."""
    _cookies: Any = field(init=False)

    def __post_init__(self) -> None:
        self.client.defaults.setdefault("REMOTE_ADDR", ELSEWHERE)
        self._cookies = deepcopy(self.client.cookies)

    def send(self, method: str, address: str, body: Any = None, **headers: str) -> Any:
        """Send one request with the cookies and the key of this caller, whatever earlier answers set or deleted."""
        self.client.cookies = deepcopy(self._cookies)
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        if method == "GET":
            return self.client.get(address, body, headers=headers)
        if isinstance(body, str):
            return self.client.generic(method, address, body, "application/json", headers=headers)
        return self.client.post(address, body, headers=headers)


def verified(project: Project, role: str) -> Client:
    """Return the browser of a new member who gave the password and the second factor."""
    return signed_in(with_app(member(project, role, f"new-{role}@example.org").user))


def anonymous(_: FullProject) -> Caller:
    return Caller(client=Client(), tries_everything=True)


def program_on_this_machine(_: FullProject) -> Caller:
    return Caller(client=Client(REMOTE_ADDR="127.0.0.1"), may=(*ANYONE, "machine"))


def auditor(full: FullProject) -> Caller:
    return Caller(client=opened(f"/share/{full.named['token']}")[0], may=(*ANYONE, "auditor"))


def person_of_no_project(_: FullProject) -> Caller:
    return Caller(client=signed_in(person("outside@example.org")), may=PERSON, is_signed_in=True)


def viewer(full: FullProject) -> Caller:
    return Caller(client=verified(full.project, "viewer"), may=VIEWER, is_signed_in=True)


def operator(full: FullProject) -> Caller:
    return Caller(client=verified(full.project, "operator"), may=OPERATOR, is_signed_in=True)


def administrator(full: FullProject) -> Caller:
    return Caller(client=full.browser, may=ADMINISTRATOR, is_signed_in=True, tries_everything=True)


def administrator_by_a_form_of_another_site(full: FullProject) -> Caller:
    client = verified(full.project, ADMIN)
    client.handler.enforce_csrf_checks = True
    return Caller(client=client, may=ADMINISTRATOR, is_signed_in=True, is_forged=True)


def administrator_of_another_project(_: FullProject) -> Caller:
    client = verified(Project.objects.create(name="Somebody else's"), ADMIN)
    may = tuple(each for each in ADMINISTRATOR if each not in {"member", "owner"})
    return Caller(client=client, may=may, is_signed_in=True, is_of_another_project=True)


def administrator_without_a_second_factor(full: FullProject) -> Caller:
    client = signed_in(member(full.project, ADMIN).user)
    return Caller(client=client, may=(*PERSON, "member"), is_signed_in=True, lacks_second_factor=True)


def administrator_before_the_second_factor(full: FullProject) -> Caller:
    client = Client()
    first_step(client, with_app(member(full.project, ADMIN).user))
    return Caller(client=client)


def administrator_who_was_away(full: FullProject) -> Caller:
    client = verified(full.project, ADMIN)
    BrowserSession.objects.filter(pk=client.session.session_key).update(
        seen_at=now() - django_settings.SIGN_IN_IDLE
    )
    return Caller(client=client)


def administrator_who_signed_in_long_ago(full: FullProject) -> Caller:
    client = verified(full.project, ADMIN)
    BrowserSession.objects.filter(pk=client.session.session_key).update(
        signed_in_at=now() - django_settings.SIGN_IN_LONGEST
    )
    return Caller(client=client)


def key_for(*scopes: str) -> Callable[[FullProject], Caller]:
    def made(full: FullProject) -> Caller:
        key = make_api_key(full.project, name="test", scopes=scopes)[1]
        return Caller(client=Client(), key=key, may=(*ANYONE, "key", *scopes))

    made.__name__ = f"key_for_{'_and_'.join(scopes)}"
    return made


def key_of_another_project(_: FullProject) -> Caller:
    key = make_api_key(Project.objects.create(name="Somebody else's"), name="test", scopes=SCOPES)[1]
    return Caller(client=Client(), key=key, may=ALL_SCOPES, is_of_another_project=True)


def key_that_has_expired(full: FullProject) -> Caller:
    expired, key = make_api_key(full.project, name="test", scopes=SCOPES)
    ApiKey.objects.filter(pk=expired.pk).update(expires_at=now())
    return Caller(client=Client(), key=key)


def key_that_was_revoked(full: FullProject) -> Caller:
    revoked, key = make_api_key(full.project, name="test", scopes=SCOPES)
    revoke_api_key(revoked)
    return Caller(client=Client(), key=key)


BROWSERS: Final = (
    anonymous,
    program_on_this_machine,
    auditor,
    person_of_no_project,
    viewer,
    operator,
    administrator,
    administrator_by_a_form_of_another_site,
    administrator_of_another_project,
    administrator_without_a_second_factor,
    administrator_before_the_second_factor,
    administrator_who_was_away,
    administrator_who_signed_in_long_ago,
)
KEYS: Final = (
    *(key_for(scope) for scope in SCOPES),
    key_for("record", "run"),
    key_for(*SCOPES),
    key_of_another_project,
    key_that_has_expired,
    key_that_was_revoked,
)
