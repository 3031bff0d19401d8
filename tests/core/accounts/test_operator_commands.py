"""Terminal commands of the server's operator."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.core.accounts.people import member, person
from timemachine.core.accounts import queries
from timemachine.core.accounts.commands.keys import authenticate_key
from timemachine.core.accounts.commands.links import use_sign_in_link
from timemachine.core.accounts.models import ApiKey, Project
from timemachine.core.pure.errors import NotFound
from timemachine.core.pure.home import local_key_file


def command_output(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def secret_in(address: str) -> str:
    return address.rstrip("/").rpartition("/")[2]


def test_preparing_prints_one_line_of_json_with_a_sign_in_link_for_the_administrator(db: None) -> None:
    for _ in range(2):
        printed = command_output("prepare")
        assert printed.count("\n") == 1
        address = json.loads(printed)["sign_in_url"]
        assert address.startswith("http://127.0.0.1:8000/sign-in/")
        assert use_sign_in_link(secret_in(address)).user == queries.first_administrator()
    assert authenticate_key(local_key_file().read_text()).project == queries.first_project()


def test_preparing_can_be_told_to_store_no_key_and_then_needs_a_secret_key(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CommandError, match=r"^SECRET_KEY is not set\."):
        command_output("prepare", "--no-local-key")
    monkeypatch.setenv("SECRET_KEY", "k" * 50)
    local_key_file().unlink(missing_ok=True)
    command_output("prepare", "--no-local-key")
    assert not local_key_file().exists()
    assert not ApiKey.objects.exists()


def test_a_lost_link_can_be_replaced_by_command(project: Project) -> None:
    administrator, viewer = member(project, "admin").user, member(project, "viewer").user
    assert use_sign_in_link(secret_in(command_output("sign_in_link").strip())).user == administrator
    printed = command_output("sign_in_link", "--email", "Viewer@example.org")
    assert use_sign_in_link(secret_in(printed.strip())).user == viewer


def test_a_link_for_an_unknown_person_is_refused_in_one_sentence(db: None) -> None:
    with pytest.raises(CommandError, match=r"^No member has the e-mail address nobody@example\.org\.$"):
        command_output("sign_in_link", "--email", "nobody@example.org")
    with pytest.raises(CommandError, match=r"Run `timemachine manage prepare` first"):
        command_output("sign_in_link")


def test_another_project_can_be_created_by_command(db: None) -> None:
    user = person("a@example.org")
    project = Project.objects.get(
        pk=command_output("make_project", "Zweites", "--administrator", user.email).strip()
    )
    assert [(one.user, one.role) for one in queries.members_of(project)] == [(user, "admin")]
    with pytest.raises(CommandError, match="Give the project a name"):
        command_output("make_project", " ", "--administrator", user.email)
    with pytest.raises(CommandError, match="No member has"):
        command_output("make_project", "Drittes", "--administrator", "b@example.org")
    with pytest.raises(NotFound):
        queries.person("b@example.org")
