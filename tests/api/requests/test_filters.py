"""Filters of lists and searches: an unknown filter is refused instead of being ignored."""

import pytest

from tests.api.conftest import Program

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def api(shared_api: Program) -> Program:
    """Shared by the file: each test rolls its changes back."""
    return shared_api


@pytest.fixture(scope="module")
def session(shared_session: str) -> str:
    return shared_session


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/sessions?status=finished", "`status`"),
        ("/sessions?kind=dance", "`kind`"),
        ("/sessions?min_cost=-1", "`min_cost`"),
        ("/sessions?min_cost=cheap", "`min_cost`"),
        ("/sessions?limit=201", "`limit`"),
        ("/sessions?agnet=coder", "`agnet`"),
        ("/sessions?offset=50", "`offset`"),
        ("/sessions/run-1?as=text", "`as`"),
        ("/sessions/run-1/actions?kind=dance", "`kind`"),
        ("/sessions/run-1/actions?layer=moon", "`layer`"),
        ("/sessions/run-1/actions?role=boss", "`role`"),
        ("/sessions/run-1/actions?significance=great", "`significance`"),
        ("/sessions/run-1/actions?min_importance=7", "`min_importance`"),
        ("/sessions/run-1/actions?status=error", "`status`"),
        ("/search?q=x&kind=dance", "`kind`"),
        ("/search?q=x&status=finished", "`status`"),
        ("/search?q=x&mode=psychic", "`mode`"),
        ("/search?q=x&min_cost=-1", "`min_cost`"),
        ("/search?q=x&project=other", "`project`"),
    ],
)
def test_an_unknown_filter_is_refused_by_name(api: Program, session: str, path: str, names: str) -> None:
    answer = api.get(path)
    assert (answer.status_code, names in answer.json()["message"]) == (422, True), answer.json()


def test_a_filter_with_two_different_values_is_refused_by_name(api: Program, session: str) -> None:
    for path in ("/sessions?agent=a&agent=b", "/sessions?tag=a&tag=b", "/search?q=x&tool=a&tool="):
        response = api.get(path)
        assert (response.status_code, response.json()["facts"]["field"]) == (
            422,
            path.rsplit("&")[-1].split("=")[0],
        )
    assert api.get("/sessions?agent=a&agent=a").status_code == 200


def test_an_unknown_parameter_is_refused_with_the_known_ones(api: Program, session: str) -> None:
    body = api.get("/sessions/run-1/export?fromat=zip").json()
    assert body["message"] == "There is no parameter `fromat`; it takes format."
    assert body["facts"]["fields"] == ["fromat"]


def test_a_body_field_in_the_query_string_is_refused_with_a_hint(api: Program, session: str) -> None:
    refused = api.delete("/sessions/run-1?reason=asked")
    assert (refused.status_code, refused.json()["message"]) == (
        422,
        '`reason` belongs in the body, as JSON: {"reason": …}; it is not a query parameter.',
    )
    assert api.get("/sessions/run-1").status_code == 200
    assert api.delete_for("/sessions/run-1", {"reason": "asked"}).status_code == 200


def test_an_infinite_number_is_refused_with_a_clear_message(api: Program, session: str) -> None:
    message = api.get("/search?q=x&min_cost=inf").json()["message"]
    assert message == "`min_cost` must be a finite number."


def test_a_missing_key_is_reported_before_anything_else(api: Program) -> None:
    assert api.client.get("/api/sessions?agnet=coder").status_code == 401


def test_an_empty_filter_matches_anything(api: Program, session: str) -> None:
    for path in (
        "/sessions?kind=&status=&min_cost=0",
        "/sessions/run-1/actions?kind=&layer=&role=&significance=",
        "/search?q=x&kind=&status=",
    ):
        assert api.get(path).status_code == 200
