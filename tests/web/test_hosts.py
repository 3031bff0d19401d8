"""No address answers a request for a host name that is not ours."""

import re

import pytest
from django.test import Client

from tests.web.routes import Route, every_route

FILLED = {"uuid": "01a1f9ea-3763-7c84-bc25-18869ac0a2d1", "int": "1", "str": "x", "slug": "x", "path": "x"}


def address_of(route: Route) -> str:
    """The address of a route, its parameters filled in."""
    plain = re.sub(r"\(\?P<[^>]+>[^)]*\)", "x", route.written).strip("^$")
    return "/" + re.sub(r"<(?:(\w+):)?\w+>", lambda kind: FILLED.get(kind[1] or "str", "x"), plain)


@pytest.mark.parametrize("route", every_route(), ids=lambda route: route.written)
def test_no_route_answers_for_another_host(client: Client, route: Route) -> None:
    address = address_of(route)
    for answer in (
        client.get(address, headers={"host": "evil.example"}),
        client.post(address, headers={"host": "evil.example"}),
    ):
        assert answer.status_code == 400, answer.content
        assert b"This server does not respond to this host name." in answer.content
        assert "evil" not in answer.text


def test_the_api_says_it_in_its_form(client: Client) -> None:
    answer = client.get("/api/sessions", headers={"host": "evil.example"})
    assert answer.json()["code"] == "unknown_host"


def test_static_files_are_not_served_either(client: Client) -> None:
    assert client.get("/static/css/base.css", headers={"host": "evil.example"}).status_code == 400


def test_the_own_hosts_are_answered(client: Client) -> None:
    for host in ("127.0.0.1:8000", "localhost", "[::1]:8000"):
        assert client.get("/sign-in/", headers={"host": host}).status_code == 200
