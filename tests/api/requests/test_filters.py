"""What lists and searches are narrowed by: a filter that nothing knows is refused, never one that holds for everything."""

import pytest

from tests.api.conftest import Program

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def api(shared_api: Program) -> Program:
    """Made once: each test takes its own changes back."""
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
def test_a_filter_that_nothing_knows_is_refused_by_its_name(
    api: Program, session: str, path: str, names: str
) -> None:
    answer = api.get(path)
    assert (answer.status_code, names in answer.json()["message"]) == (422, True), answer.json()


def test_a_filter_that_is_given_twice_is_refused_by_its_name_and_twice_the_same_is_once(
    api: Program, session: str
) -> None:
    for path in ("/sessions?agent=a&agent=b", "/sessions?tag=a&tag=b", "/search?q=x&tool=a&tool="):
        told = api.get(path)
        assert (told.status_code, told.json()["facts"]["field"]) == (422, path.rsplit("&")[-1].split("=")[0])
    assert api.get("/sessions?agent=a&agent=a").status_code == 200


def test_a_parameter_that_is_not_there_is_named_with_those_that_are(api: Program, session: str) -> None:
    told = api.get("/sessions/run-1/export?fromat=zip").json()
    assert told["message"] == "There is no parameter `fromat`; there are format."
    assert told["facts"]["fields"] == ["fromat"]


def test_what_belongs_into_the_body_and_stands_in_the_address_is_told_so(api: Program, session: str) -> None:
    refused = api.delete("/sessions/run-1?reason=asked")
    assert (refused.status_code, refused.json()["message"]) == (
        422,
        '`reason` belongs in the body, as JSON: {"reason": …}; it is not a query parameter.',
    )
    assert api.get("/sessions/run-1").status_code == 200
    assert api.delete_for("/sessions/run-1", {"reason": "asked"}).status_code == 200


def test_a_number_without_end_is_refused_in_our_words(api: Program, session: str) -> None:
    told = api.get("/search?q=x&min_cost=inf").json()["message"]
    assert told == "`min_cost`: it is a finite number."


def test_who_has_no_key_is_asked_for_it_before_anything_else(api: Program) -> None:
    assert api.client.get("/api/sessions?agnet=coder").status_code == 401


def test_an_empty_filter_asks_for_any(api: Program, session: str) -> None:
    for path in (
        "/sessions?kind=&status=&min_cost=0",
        "/sessions/run-1/actions?kind=&layer=&role=&significance=",
        "/search?q=x&kind=&status=",
    ):
        assert api.get(path).status_code == 200
