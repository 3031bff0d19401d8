"""Looking up a model is cached for one second per project."""

import time

import pytest
from pytest_django import DjangoAssertNumQueries

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput, Unavailable
from timemachine.llm.queries import FRESH_SECONDS, ModelLookup

pytestmark = pytest.mark.django_db


def test_a_model_is_looked_up_once_and_a_removed_key_is_noticed_soon(
    project: Project, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
    reach = ModelLookup(project.id)
    name, connection = reach.model("openai:gpt-4o")
    assert (str(name), connection.api_key) == ("openai:gpt-4o", "sk-of-nobody")
    with django_assert_num_queries(0):
        assert reach.model("openai:gpt-4o") == (name, connection)
    monkeypatch.delenv("OPENAI_API_KEY")
    time.sleep(FRESH_SECONDS + 0.1)
    with pytest.raises(Unavailable, match="OPENAI_API_KEY is not set"):
        reach.model("openai:gpt-4o")


def test_a_failed_lookup_is_not_cached(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    reach = ModelLookup(project.id)
    with pytest.raises(Unavailable):
        reach.model("openai:gpt-4o")
    with pytest.raises(InvalidInput):
        reach.model("nobody:x")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
    assert str(reach.model("openai:gpt-4o")[0]) == "openai:gpt-4o"
