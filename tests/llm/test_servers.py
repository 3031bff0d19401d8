"""Model servers of a project: added by its administrator, called with a key that cannot be read back."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from pytest_django import Settings

from tests.llm.asking import request_to
from tests.stub_model_server import Script, StubModelServer
from timemachine.core.accounts.models import Project, User
from timemachine.core.pure.errors import Conflict, InvalidInput, ModelFailed, NotFound, Unavailable
from timemachine.llm.calling import complete
from timemachine.llm.commands import add_server, remove_server
from timemachine.llm.models import ModelServer
from timemachine.llm.pure.catalogue import LOCAL_CONNECTION, ModelName
from timemachine.llm.queries import connection_of, model_choices, servers_of, usable_model

KEY = "sk-house-0123456789"
HOUSE_MODEL = ModelName(provider="house", model="qwen3")


@pytest.fixture
def stub(settings: Settings) -> Iterator[StubModelServer]:
    """Return a server that the operator allows."""
    settings.MODEL_HOSTS_ALLOWED = ["127.0.0.1"]
    with StubModelServer() as server:
        yield server


@pytest.fixture(autouse=True)
def nothing_allowed(settings: Settings) -> None:
    settings.MODEL_HOSTS_ALLOWED = []


def add(project: Project, **changes: Any) -> None:
    stated = {
        "name": "house",
        "base_url": "https://8.8.8.8/v1/",
        "api_key": KEY,
        "default_model": "qwen3",
        "by": "test",
    }
    add_server(project.id, **{**stated, **changes})


def test_an_added_server_is_listed_and_selectable_without_its_key(project: Project) -> None:
    add(project)
    (server,) = servers_of(project.id).values()
    assert (server.name, server.base_url, server.default_model) == ("house", "https://8.8.8.8/v1", "qwen3")
    assert server.has_key
    assert KEY not in repr(server)
    assert str(usable_model(project.id, "house")) == "house:qwen3"


def test_a_model_of_an_added_server_is_called_with_its_key(project: Project, stub: StubModelServer) -> None:
    add(project, base_url=f"{stub.url}/v1")
    stub.script(Script(answer="From the house."))
    completion = complete(request_to(connection_of(project.id, HOUSE_MODEL), model=HOUSE_MODEL))
    assert completion.text == "From the house."
    assert stub.calls()[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_server_no_longer_allowed_by_the_operator_is_called_only_if_public(
    project: Project, stub: StubModelServer, settings: Settings
) -> None:
    add(project, base_url=f"{stub.url}/v1")
    settings.MODEL_HOSTS_ALLOWED = []
    connection = connection_of(project.id, HOUSE_MODEL)
    assert connection.pinned
    with pytest.raises(ModelFailed, match="not on the public internet") as refused:
        complete(request_to(connection, model=HOUSE_MODEL))
    assert refused.value.code == "address_not_allowed"
    assert refused.value.facts["provider"] == "house"
    assert stub.calls() == []


def test_the_address_of_a_public_server_is_pinned_but_an_allowed_one_is_not(
    project: Project, stub: StubModelServer
) -> None:
    add(project)
    add(project, name="inner", base_url=stub.url)
    assert connection_of(project.id, HOUSE_MODEL).pinned
    assert not connection_of(project.id, ModelName(provider="inner", model="m")).pinned


def test_the_key_is_not_in_the_database(project: Project) -> None:
    add(project)
    stored = bytes(ModelServer.objects.get().encrypted_key or b"")
    assert stored
    assert KEY.encode() not in stored
    assert connection_of(project.id, HOUSE_MODEL).api_key == KEY


def test_a_server_may_have_no_key(project: Project) -> None:
    add(project, api_key=" ")
    assert not servers_of(project.id)["house"].has_key
    assert connection_of(project.id, HOUSE_MODEL).api_key is None


def test_a_key_survives_a_new_secret_only_if_the_old_one_is_available(
    project: Project, settings: Settings
) -> None:
    add(project)
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another secret"
    with pytest.raises(Unavailable, match="Remove the server and add it again") as refused:
        connection_of(project.id, HOUSE_MODEL)
    assert refused.value.code == "key_unreadable"
    settings.SECRET_KEY_FALLBACKS = [old]
    assert connection_of(project.id, HOUSE_MODEL).api_key == KEY


def test_a_server_belongs_to_its_project_only(project: Project, other_project: Project) -> None:
    add(project)
    assert servers_of(other_project.id) == {}
    with pytest.raises(InvalidInput, match="no model provider 'house'"):
        usable_model(other_project.id, "house")
    with pytest.raises(Unavailable, match="no longer has a model server named house"):
        connection_of(other_project.id, HOUSE_MODEL)
    with pytest.raises(NotFound):
        remove_server(other_project.id, "house", by="test")
    add(other_project, base_url="https://8.8.4.4/v1")
    assert servers_of(project.id)["house"].base_url == "https://8.8.8.8/v1"


def test_removing_a_server_deletes_its_key(project: Project) -> None:
    add(project)
    remove_server(project.id, "house", by="test")
    assert servers_of(project.id) == {}
    with pytest.raises(NotFound, match="no model server named 'house'"):
        remove_server(project.id, "house", by="test")


def test_a_name_is_unique_in_a_project(project: Project) -> None:
    add(project)
    with pytest.raises(Conflict, match="already has a model server named house") as refused:
        add(project, base_url="https://8.8.4.4/v1")
    assert refused.value.code == "name_taken"
    assert servers_of(project.id)["house"].base_url == "https://8.8.8.8/v1"


@pytest.mark.parametrize("name", ["openai", "claude", "local", "ollama", "xai"])
def test_the_name_of_a_built_in_provider_cannot_be_taken(project: Project, name: str) -> None:
    with pytest.raises(InvalidInput, match="built-in provider"):
        add(project, name=name)


@pytest.mark.parametrize("name", ["", "House", "my server", "a:b", "-a", "a--b", "a_b", "é", "x" * 41, "a\n"])
def test_a_name_is_a_slug(project: Project, name: str) -> None:
    with pytest.raises(InvalidInput, match="is not a valid name for a model server") as refused:
        add(project, name=name)
    assert refused.value.code == "bad_server_name"


def test_the_database_refuses_a_name_that_is_not_a_slug(project: Project) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        ModelServer.objects.create(project=project, name="a:b", base_url="https://8.8.8.8")


@pytest.mark.parametrize(
    "url",
    ["https://127.0.0.1/v1", "https://169.254.169.254/", "http://8.8.8.8/v1", "https://[::ffff:10.0.0.1]/"],
)
def test_an_internal_address_cannot_be_added(project: Project, url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        add(project, base_url=url)
    assert refused.value.code == "address_not_allowed"
    assert servers_of(project.id) == {}


@pytest.mark.parametrize(
    ("field", "value"),
    [("api_key", "a b"), ("api_key", "k" * 1001), ("api_key", "ké"), ("default_model", "a\nb")],
)
def test_a_key_or_model_that_cannot_be_sent_is_refused(project: Project, field: str, value: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        add(project, **{field: value})
    assert refused.value.facts["field"] == field


def test_a_server_records_who_added_it_and_outlives_them(project: Project) -> None:
    person = User.objects.create(email="ada@example.com")
    add(project, created_by_id=person.pk)
    assert ModelServer.objects.get().created_by == person
    person.delete()
    assert ModelServer.objects.get().created_by_id is None


def test_an_empty_text_means_the_default_model(project: Project, settings: Settings) -> None:
    settings.DEFAULT_MODEL = "local:extractive-5"
    assert str(usable_model(project.id, "")) == "local:extractive-5"
    assert connection_of(project.id, usable_model(project.id, "")) is LOCAL_CONNECTION


def test_a_model_without_its_key_is_refused_by_name(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(Unavailable, match="OPENAI_API_KEY is not set"):
        usable_model(project.id, "openai")


def test_a_form_offers_the_project_s_own_servers(project: Project) -> None:
    add(project)
    assert "house:qwen3" in {str(choice.name) for choice in model_choices(project.id)}
