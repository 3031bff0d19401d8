"""The matrix: every route under /share/, and everything that lies outside a link."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from tests.builders import compared, recorded_session
from tests.sharing.recorded import FROZEN, recorded, replayed
from tests.web.people import browser_of
from tests.web.visitors import opened, shared
from timemachine.accounts.models import Project
from timemachine.base.clock import now
from timemachine.base.content import text_sha256
from timemachine.replay.models import ReplayStep
from timemachine.sharing.commands import revoke
from timemachine.sharing.models import ShareGrant, ShareLink
from timemachine.sharing.terms import Terms
from timemachine.web import urls_shares

SENTENCE = "There is no such link, or it is no longer valid. Ask whoever sent it for a new one."


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A link that a visitor has open, and everything around it that this link must not show."""

    visitor: Client
    link: ShareLink
    inside: dict[str, list[str]]
    outside: dict[str, list[str]]


def nested_routes() -> list[str]:
    """The names of the routes under /share/ that need a grant."""
    routes = {str(pattern.pattern): pattern for pattern in urls_shares.urlpatterns}
    return [str(each.name) for route, each in routes.items() if route.startswith("share/<str:public_id>/")]


def addresses(public_id: str) -> dict[str, Callable[[str], str]]:
    """How each route is written for one thing it could show; a route without an entry fails the matrix."""
    return {
        "shared": lambda step: f"/share/{public_id}/{step if step[:1] in ('', '?') else f'?step={step}'}",
        "shared_step": lambda step: f"/share/{public_id}/steps/{step}/",
        "shared_cell": lambda step: f"/share/{public_id}/cells/{step}/",
        "shared_payload": lambda sha256: f"/share/{public_id}/payloads/{sha256}/",
    }


def session_world(project: Project, other_project: Project) -> World:
    session = recorded(project, steps=9)
    replayed(session)
    recorded(project, steps=12)
    recorded(other_project, steps=13)
    link, path = shared(project, session, Terms(through_sequence=4))
    visitor, _ = opened(path)
    beyond = [text_sha256(text) for text in ("Geheim 9", "Schritt 5", "1901", "Geheim 12", "Geheim 13")]
    return World(
        visitor=visitor,
        link=link,
        inside={"shared": ["", "1", "4"], "shared_payload": [text_sha256(FROZEN)]},
        outside={
            "shared": ["5", "9", "0", "-1", "10", "x", "9" * 30],
            "shared_step": ["1", "2", "5", "99"],
            "shared_cell": ["1", "2"],
            "shared_payload": [*beyond, "x", "0" * 64],
        },
    )


def replay_world(project: Project, other_project: Project) -> World:
    session = recorded(project, steps=9)
    replayed(recorded(project, steps=12))
    replayed(recorded(other_project, steps=13))
    link, path = shared(project, replayed(session))
    visitor, _ = opened(path)
    beyond = [text_sha256(text) for text in ("Geheim 9", "Schritt 4", "Geheim 12", "Geheim 13")]
    return World(
        visitor=visitor,
        link=link,
        inside={
            "shared": [""],
            "shared_step": ["2"],
            "shared_payload": [text_sha256(FROZEN), text_sha256("1901")],
        },
        outside={
            "shared_step": ["1", "3", "9", "99", "9" * 30],
            "shared_cell": ["1", "2"],
            "shared_payload": [*beyond, "x"],
        },
    )


def comparison_world(project: Project, other_project: Project) -> World:
    session = recorded_session(project)
    made, other = (
        compared(project, [session], "local:extractive-1", f"local:extractive-{n}") for n in (3, 5)
    )
    theirs = compared(
        other_project, [recorded_session(other_project)], "local:extractive-1", "local:extractive-3"
    )
    cells, *others = (
        [
            str(each)
            for each in ReplayStep.objects.filter(replay__run__comparison=one).values_list("id", flat=True)
        ]
        for one in (made, other, theirs)
    )
    link, path = shared(project, made)
    visitor, _ = opened(path)
    answer = ReplayStep.objects.get(id=cells[0]).output
    assert answer is not None
    return World(
        visitor=visitor,
        link=link,
        inside={
            "shared": ["", "?show=changed&against=1", "?session=x&after=9"],
            "shared_cell": cells,
            "shared_payload": [answer.sha256],
        },
        outside={
            "shared_step": ["1", "2", "3"],
            "shared_cell": [*others[0], *others[1], "0", "9" * 30],
            "shared_payload": [text_sha256("How long are invoices kept"), "x"],
        },
    )


def evidence_world(project: Project, other_project: Project) -> World:
    session = recorded(project, steps=9)
    link, path = shared(project, replayed(session), Terms(evidence_only=True))
    visitor, _ = opened(path)
    return World(
        visitor=visitor,
        link=link,
        inside={"shared": ["", "?step=2", "?after=1"]},
        outside={
            "shared_step": ["1", "2"],
            "shared_cell": ["1"],
            "shared_payload": [text_sha256(FROZEN), text_sha256("1901"), text_sha256("1894")],
        },
    )


WORLDS = [session_world, replay_world, comparison_world, evidence_world]


def is_the_same_404(answer: Any) -> bool:
    return answer.status_code == 404 and SENTENCE in answer.text


def test_the_matrix_knows_every_route() -> None:
    assert sorted(addresses("x")) == sorted(nested_routes())
    routes = [str(pattern.pattern) for pattern in urls_shares.urlpatterns]
    share = [route for route in routes if route.startswith(("share/", "^share"))]
    assert len(share) == len(nested_routes()) + 2, "a new route under /share/ needs its cases here"


@pytest.mark.parametrize("make", WORLDS)
@pytest.mark.parametrize("route", nested_routes())
class TestMatrix:
    def test_what_lies_within_is_shown(
        self, make: Callable[..., World], route: str, project: Project, other_project: Project
    ) -> None:
        world = make(project, other_project)
        for thing in world.inside.get(route, []):
            address = addresses(world.link.public_id)[route](thing)
            assert world.visitor.get(address).status_code == 200, address

    def test_what_lies_outside_is_the_same_404(
        self, make: Callable[..., World], route: str, project: Project, other_project: Project
    ) -> None:
        world = make(project, other_project)
        pages = set()
        for thing in world.outside.get(route, []):
            answer = world.visitor.get(addresses(world.link.public_id)[route](thing))
            assert is_the_same_404(answer), thing
            pages.add(answer.text)
        assert len(pages) <= 1

    @pytest.mark.parametrize("end", ["revoked", "expired", "erased", "grant over"])
    def test_what_was_shown_is_the_same_404_once_the_link_ends(
        self, make: Callable[..., World], route: str, project: Project, other_project: Project, end: str
    ) -> None:
        world = make(project, other_project)
        if end == "revoked":
            revoke(world.link, by="Test")
        elif end == "expired":
            ShareLink.objects.filter(pk=world.link.pk).update(expires_at=now())
        elif end == "erased":
            world.link.delete()
        else:
            ShareGrant.objects.update(expires_at=now())
        for thing in world.inside.get(route, []) + world.outside.get(route, []):
            assert is_the_same_404(world.visitor.get(addresses(world.link.public_id)[route](thing))), thing

    def test_the_cookie_of_another_link_shows_nothing(
        self, make: Callable[..., World], route: str, project: Project, other_project: Project
    ) -> None:
        world, other = make(project, other_project), make(project, other_project)
        mine, theirs = (f"tms_{each.link.public_id}" for each in (world, other))
        stranger = Client()
        stranger.cookies[mine] = other.visitor.cookies[theirs].value
        stranger.cookies[theirs] = other.visitor.cookies[theirs].value
        for visitor in (stranger, Client()):
            for thing in world.inside.get(route, []):
                address = addresses(world.link.public_id)[route](thing)
                assert is_the_same_404(visitor.get(address)), address

    def test_a_member_of_the_project_needs_the_link_too(
        self, make: Callable[..., World], route: str, project: Project, other_project: Project
    ) -> None:
        world = make(project, other_project)
        admin = browser_of(project, "admin")
        for thing in world.inside.get(route, []):
            assert is_the_same_404(admin.get(addresses(world.link.public_id)[route](thing))), thing
