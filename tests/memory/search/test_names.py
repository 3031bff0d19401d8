"""Sessions are found by their own name, key and tags, and steps by their tags."""

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.memory.search.recorded import found, index, message, session_of, steps
from timemachine.core.accounts.models import Project
from timemachine.memory.search import names

pytestmark = pytest.mark.django_db


def named(project: Project, q: str, **options: object) -> list[tuple[str, tuple[str, ...]]]:
    return [(group.session.name, group.named) for group in found(project, q, **options).groups]  # type: ignore[arg-type]


def test_a_session_is_found_by_its_name_its_key_and_its_tags(project: Project) -> None:
    session_of(project, message("hello"), name="Orchard plan", key="farm-7", tags=["harvest", "Q3"])
    session_of(project, message("the orchard is wet"), name="b")
    assert named(project, "orchard", mode="text") == [("Orchard plan", ("name",))]
    index(project)
    assert named(project, "orchard", mode="text") == [("Orchard plan", ("name",)), ("b", ())]
    assert named(project, "farm-7") == [("Orchard plan", ("key",))]
    assert named(project, "HARVEST plan", mode="text") == [("Orchard plan", ("name", "tags"))]
    assert named(project, "plan -harvest", mode="text") == []
    assert named(project, '"q3" or nothing', mode="text") == [("Orchard plan", ("tags",))]


def test_names_are_not_searched_if_only_steps_are_asked_for(project: Project) -> None:
    session = session_of(
        project, message("x"), name="Orchard plan", key="k", user="ada", agent="picker", tags=["t"]
    )
    index(project)
    for options in (
        {"mode": "semantic"},
        {"session": str(session.id)},
        {"kind": "message"},
        {"status": "error"},
        {"user": "ben"},
        {"agent": "b"},
        {"tag": "u"},
        {"min_cost": 1.0},
        {"status": "ended"},
        {"after": "WzAsICIwIl0"},
    ):
        assert ("Orchard plan", ("name",)) not in named(project, "orchard", **options)
    wanted = {"user": "ada", "agent": "picker", "tag": "t", "status": "recording"}
    assert named(project, "orchard", mode="text", **wanted) == [("Orchard plan", ("name",))]


def test_a_step_is_found_by_its_tags(project: Project) -> None:
    session_of(project, message("hello", tags=["apricot"]), message("bye"), name="a")
    index(project)
    assert steps(project, "apricot") == [("a", 1)]


def test_sessions_found_by_name_are_the_newest_and_take_one_query(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    monkeypatch.setattr(names, "MOST", 2)
    for n in range(4):
        session_of(project, message("x"), name=f"orchard {n}")
    with django_assert_max_num_queries(12):
        assert [name for name, _ in named(project, "orchard", mode="text")] == ["orchard 3", "orchard 2"]
