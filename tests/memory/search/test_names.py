"""Sessions are found by their own name, key and tags, and steps by their tags."""

import pytest
from pytest_django import DjangoAssertNumQueries

from tests.database_roles import as_owner
from tests.memory.search.recorded import found, index, message, session_of, steps
from timemachine.core.accounts.models import Project
from timemachine.memory.search import names
from timemachine.memory.search.names import index_conditions
from timemachine.memory.search.sessions import SessionQuery, sessions_matching
from timemachine.recording.sessions.models import Session

pytestmark = pytest.mark.django_db
INDEXED = "tm_trigrams(tm_session_words(name, key, tags))"


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


def test_any_part_of_a_name_is_found_in_any_case_and_script(project: Project) -> None:
    session_of(project, message("x"), name="Ärger im Käsewerk 100%", key="k_7", tags=["日本語 の件"])
    session_of(project, message("x"), name="Other", key="kx7")
    for q in ("äRGER", "äsewer", "100%", "k_7", "日本", "日本語", "の件", "är"):
        assert named(project, q, mode="text")[0][0] == "Ärger im Käsewerk 100%", q
    assert len(named(project, "k_7", mode="text")) == 1


def test_rare_words_are_found_by_an_index_and_frequent_ones_from_the_newest_on(project: Project) -> None:
    for number in range(12):
        session_of(project, message("x"), name=f"Harvest {number}")
    session_of(project, message("x"), name="Zeppelin", tags=["air"])
    conditions = index_conditions(project, ["zeppelin", "harvest", "ai"])
    assert [name for name, condition in conditions.items() if condition] == ["zeppelin"]
    assert index_conditions(project, []) == {}
    rows = Session.objects.filter(conditions["zeppelin"])
    assert [each.name for each in rows] == ["Zeppelin"]
    with as_owner() as cursor:  # which is what the function runs as
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN SELECT FROM tm_session WHERE {INDEXED} @> tm_trigrams('ZEPP')")
        assert "tm_session_trigrams" in str(cursor.fetchall())
        cursor.execute("SELECT prosrc FROM pg_proc WHERE proname = 'tm_sessions_with'")
        assert INDEXED in str(cursor.fetchone()).replace("public.", "")
    assert len(named(project, "harvest", mode="text")) == names.MOST
    assert list(sessions_matching(project, SessionQuery(named="ZEPP"))) == list(rows)


def test_a_session_that_is_named_so_is_on_the_first_page_only(project: Project) -> None:
    session_of(project, message("the orchard"), name="Orchard plan")
    for name in "abc":
        session_of(project, message("an orchard, the orchard"), name=name)
    index(project)
    names, page = list[str](), found(project, "orchard", mode="text", limit=1)
    names += [group.session.name for group in page.groups]
    while page.next is not None:
        page = found(project, "orchard", mode="text", limit=1, after=page.next)
        names += [group.session.name for group in page.groups]
    assert names[0] == "Orchard plan"
    assert sorted(names) == ["Orchard plan", "a", "b", "c"]
