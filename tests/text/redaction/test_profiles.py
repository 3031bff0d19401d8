"""Redaction profiles of a project: created, changed by a new version, retired."""

import re
from dataclasses import replace
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, transaction

from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound
from timemachine.governance.sharing.commands.links import create_link
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.pure.terms import Terms
from timemachine.governance.sharing.scope import Scope
from timemachine.recording.sessions.commands import append, start_session
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.text.redaction import commands
from timemachine.text.redaction.commands import change_profile, make_profile, retire_profile
from timemachine.text.redaction.models import RedactionProfile
from timemachine.text.redaction.pure.marks import NAMES
from timemachine.text.redaction.pure.profile import BUILT_IN
from timemachine.text.redaction.pure.rules import Rules, read_rules
from timemachine.text.redaction.queries import as_profile, choices_of, profile_of, profile_row

pytestmark = pytest.mark.django_db
RULES = read_rules({"detect": ["email"], "fields": ["agent"]})
OTHER = read_rules({"detect": ["card"]})


def test_every_project_has_a_profile_by_default(project: Project) -> None:
    assert choices_of(project) == [BUILT_IN]
    assert BUILT_IN.handle == "built-in"
    assert profile_of(project, "built-in") is profile_of(project, "Secrets and personal data") is BUILT_IN
    assert BUILT_IN.rules.as_json()["detect"] == [
        "secret",
        "email",
        "phone",
        "card",
        "iban",
        "ssn",
        "password",
        "image",
    ]


def test_a_link_created_with_an_earlier_version_keeps_its_rules(project: Project) -> None:
    assert BUILT_IN.version == 4
    session = start_session(project, name="DE89 3704 0044 0532 0130 00", by="test")
    append(session.id, [ActionDraft(kind="event")])
    first = replace(BUILT_IN, version=1, rules=Rules(detect=("secret", "email", "phone", "card")))
    for profile, reads in ((first, session.name), (BUILT_IN, "[withheld: bank account (IBAN)]")):
        made, _ = create_link(project, session, Terms(redaction=profile), by="test")
        link = ShareLink.objects.select_related("session").get(pk=made.pk)
        assert Scope(link=link).session().name == reads


@pytest.mark.parametrize("name", ["iban", "ssn"])
def test_a_new_detector_does_not_take_the_name_of_a_pattern(name: str) -> None:
    for called in (name, name.upper()):
        rules = {"patterns": [{"name": called, "pattern": "x"}]}
        assert read_rules(rules).patterns[0].name == called
    assert re.fullmatch(r"[\w .-]+", NAMES[name]) is None


def test_a_profile_is_found_by_its_id_and_by_its_name(project: Project, other_project: Project) -> None:
    made = make_profile(project, " Auditors ", RULES, by="anna")
    assert (made.name, made.version, made.created_by) == ("Auditors", 1, "anna")
    found = profile_of(project, "Auditors")
    assert found == profile_of(project, str(made.id)) == as_profile(made)
    assert found.handle == str(made.id)
    assert (found.rules, found.rules.paths) == (RULES, RULES.paths)
    assert choices_of(project) == [BUILT_IN, found]
    for name in ("Auditors", str(made.id), "\x00", str(uuid4())):
        with pytest.raises(NotFound):
            profile_row(other_project, name)


def test_an_edit_creates_a_new_version_and_keeps_the_previous_one(project: Project) -> None:
    first = make_profile(project, "Auditors", RULES, by="anna")
    second = change_profile(first, OTHER, by="ben")
    assert (second.version, second.created_by) == (2, "ben")
    assert profile_of(project, "Auditors").rules == OTHER
    assert profile_of(project, str(first.id)).rules == RULES
    assert change_profile(second, OTHER, by="ben") == second
    with pytest.raises(Conflict) as refusal:
        change_profile(first, OTHER, by="ben")
    assert refusal.value.code == "newer_version"


def test_the_database_refuses_to_change_a_version(project: Project) -> None:
    made = make_profile(project, "Auditors", RULES, by="anna")
    retire_profile(made, by="ben")
    for column in ("rules = '{}'", "name = 'x'", "retired_by = 'c'"):
        with (
            pytest.raises(DatabaseError, match="never changes"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(f"UPDATE tm_redaction_profile SET {column}")


def test_a_retired_profile_cannot_be_chosen_and_a_new_one_continues_its_versions(
    project: Project,
) -> None:
    first = make_profile(project, "Auditors", RULES, by="anna")
    second = change_profile(first, OTHER, by="anna")
    retired = retire_profile(second, by="ben")
    assert retired.retired_by == "ben"
    assert retire_profile(first, by="carla").retired_by == "ben"
    assert choices_of(project) == [BUILT_IN]
    for name in ("Auditors", str(first.id)):
        with pytest.raises(InvalidInput) as refusal:
            profile_of(project, name)
        assert refusal.value.code == "redaction_retired"
    with pytest.raises(Conflict):
        change_profile(second, RULES, by="anna")
    assert make_profile(project, "Auditors", RULES, by="anna").version == 3
    assert choices_of(project)[1].version == 3


def test_a_name_is_taken_only_once(project: Project, other_project: Project) -> None:
    form = uuid4()
    made = make_profile(project, "Auditors", RULES, by="anna", profile_id=form)
    assert make_profile(project, "Auditors", RULES, by="anna", profile_id=form) == made
    for name in ("Auditors", "Secrets and personal data", "built-in"):
        with pytest.raises(Conflict):
            make_profile(project, name, RULES, by="anna")
    with pytest.raises(Conflict):  # the id from a form that someone else sent
        make_profile(other_project, "Auditors", RULES, by="x", profile_id=form)
    for name in ("", " ", "a/b", "x" * 101, "\ud800"):
        with pytest.raises(InvalidInput):
            make_profile(project, name, RULES, by="anna")
    assert RedactionProfile.objects.count() == 1


def test_a_project_has_a_limited_number_of_profiles(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "MOST_PROFILES", 1)
    make_profile(project, "a", RULES, by="anna")
    with pytest.raises(Conflict) as refusal:
        make_profile(project, "b", Rules(detect=("card",)), by="anna")
    assert refusal.value.code == "too_many_profiles"
