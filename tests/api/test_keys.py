"""API keys over HTTP."""

from datetime import timedelta

from tests.api.conftest import Program
from timemachine.core.pure.clock import now, parse_time, written

KEY = {"name": "nightly run", "scopes": ["read"]}


def test_a_key_expires_after_90_days_unless_the_request_says_otherwise(api: Program) -> None:
    made = api.post("/keys", KEY).json()
    assert round((parse_time(made["expires_at"]) - now()) / timedelta(days=1)) == 90
    assert api.post("/keys", KEY | {"expires_at": None}).json()["expires_at"] is not None
    assert api.post("/keys", KEY | {"never_expires": True}).json()["expires_at"] is None
    end = written(now() + timedelta(days=400))
    assert api.post("/keys", KEY | {"expires_at": end}).json()["expires_at"] == end
    refused = api.post("/keys", KEY | {"expires_at": end, "never_expires": True})
    assert (refused.status_code, refused.json()["code"]) == (422, "two_expiries")
