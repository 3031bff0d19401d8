"""Replacing SECRET_KEY loses nothing: the earlier key is a fallback until everything is encrypted again."""

import pytest
from django.core.management import CommandError
from django.test import Client
from pytest_django import Settings

from tests.core.accounts.people import PASSWORD, member
from tests.core.accounts.test_operator_commands import command_output
from tests.web.settings.test_second_factor import SECRET, with_app
from timemachine.core.accounts.known_browsers import id_of, token_for
from timemachine.core.accounts.models import Project
from timemachine.core.accounts.second_factor.apps import secret_of
from timemachine.core.pure.home import secret_key_file
from timemachine.core.pure.secret_settings import secret_keys
from timemachine.evidence.log.keys import key_in_use, why_unusable
from timemachine.llm.commands import add_server, set_key
from timemachine.llm.pure.catalogue import ModelName
from timemachine.llm.queries import connection_of
from timemachine.recording.sessions.models import ErasedSession

KEY = "sk-project-0123456789-wxyz"


def test_after_reencrypting_the_earlier_key_is_not_needed(project: Project, settings: Settings) -> None:
    set_key(project.id, "openai", KEY, by="ada")
    add_server(
        project.id, name="house", base_url="https://8.8.8.8/v1", api_key=KEY, default_model="m", by="a"
    )
    signing_key = key_in_use(project)
    user = with_app(member(project, "viewer").user)
    old, settings.SECRET_KEY = settings.SECRET_KEY, "new"
    with pytest.raises(
        CommandError, match=r"^Not readable: 1 provider key, 1 model server key, 1 signing key, 1 auth"
    ):
        command_output("reencrypt")
    settings.SECRET_KEY_FALLBACKS = [old]
    assert command_output("reencrypt").splitlines() == [
        f"1 {noun} encrypted under the current SECRET_KEY."
        for noun in ("provider key", "model server key", "signing key", "authenticator app")
    ]
    settings.SECRET_KEY_FALLBACKS = []
    for model in ("openai:gpt-4o-mini", "house:m"):
        provider, _, name = model.partition(":")
        assert connection_of(project.id, ModelName(provider=provider, model=name)).api_key == KEY
    signing_key.refresh_from_db()
    assert why_unusable(signing_key) is None
    assert secret_of(user.second_factors.get()) == SECRET
    assert "1 signing key" in command_output("reencrypt")  # again, without harm


def test_people_stay_signed_in_and_known_while_the_earlier_key_is_a_fallback(
    project: Project, settings: Settings
) -> None:
    user = member(project, "viewer").user
    client, token = Client(), token_for(user)
    assert client.post("/sign-in/", {"email": user.email, "password": PASSWORD}).status_code == 303
    old, settings.SECRET_KEY = settings.SECRET_KEY, "new"
    assert id_of(token, user.email) is None
    settings.SECRET_KEY_FALLBACKS = [old]
    assert id_of(token, user.email) is not None
    assert client.get("/settings/").status_code == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert client.get("/settings/").status_code == 200  # renewed by the last request


def test_a_fallback_that_recognises_deleted_sessions_is_kept(project: Project, settings: Settings) -> None:
    ErasedSession.objects.create(
        project=project,
        session=project.id,
        key_mark="m",
        actions=1,
        erased_at=project.created_at,
        log_index=0,
    )
    assert "Keep the fallback" not in command_output("reencrypt")
    settings.SECRET_KEY_FALLBACKS = ["old"]
    assert "Keep the fallback: 1 deleted session can be" in command_output("reencrypt")


def test_the_key_in_the_data_folder_is_replaced_and_kept_as_a_fallback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    secret_key_file().parent.mkdir(parents=True, exist_ok=True)
    secret_key_file().write_text("first\n")
    try:
        assert "Restart Time Machine" in command_output("new_secret_key")
        new, *earlier = secret_keys()
        assert (len(new) > 50, earlier) == (True, ["first"])
        assert secret_key_file().stat().st_mode & 0o777 == 0o600
    finally:
        secret_key_file().unlink()
    monkeypatch.setenv("SECRET_KEY", "given")
    with pytest.raises(CommandError, match=r"^SECRET_KEY is set in the environment\."):
        command_output("new_secret_key")
    monkeypatch.setenv("SECRET_KEY_FILE", "also")
    with pytest.raises(CommandError, match=r"^Both SECRET_KEY and SECRET_KEY_FILE are set\."):
        command_output("new_secret_key")
