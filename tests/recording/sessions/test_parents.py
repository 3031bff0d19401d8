"""Parent sessions: a branch is linked to its parent whichever is created first, and never in a cycle."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import transaction

from tests.threads import blocked_queries, in_a_thread
from tests.waiting import wait_until
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.branches import ancestors_of
from timemachine.recording.sessions.commands import start_session
from timemachine.recording.sessions.models import Session


def start(project: Project, key: str, parent: str | None = None) -> Session:
    """A session; its parent is given by key, as an import does."""
    return start_session(
        project, name=key, key=key, by="test", parent=None if parent is None else (parent, 3)
    )


@pytest.mark.django_db
@pytest.mark.parametrize("length", [2, 3, 5])
def test_sessions_that_name_each_other_as_parents_form_no_cycle(project: Project, length: int) -> None:
    for number in range(length):
        start(project, f"s{number}", f"s{(number + 1) % length}")
    found = Session.objects.order_by("key")
    named = {each.key: each.parent.key if each.parent else each.parent_key for each in found}
    assert named == {f"s{n}": f"s{(n + 1) % length}" for n in range(length)}
    assert [each.parent_sequence for each in found] == [3] * length
    assert len([each for each in found if each.parent is None]) == 1
    assert sorted(len(ancestors_of(each)) for each in found) == list(range(1, length + 1))


@pytest.mark.django_db
def test_an_existing_parent_may_be_given_by_key(project: Project) -> None:
    parent = start(project, "first")
    branch = start(project, "second", "first")
    assert (branch.parent_id, branch.parent_key, branch.parent_sequence) == (parent.id, None, 3)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("first", ["parent", "branch"])
def test_a_branch_and_its_parent_created_concurrently_are_linked(project: Project, first: str) -> None:
    both: list[tuple[str, str | None]] = [("parent", None), ("branch", "parent")]
    one, other = both if first == "parent" else reversed(both)
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            start(project, *one)
            second = in_a_thread(pool, lambda: start(project, *other))
            wait_until(blocked_queries)
        second.result()
    assert Session.objects.get(key="branch").parent == Session.objects.get(key="parent")
