"""A response says that a download has begun to the page that asked to be told."""

import pytest
from django.test import Client

TOKEN = "k3j9x0ab12"  # chosen by a page, no secret


@pytest.mark.parametrize("address", ["/tm_verify.py", f"/sessions/{'0' * 32}/evidence.zip"])
def test_a_response_to_an_address_with_a_token_sets_its_cookie(viewer: Client, address: str) -> None:
    answer = viewer.get(f"{address}?begun={TOKEN}")
    begun = answer.cookies[f"tm_begun_{TOKEN}"]
    assert (begun.value, begun["max-age"], begun["httponly"]) == ("1", 60, "")


@pytest.mark.parametrize("query", ["", "begun=", "begun=short", "begun=K3J9X0AB12", "begun=a;b=12345", "x=1"])
def test_any_other_address_sets_none(viewer: Client, query: str) -> None:
    assert not [name for name in viewer.get(f"/tm_verify.py?{query}").cookies if "begun" in name]
