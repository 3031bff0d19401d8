"""Templates of shared pages get read models: nothing in their context is a row of the database."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import pytest
from django.db.models import Model, QuerySet
from django.template import Context
from django.utils.functional import LazyObject

from tests.web.share_worlds import WORLDS, World
from timemachine.core.accounts.models import Project

pytestmark = pytest.mark.django_db
PAGES = ("shared", "shared_step", "shared_cell")
OF_DJANGO = {"request", "user", "perms", "messages", "csrf_token"}


def rows_in(value: Any, place: str) -> Iterator[str]:
    """Where in a value there are rows of the database, or what would read some."""
    if isinstance(value, Model | QuerySet):
        yield f"{place} is a {type(value).__name__}"
    for name, each in inside(value):
        yield from rows_in(each, f"{place}{name}")


def inside(value: Any) -> Iterable[tuple[str, Any]]:
    """What a value is made of, by how code reads it."""
    if isinstance(value, LazyObject):
        return [("", value.__class__ and value._wrapped)]  # the first makes it read what it stands for
    if isinstance(value, Mapping):
        return [(f"[{name!r}]", each) for name, each in value.items()]
    if isinstance(value, list | tuple | set | frozenset):
        return [(f"[{number}]", each) for number, each in enumerate(value)]
    if is_dataclass(value):
        return [(f".{each.name}", getattr(value, each.name)) for each in fields(value)]
    return []


@pytest.mark.parametrize("make", WORLDS)
def test_no_template_of_a_shared_page_gets_a_row_of_the_database(
    make: Callable[[Project, Project], World], project: Project, other_project: Project
) -> None:
    world = make(project, other_project)
    for address in world.addresses({name: world.inside[name] for name in PAGES if name in world.inside}):
        answer = world.visitor.get(address)
        assert answer.status_code == 200, address
        for context in answer.context:
            assert isinstance(context, Context)
            shown = {name: each for name, each in context.flatten().items() if name not in OF_DJANGO}
            assert "link" in shown
            assert list(rows_in(shown, address)) == []


def test_a_row_is_found_wherever_it_is(project: Project) -> None:
    assert list(rows_in({"steps": [(1, project)]}, "page")) == ["page['steps'][0][1] is a Project"]
