"""The same records with the same disclosure produce the same bytes at any time."""

from collections.abc import Callable
from io import BytesIO
from typing import IO, Any

import pytest

from tests.builders import compared, recorded_session, replayed
from timemachine.core.accounts.models import Project
from timemachine.evidence.bundles import exporting
from timemachine.evidence.sealing import seals
from timemachine.governance.sharing.commands.links import create_link
from timemachine.governance.sharing.scope import Scope
from timemachine.replay.runs.pure.options import ReplayOptions

pytestmark = pytest.mark.django_db
AUDIT = ReplayOptions(audit=True, reason="a test")


def made(write: Callable[[IO[bytes]], Any]) -> bytes:
    target = BytesIO()
    write(target)
    return target.getvalue()


def test_a_bundle_has_the_same_bytes_whenever_it_is_created(project: Project) -> None:
    session = recorded_session(project)
    seals.seal_session(session.id)
    replay = replayed(session, AUDIT)
    comparison = compared(project, [session], "local:extractive-1", "local:extractive-3")
    link, _ = create_link(project, session, by="test")
    writers: dict[str, Callable[[IO[bytes]], Any]] = {
        "session": lambda target: exporting.write_session(target, session),
        "replay": lambda target: exporting.write_replay(target, replay),
        "comparison": lambda target: exporting.write_comparison(target, comparison),
        "link": lambda target: Scope(link=link).write_evidence(target),
    }
    first = {name: made(write) for name, write in writers.items()}
    log = made(lambda target: exporting.write_log(target, project))
    assert {name: made(write) for name, write in writers.items()} == first
    assert made(lambda target: exporting.write_log(target, project)) == log
    other = recorded_session(project, key="other")
    made(lambda target: exporting.write_session(target, other))
    made(lambda target: exporting.write_replay(target, replayed(session, AUDIT)))
    assert {name: made(write) for name, write in writers.items()} == first
    assert made(lambda target: exporting.write_log(target, project)) != log
