"""Bundles created once by the product: of a session that was sealed twice, of its audit replay, of a comparison over it, and of the project's log."""

import pickle
from dataclasses import dataclass
from io import BytesIO

import pytest
from django.db import transaction
from pytest_django.plugin import DjangoDbBlocker

from tests.builders import compared, recorded_session, replayed
from tests.locking import one_at_a_time, shared_folder
from timemachine.core.accounts.models import Project
from timemachine.evidence.bundles import exporting
from timemachine.evidence.log import keys
from timemachine.evidence.sealing import seals
from timemachine.recording.sessions.commands import append
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.replay.runs.pure.options import ReplayOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """The bytes of each bundle, and the fingerprint of the key that signed them."""

    session: bytes
    older_session: bytes
    older_log: bytes
    replay: bytes
    comparison: bytes
    log: bytes
    key: str


@pytest.fixture(scope="session")
def made(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Made:
    """Return the bundles, created once for all processes of a run."""
    cached = shared_folder(tmp_path_factory) / "bundles"
    with one_at_a_time(cached.with_suffix(".lock")):
        if not cached.exists():
            cached.write_bytes(pickle.dumps(_made(django_db_blocker)))
        found: Made = pickle.loads(cached.read_bytes())
    return found


def _made(django_db_blocker: DjangoDbBlocker) -> Made:
    """Return the bundles and delete what they were created from."""
    with django_db_blocker.unblock(), transaction.atomic():
        project = Project.objects.create(name="Prüfung")
        session = recorded_session(project)
        seals.seal_session(session.id)
        older = BytesIO(), BytesIO()
        exporting.write_session(older[0], session)
        exporting.write_log(older[1], project)
        append(session.id, [ActionDraft(kind="message", role="user", output="Danke 🕰")], imported=True)
        replay = replayed(session, ReplayOptions(audit=True, use_model="local:extractive-3", reason="a test"))
        session.refresh_from_db()
        comparison = compared(project, [session], "local:extractive-1", "local:extractive-3")
        files = BytesIO(), BytesIO(), BytesIO(), BytesIO()
        exporting.write_session(files[0], session)
        exporting.write_replay(files[1], replay)
        exporting.write_comparison(files[3], comparison)
        exporting.write_log(files[2], project)
        found = Made(
            older_session=older[0].getvalue(),
            older_log=older[1].getvalue(),
            log=files[2].getvalue(),
            session=files[0].getvalue(),
            replay=files[1].getvalue(),
            comparison=files[3].getvalue(),
            key=keys.key_in_use(project).fingerprint,
        )
        transaction.set_rollback(True)
    return found
