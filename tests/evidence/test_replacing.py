"""Key replacement, also during sealing; bundles name the replacing key."""

import json
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from pytest_django.fixtures import Settings

from tests.evidence.sessions import long_session, message
from tests.threads import blocked_queries, in_a_thread
from tests.verifier.bundles import packed, unpacked
from tests.waiting import wait_until
from timemachine.core.accounts.models import Project
from timemachine.evidence.bundles import exporting
from timemachine.evidence.log import keys, project_log
from timemachine.evidence.models import SealCheckpoint
from timemachine.evidence.sealing import seals
from timemachine.recording.sessions.commands import append
from timemachine.recording.sessions.models import Session
from timemachine.verifier import tm_verify


def test_a_seal_made_during_key_replacement_is_signed_by_the_new_key(
    transactional_db: None, project: Project
) -> None:
    session = long_session(project, 2)
    seals.seal_session(session.id)
    append(session.id, [message("later")])
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            new = project_log.replace_key(project, by="ada@example.org")
            sealed = in_a_thread(pool, lambda: seals.seal_session(session.id))
            wait_until(blocked_queries, seconds=20)
        sealed.result(20)
    assert SealCheckpoint.objects.latest("id").key == new


@pytest.mark.django_db
def test_a_bundle_links_the_key_that_sealed_it_to_the_current_key(project: Project, tmp_path: Path) -> None:
    session = long_session(project, 2)
    seals.seal_session(session.id)
    first = keys.key_in_use(project).fingerprint
    assert "replaced.json" not in unpacked(written(session, audience=exporting.Audience(link={"id": "x"})))
    second, third = (project_log.replace_key(project, by="ada@example.org").fingerprint for _ in range(2))
    files = unpacked(written(session, audience=exporting.Audience(link={"id": "x"})))
    assert b"ada@example.org" not in files["replaced.json"]
    report = tm_verify.verify(str(packed(files, tmp_path / "x.zip")), third)
    assert report.problems == []
    assert [(each.replaces, each.key, each.vouched) for each in report.replaced] == [
        (first, second, True),
        (second, third, True),
    ]
    assert f"{first} by {second}, under the earlier one's signature" in "\n".join(
        tm_verify.report_lines(report)
    )
    assert "KEY REPLACED" in tm_verify.verify(str(tmp_path / "x.zip"), first).problems[0]["says"]


@pytest.mark.django_db
def test_a_replaced_key_that_could_not_be_read_vouches_for_no_successor(
    project: Project, settings: Settings, tmp_path: Path
) -> None:
    session = long_session(project, 2)
    seals.seal_session(session.id)
    settings.SECRET_KEY = "another one, under which the first cannot be read"
    project_log.replace_key(project, by="ada@example.org")
    key = keys.key_in_use(project).fingerprint
    report = tm_verify.verify(str(packed(unpacked(written(session)), tmp_path / "x.zip")), key)
    assert (report.problems, [each.vouched for each in report.replaced]) == ([], [False])
    assert f"by {key}, which the earlier one did not sign" in "\n".join(tm_verify.report_lines(report))


@pytest.mark.django_db
def test_changes_to_the_entries_of_replaced_keys_are_detected(project: Project, tmp_path: Path) -> None:
    session = long_session(project, 2)
    seals.seal_session(session.id)
    project_log.replace_key(project, by="ada@example.org")
    files = unpacked(written(session))
    (replacement,) = json.loads(files["replaced.json"])
    sealed = json.loads(files["session/log.json"])
    entry = replacement["entries"][0]
    forged = entry["entry"].replace('"key":"ed25519:', '"key":"ed25519:0')
    for wrong, where, says in (
        (5, "replaced.json", "This is not a log entry."),
        ({**replacement, "entries": [{**entry, "entry": forged}]}, "replaced.json 1", "is not in the log that was signed"),
        ({**replacement, "entries": [{**entry, "path": 5}]}, "replaced.json", "This is not a log entry."),
        (
            {"checkpoint": sealed["checkpoint"], "entries": [{name: sealed[name] for name in ("index", "entry", "path")}]},
            "replaced.json 0",
            "The entry is about something else.",
        ),
    ):  # fmt: skip
        files["replaced.json"] = json.dumps([wrong]).encode()
        report = tm_verify.verify(str(packed(files, tmp_path / "x.zip")))
        assert report.replaced == []
        assert any(each["where"] == where and says in each["says"] for each in report.problems), (
            wrong,
            report.problems,
        )


def written(session: Session, **options: Any) -> bytes:
    """Return the bytes of a session's bundle."""
    target = BytesIO()
    exporting.write_session(target, session, **options)
    return target.getvalue()
