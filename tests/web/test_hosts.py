"""No address answers a request for a host name that is not ours."""

import pytest
from django.conf import settings
from django.test import Client

PLACES = (
    "/",
    "/sign-in/",
    "/api/sessions",
    "/v1/traces",
    "/mcp",
    "/share/x",
    "/health/live",
    "/static/css/timemachine.css",
    "/nowhere",
)


@pytest.mark.parametrize("address", PLACES)
@pytest.mark.parametrize("method", ["get", "post"])
def test_another_host_is_refused(client: Client, address: str, method: str) -> None:
    answer = getattr(client, method)(address, headers={"host": "evil.example"})
    assert answer.status_code == 400
    assert "This server does not respond to this host name." in answer.text
    assert "evil" not in answer.text


def test_hosts_are_checked_before_anything_answers() -> None:
    """What comes before only adds headers to answers."""
    before = settings.MIDDLEWARE[: settings.MIDDLEWARE.index("timemachine.web.hosts.AllowedHosts")]
    assert before == [
        "timemachine.web.request_ids.RequestIds",
        "timemachine.web.row_security.RowSecurity",
        "timemachine.web.metrics.requests.RequestMetrics",
        "timemachine.web.sharing.visitors.SharedHeaders",
        "timemachine.api.requests.NotStored",
    ]


def test_the_api_says_it_in_its_form(client: Client) -> None:
    answer = client.get("/api/sessions", headers={"host": "evil.example"})
    assert answer.json()["code"] == "unknown_host"


def test_the_own_hosts_are_answered(client: Client) -> None:
    for host in ("127.0.0.1:8000", "localhost", "[::1]:8000"):
        assert client.get("/sign-in/", headers={"host": host}).status_code == 200
