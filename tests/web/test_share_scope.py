"""The matrix: every route under /share/, as the URL configuration has it, and everything that lies outside a link.

Its cases: another session, a later step, another replay or comparison, a link that is revoked, expired, forbidden, erased, used up, one
whose passphrase nobody said, a grant that is over or is another link's, and every other method. A new route without a
case fails; so does an answer without the headers of /share/.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.test import Client

from tests.builders import compared, recorded_session
from tests.sharing.recorded import FROZEN, recorded, replayed
from tests.web.people import browser_of
from tests.web.routes import every_route
from tests.web.visitors import opened, shared
from timemachine.accounts.models import Project
from timemachine.base.clock import now
from timemachine.base.content import text_sha256
from timemachine.comparison.models import Comparison
from timemachine.recording.erasure import erase_session
from timemachine.recording.models import Session
from timemachine.replay.models import ReplayStep
from timemachine.sharing.commands import revoke, set_policy
from timemachine.sharing.models import ShareGrant, ShareLink
from timemachine.sharing.policy import Policy
from timemachine.sharing.terms import Terms
from timemachine.sharing.token import new_token

SENTENCE = "There is no such link, or it is no longer valid. Ask whoever sent it for a new one."
DOOR, NOTHING = "share", "shared_nothing"
ONE, THREE, FIVE = (f"local:extractive-{n}" for n in (1, 3, 5))
LARGE = "9" * 30
type Things = dict[str, list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A link that a visitor has open, what it shows by route, and by what it is and route what it must not show."""

    visitor: Client
    link: ShareLink
    path: str
    sessions: tuple[Session, ...]
    inside: Things
    outside: dict[str, Things]

    def addresses(self, things: Things) -> list[str]:
        """How these things are written as addresses of this link."""
        write = written(self.link.public_id)
        return [write[route](thing) for route, named in things.items() for thing in named]


def written(public_id: str) -> dict[str, Callable[[str], str]]:
    """How each route is written for one thing it could show; a route that is not here fails the suite."""
    return {
        "shared": lambda step: f"/share/{public_id}/{step if step[:1] in ('', '?') else f'?step={step}'}",
        "shared_step": lambda step: f"/share/{public_id}/steps/{step}/",
        "shared_cell": lambda step: f"/share/{public_id}/cells/{step}/",
        "shared_payload": lambda sha256: f"/share/{public_id}/payloads/{sha256}/",
        "shared_evidence": lambda end: f"/share/{public_id}/evidence.zip{end}",
    }


def hashes(*texts: str) -> list[str]:
    return [text_sha256(text) for text in texts]


def cells_of(*comparisons: Comparison) -> list[str]:
    steps = ReplayStep.objects.filter(replay__run__comparison__in=comparisons).order_by("id")
    return [str(each) for each in steps.values_list("id", flat=True)]


def session_world(project: Project, other_project: Project) -> World:
    session = recorded(project, steps=9)
    replayed(session)
    recorded(project, steps=12)
    recorded(other_project, steps=13)
    link, path = shared(project, session, Terms(through_sequence=4))
    return World(
        visitor=opened(path)[0],
        link=link,
        path=path,
        sessions=(session,),
        inside={"shared": ["", "1", "4"], "shared_payload": hashes(FROZEN), "shared_evidence": [""]},
        outside={
            "another session": {"shared_payload": hashes("Geheim 12", "Geheim 13")},
            "a later step": {
                "shared": ["5", "9"],
                "shared_payload": hashes("Geheim 9", "Schritt 5"),
            },
            "a replay of it": {
                "shared_step": ["1", "2", "5", "99"],
                "shared_cell": ["1", "2"],
                "shared_payload": hashes("1901"),
            },
            "nothing": {"shared": ["0", "-1", "10", "x", LARGE], "shared_payload": ["x", "0" * 64]},
        },
    )


def replay_world(project: Project, other_project: Project) -> World:
    session = recorded(project, steps=9)
    replayed(recorded(project, steps=12))
    replayed(recorded(other_project, steps=13))
    link, path = shared(project, replayed(session))
    return World(
        visitor=opened(path)[0],
        link=link,
        path=path,
        sessions=(session,),
        inside={
            "shared": [""],
            "shared_step": ["2"],
            "shared_payload": hashes(FROZEN, "1901"),
            "shared_evidence": ["", "?through=9"],
        },
        outside={
            "another session": {"shared_payload": hashes("Geheim 12", "Geheim 13")},
            "a step that it did not repeat": {
                "shared_step": ["1", "3", "9"],
                "shared_payload": hashes("Geheim 9", "Schritt 4"),
            },
            "nothing": {"shared_step": ["99", LARGE], "shared_cell": ["1", "2"], "shared_payload": ["x"]},
        },
    )


def comparison_world(project: Project, other_project: Project) -> World:
    session = recorded_session(project)
    made, other = (compared(project, [session], ONE, model) for model in (THREE, FIVE))
    theirs = compared(other_project, [recorded_session(other_project)], ONE, THREE)
    cells = cells_of(made)
    link, path = shared(project, made)
    answer = ReplayStep.objects.get(id=cells[0]).output
    assert answer is not None
    return World(
        visitor=opened(path)[0],
        link=link,
        path=path,
        sessions=(session,),
        inside={
            "shared": ["", "?show=changed&against=1", "?session=x&after=9"],
            "shared_cell": cells,
            "shared_payload": [answer.sha256],
            "shared_evidence": ["", "?arm=1"],
        },
        outside={
            "another comparison": {"shared_cell": cells_of(other)[-2:]},
            "another project's": {"shared_cell": cells_of(theirs)[:2]},
            "a step of the session": {"shared_step": ["1", "2", "3"]},
            "nothing": {
                "shared_cell": ["0", LARGE],
                "shared_payload": [*hashes("never recorded"), "x"],
            },
        },
    )


def evidence_world(project: Project, other_project: Project) -> World:
    session = recorded(project, steps=9)
    link, path = shared(project, replayed(session), Terms(evidence_only=True))
    return World(
        visitor=opened(path)[0],
        link=link,
        path=path,
        sessions=(session,),
        inside={"shared": ["", "?step=2", "?after=1"], "shared_evidence": [""]},
        outside={
            "a recorded text": {"shared_payload": hashes(FROZEN, "1901", "1894")},
            "a step": {"shared_step": ["1", "2"], "shared_cell": ["1"]},
        },
    )


WORLDS = [session_world, replay_world, comparison_world, evidence_world]


# --- who comes when the link, or their grant, no longer shows anything


def revoked(world: World) -> Client:
    revoke(world.link, by="Test")
    return world.visitor


def expired(world: World) -> Client:
    ShareLink.objects.filter(pk=world.link.pk).update(expires_at=now())
    return world.visitor


def forbidden(world: World) -> Client:
    set_policy(world.link.project, Policy(forbidden=True), by="Test")
    return world.visitor


def erased(world: World) -> Client:
    for session in world.sessions:
        erase_session(session)
    return world.visitor


def grant_over(world: World) -> Client:
    ShareGrant.objects.update(expires_at=now())
    return world.visitor


def exhausted(world: World) -> Client:
    """Somebody who came when it had been opened as often as it may be."""
    ShareLink.objects.filter(pk=world.link.pk).update(max_opens=1, opens=1)
    late = Client()
    assert is_the_same_404(late.post(world.path))
    return late


def wrong_passphrase(world: World) -> Client:
    """Somebody who has the address and not the passphrase."""
    ShareLink.objects.filter(pk=world.link.pk).update(passphrase_hash=make_password("Käse"))
    stranger = Client()
    assert stranger.post(world.path, {"passphrase": "Brot"}).status_code == 401
    return stranger


def with_another_links_grant(world: World) -> Client:
    project = Project.objects.create(name="Fremd")
    link, path = shared(project, recorded(project))
    theirs = opened(path)[0].cookies[f"tms_{link.public_id}"].value
    stranger = Client()
    for public_id in (world.link.public_id, link.public_id):
        stranger.cookies[f"tms_{public_id}"] = theirs
    return stranger


def with_nothing(world: World) -> Client:
    return Client()


def member_of_the_project(world: World) -> Client:
    return browser_of(world.link.project, "admin")


ENDS = [revoked, expired, forbidden, erased, grant_over, exhausted, wrong_passphrase]
STRANGERS = [with_another_links_grant, with_nothing, member_of_the_project]


def is_the_same_404(answer: Any) -> bool:
    assert_shared(answer)
    return answer.status_code == 404 and SENTENCE in answer.text


def assert_shared(answer: Any, referrer: str = "no-referrer") -> None:
    """What every answer under /share/ has: stored nowhere, indexed nowhere, framed nowhere, told to nobody."""
    path = answer.wsgi_request.path
    told = {name: answer.headers.get(name) for name in WANTED}
    assert told == WANTED, path
    assert answer.headers["Referrer-Policy"] == referrer, path
    policy = answer.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy or "sandbox" in policy, path


WANTED = {
    "Cache-Control": "no-store, private",
    "X-Robots-Tag": "noindex, nofollow, noarchive",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
}


class Undone(Exception):
    """What a case did is rolled back."""


@contextmanager
def undone() -> Iterator[None]:
    """Whatever happens inside is not there afterwards."""
    with suppress(Undone), transaction.atomic():
        yield
        raise Undone


def test_every_route_under_share_has_its_cases() -> None:
    routes = {route.name for route in every_route() if route.written.lstrip("^").startswith("share")}
    shares = {"shares", "share_link", "revoke_share", "revoke_all_shares"}
    assert routes - shares == {*written("x"), DOOR, NOTHING}, "a new route under /share/ needs its cases here"


@pytest.mark.parametrize("make", WORLDS)
def test_a_link_shows_what_lies_within_it_and_of_everything_else_the_same_404(
    make: Callable[[Project, Project], World], project: Project, other_project: Project
) -> None:
    world = make(project, other_project)
    inside = world.addresses(world.inside)
    for address in inside:
        answer = world.visitor.get(address)
        assert answer.status_code == 200, address
        assert_shared(answer)
        if answer.streaming:
            assert answer.getvalue()
    pages = set()
    for what, things in world.outside.items():
        for address in world.addresses(things):
            answer = world.visitor.get(address)
            assert is_the_same_404(answer), (what, address)
            pages.add(answer.text)
    assert len(pages) == 1
    for end in (*ENDS, *STRANGERS):
        with undone():
            visitor = end(world)
            for address in inside:
                assert is_the_same_404(visitor.get(address)), (end.__name__, address)


@pytest.mark.parametrize("make", WORLDS)
def test_nothing_under_share_is_done_but_opening(
    make: Callable[[Project, Project], World], project: Project, other_project: Project
) -> None:
    world = make(project, other_project)
    everything = [
        each for things in (world.inside, *world.outside.values()) for each in world.addresses(things)
    ]
    for visitor in (world.visitor, Client()):
        for address in everything:
            for method in ("post", "put", "patch", "delete", "options"):
                answer = getattr(visitor, method)(address)
                # an address that is written as no route is: `steps/-1/`
                assert answer.status_code in {405, 404}, (method, address)
                assert_shared(answer)
        for method in ("put", "patch", "delete", "options"):
            answer = getattr(visitor, method)(world.path)
            assert answer.status_code == 405
            assert_shared(answer)
    world.link.refresh_from_db()
    assert (world.link.opens, world.link.revoked_at) == (1, None)


def test_the_door_is_the_same_404_for_every_link_that_does_not_open(project: Project) -> None:
    link, path = shared(project, recorded(project))
    world = World(
        visitor=Client(),
        link=link,
        path=path,
        sessions=(link.session,) if link.session else (),
        inside={},
        outside={},
    )
    answers = [
        Client().post(f"/share/{token}") for token in (new_token(), ":token", f"tms_{link.public_id}_x")
    ]
    for end in (revoked, expired, forbidden, erased, exhausted):
        with undone():
            end(world)
            answers.append(Client().post(path))
    assert all(is_the_same_404(answer) for answer in answers)
    assert len({answer.text for answer in answers}) == 1


@pytest.mark.parametrize(
    "address", ["/share", "/share/", "/share/x/y", "/share/x/static/app.css", "/share/x/favicon.ico/"]
)
def test_every_other_address_under_share_is_the_same_404_whatever_is_done_there(
    address: str, db: None
) -> None:
    for method in ("get", "head", "post", "put", "delete"):
        answer = getattr(Client(), method)(address)
        assert answer.status_code == 404
        assert_shared(answer)


def test_a_fault_of_ours_under_share_has_the_headers_too(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, path = shared(project, recorded(project))
    visitor, page = opened(path)
    monkeypatch.setattr("timemachine.web.views.shared._about", None)
    visitor.raise_request_exception = False
    broken = visitor.get(page)
    assert broken.status_code == 500
    assert_shared(broken)


def test_the_door_has_the_headers_and_a_referrer_for_its_own_form(project: Project) -> None:
    _, path = shared(project, recorded(project), Terms(passphrase="Käse"))
    for address in (path, "/share/robots.txt", "/share/style.css", f"/share/{new_token()}"):
        assert_shared(Client().get(address), referrer="strict-origin")
    assert_shared(Client().post(path), referrer="strict-origin")
    assert_shared(Client().post(path, {"passphrase": "Käse"}))
    refused = Client(enforce_csrf_checks=True).post(path)
    assert refused.status_code == 403
    assert_shared(refused)


PREVIEWERS = (
    "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
    "WhatsApp/2.23.20.0",
    "TelegramBot (like TwitterBot)",
    "facebookexternalhit/1.1",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Microsoft Office/16.0 (Microsoft Outlook Mail 16.0)",
    "LinkedInBot/1.0",
    "",
)


def test_a_hundred_looks_by_link_previewers_count_as_none(project: Project) -> None:
    link, path = shared(project, recorded(project), Terms(max_opens=1))
    for number in range(100):
        agent = PREVIEWERS[number % len(PREVIEWERS)]
        look = Client(headers={"user-agent": agent})
        assert (look.head if number % 10 == 0 else look.get)(path).status_code == 200
    link.refresh_from_db()
    assert (link.opens, link.openings.filter(by=None).count(), ShareGrant.objects.count()) == (0, 0, 0)
    assert opened(path)
