"""Signing in after any first step, a password or a link: people with a second factor must show it before they are in."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from django.http import HttpRequest, HttpResponse

from timemachine.core.accounts.commands.recording import record_of_person
from timemachine.core.accounts.models import User
from timemachine.core.accounts.second_factor.passkeys import Site
from timemachine.core.accounts.second_factor.queries import has_second_factor
from timemachine.core.pure.clock import now
from timemachine.web import access
from timemachine.web.http import see_other
from timemachine.web.settings.this_browser import know_browser, sign_in_browser

LINK_USED_AT: Final = "link_used_at"
SECOND_STEP_WITHIN: Final = timedelta(minutes=10)
RECENTLY: Final = timedelta(hours=1)
_PROVED_AT: Final = "proved_at"
_PENDING: Final = "second_step"


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstStep:
    """What a browser has shown so far, and what is to happen when it is signed in. It is stored in its session."""

    user_id: int
    auth_hash: str
    at: float
    following: str
    project_id: str | None = None
    by_link: bool = False
    way: str = "password"
    proved_at: float

    @property
    def user(self) -> User | None:
        """Return the person, or None if the step is too old, or the password has changed since."""
        if datetime.fromtimestamp(self.at, UTC) < now() - SECOND_STEP_WITHIN:
            return None
        found = User.objects.filter(pk=self.user_id, is_active=True).first()
        return found if found is not None and self.auth_hash in found.session_auth_hashes() else None


def begin(
    request: HttpRequest,
    user: User,
    *,
    following: str,
    project_id: str | None = None,
    by_link: bool = False,
    way: str = "password",
    proved_at: float | None = None,
    second_factor: bool = False,
) -> HttpResponse:
    """Sign in this browser and continue at `following`, or ask for the second factor if the person has one.

    `way` is how the person signed in: `password`, `link` or `provider`.

    `proved_at` is when a provider asked the person for a password, if not now; with `second_factor` it also asked for that.
    """
    step = FirstStep(
        user_id=user.pk,
        auth_hash=user.get_session_auth_hash(),
        at=now().timestamp(),
        following=following,
        project_id=project_id,
        by_link=by_link,
        way=way,
        proved_at=now().timestamp() if proved_at is None else proved_at,
    )
    is_in = second_factor or (request.user == user and access.showed_second_factor(request))
    if is_in or not has_second_factor(user):
        return _finish(request, user, step, second_factor=is_in)
    request.session.flush()
    request.session[_PENDING] = asdict(step)
    return see_other("second_step")


def first_step(request: HttpRequest) -> tuple[FirstStep, User] | None:
    """Return the first step that this browser has done and whose it is; None if there is none, or it is too old."""
    stored = request.session.get(_PENDING)
    step = FirstStep(**stored) if stored else None
    user = step.user if step else None
    return (step, user) if step and user else None


def finish(request: HttpRequest, step: FirstStep, user: User) -> HttpResponse:
    """Sign in this browser after the second step."""
    request.session.pop(_PENDING, None)
    return _finish(request, user, step, second_factor=True)


def signed_in_recently(request: HttpRequest) -> bool:
    """Return whether the person signed in within the last hour, as changing how to sign in requires."""
    return datetime.fromtimestamp(proved_at(request), UTC) > now() - RECENTLY


def proved_at(request: HttpRequest) -> float:
    """Return when the person of this browser last showed who they are, as a Unix time; 0 if never."""
    return float(request.session.get(_PROVED_AT, request.session.get("signed_in_at", 0.0)))


def site_of(request: HttpRequest) -> Site:
    """Return the site that passkeys of this page belong to."""
    return Site(origin=f"{request.scheme}://{request.get_host()}")


def _finish(request: HttpRequest, user: User, step: FirstStep, *, second_factor: bool) -> HttpResponse:
    sign_in_browser(request, user)
    record_of_person(user, "person.signed_in", method=step.way, second_factor=second_factor)
    request.session[_PROVED_AT] = step.proved_at
    if second_factor:
        access.note_second_factor(request)
    if step.project_id:
        access.switch_project(request, step.project_id)
    if step.by_link:
        request.session[LINK_USED_AT] = step.at
    return know_browser(see_other(step.following), user)
