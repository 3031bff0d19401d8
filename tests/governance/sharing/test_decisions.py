"""Every field that a share link could expose has a decision: shown by a read model, or not shown."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from typing import Any

import pytest
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model

from tests.governance.sharing.decisions import DECISIONS, START, Decision
from tests.governance.sharing.recorded import recorded
from timemachine.core.accounts.models import Project
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.read_models.links import SharedLink
from timemachine.governance.sharing.read_models.steps import DOCUMENT, HIT, RETRIEVAL
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.timeline.schemas.actions import ActionOut, HitOut, RetrievalOut, with_everything
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.runs.models import Replay

type Decisions = Mapping[type[Model], Decision]

WHERE = "tests/governance/sharing/decisions.py"


def fields_of(model: type[Model]) -> set[str]:
    """Return the columns and relations of a model by their names in code, including reverse relations."""
    return {
        getattr(each, "get_accessor_name", lambda: None)() or each.name for each in model._meta.get_fields()
    }


def related_model(model: type[Model], name: str) -> type[Model] | None:
    """Return the model that a relation leads to, or None for a column."""
    for each in model._meta.get_fields():
        if name in {each.name, getattr(each, "get_accessor_name", lambda: None)()}:
            return each.related_model if isinstance(each.related_model, type) else None
    raise FieldDoesNotExist(f"{model.__name__} has no field {name}")


def problems(
    start: type[Model],
    decisions: Decisions,
    fields_of: Callable[[type[Model]], set[str]] = fields_of,
) -> list[str]:
    """Yield missing or wrong decisions, for a model and along every shown relation."""
    found: list[str] = []
    visited, waiting = {start}, [start]
    while waiting:
        model = waiting.pop()
        decision = decisions.get(model)
        if decision is None:
            found.append(f"A share link leads to {model.__name__}. Decide on its fields in {WHERE}.")
            continue
        found += problems_of(model, decision, fields_of(model))
        for name in (decision.shown | decision.shown_as.keys()) & fields_of(model):
            related = related_model(model, name)
            if related is not None and related not in visited:
                visited.add(related)
                waiting.append(related)
    found += [
        f"No share link leads to {each.__name__}. Take it out of {WHERE}."
        for each in decisions.keys() - visited
    ]
    return found


def problems_of(model: type[Model], decision: Decision, actual: set[str]) -> Iterable[str]:
    """Yield missing or wrong decisions for one model."""
    shown, shown_as, not_shown = decision.shown, set(decision.shown_as), decision.not_shown
    for name in sorted(actual - shown - shown_as - not_shown):
        yield (
            f"{model.__name__}.{name}: may whoever opens a share link see it? Decide in {WHERE}: "
            "add it to a read model and to `shown` or `shown_as`, or to `not_shown`."
        )
    for name in sorted((shown | shown_as | not_shown) - actual):
        yield f"{model.__name__}.{name} does not exist any more. Take it out of {WHERE}."
    for name in sorted((shown & shown_as) | (shown & not_shown) | (shown_as & not_shown)):
        yield f"{model.__name__}.{name} is in two lists of {WHERE}."
    in_read_models = {each for read in decision.read_models for each in names_in(read)} & actual
    for name in sorted(in_read_models ^ shown):
        yield f"{model.__name__}.{name} is in `shown` of {WHERE} or in a read model, and not in both."
    for name, (read, shown_name) in sorted(decision.shown_as.items()):
        if shown_name not in names_in(read):
            yield f"{model.__name__}.{name} should be shown as {read.__name__}.{shown_name}, which does not exist."


def names_in(read_model: type[Any]) -> set[str]:
    return {each.name for each in dataclass_fields(read_model)}


def test_every_reachable_field_has_a_decision() -> None:
    assert problems(START, DECISIONS) == []


@pytest.mark.parametrize("model", [Session, Replay, Comparison])
def test_everything_that_can_be_shared_is_included(model: type[Model]) -> None:
    assert START is ShareLink
    assert model in DECISIONS


def test_a_new_column_fails_until_it_has_a_decision() -> None:
    """Simulates a migration that adds a column to recorded steps."""

    def with_a_new_column(model: type[Model]) -> set[str]:
        return fields_of(model) | ({"prompt_cache_key"} if model is Action else set())

    [problem] = problems(START, DECISIONS, with_a_new_column)
    assert problem.startswith("Action.prompt_cache_key: may whoever opens a share link see it?")
    assert WHERE in problem
    decision = DECISIONS[Action]
    decided = replace(decision, not_shown=decision.not_shown | {"prompt_cache_key"})
    assert problems(START, {**DECISIONS, Action: decided}, with_a_new_column) == []


def test_a_column_listed_as_shown_must_be_in_a_read_model() -> None:
    decision = DECISIONS[Session]
    listed = replace(decision, shown=decision.shown | {"user"}, not_shown=decision.not_shown - {"user"})
    [problem] = problems(START, {**DECISIONS, Session: listed})
    assert problem.startswith("Session.user is in `shown`")


def test_a_column_in_a_read_model_must_be_listed() -> None:
    decision = DECISIONS[ShareLink]
    hidden = replace(
        decision, shown=decision.shown - {"created_by"}, not_shown=decision.not_shown | {"created_by"}
    )
    [problem] = problems(START, {**DECISIONS, ShareLink: hidden})
    assert problem.startswith("ShareLink.created_by is in `shown`")


def test_a_shown_relation_leads_to_the_next_model() -> None:
    without = {model: each for model, each in DECISIONS.items() if model is not Action}
    assert any(each.startswith("A share link leads to Action.") for each in problems(START, without))


def test_a_field_shown_under_another_name_must_exist() -> None:
    decision = DECISIONS[Project]
    wrong = replace(decision, shown_as={"name": (SharedLink, "project")})
    [problem] = problems(START, {**DECISIONS, Project: wrong})
    assert problem == "Project.name should be shown as SharedLink.project, which does not exist."


def test_a_step_as_json_has_no_field_without_a_decision(project: Project) -> None:
    """The Raw tab shows only these. A field added to the API is also added here or left out, in `read_models/steps.py`."""
    session = recorded(project)
    steps = [
        ActionOut.of(each).model_dump() for each in with_everything(Action.objects.filter(session=session))
    ]
    assert {name for step in steps for name in step} == set(DOCUMENT)
    assert set(RetrievalOut.model_fields) == {*RETRIEVAL, "hits", "collection"}  # its name is not shown
    assert set(HitOut.model_fields) == set(HIT)
