"""What an import stores, and concurrent imports of the same file."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from tests.recording.importing.own_samples import OURS
from tests.recording.importing.sample_files import archive, lines
from tests.recording.importing.transcript_samples import CODEX_RECORDS
from tests.threads import in_a_thread
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import ImportedSession, import_file
from timemachine.recording.sessions.models import Action
from timemachine.recording.timeline.schemas.actions import ActionOut, with_everything

pytestmark = pytest.mark.django_db


def test_secrets_in_the_environment_of_an_imported_checkpoint_are_not_stored(project: Project) -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
    snapshot: Any = {
        "id": "x",
        "state": {"environment": {"OPENAI_API_KEY": key, "HOME": "/root"}, "mood": "good"},
    }
    event = {"timestamp": 1_772_359_200, "layer": "sys", "type": "file.open", "data": {"path": "a.py"}}
    import_file(project, archive({"events.jsonl": lines(event), "snapshots.json": [snapshot]}), by="test")
    found = ActionOut.of(with_everything(Action.objects.filter(kind="checkpoint")).get()).model_dump()
    assert key not in str(found)
    for state in (found["output"], found["source"]["state"]):
        assert (state["environment"]["HOME"], state["mood"]) == ("/root", "good")


@pytest.mark.django_db(transaction=True)
def test_concurrent_imports_of_a_file_give_one_session_and_one_answer(project: Project) -> None:
    file = lines(*CODEX_RECORDS)
    meeting = Barrier(4)

    def once() -> ImportedSession:
        meeting.wait()
        return import_file(project, file, by="test").sessions[0]

    with ThreadPoolExecutor() as pool:
        done = [each.result() for each in [in_a_thread(pool, once) for _ in range(4)]]
    assert len({each.session.id for each in done}) == 1
    assert len({each.actions for each in done}) == 1
    assert sorted(each.already_there for each in done) == [0, *[done[0].actions] * 3]
    assert Action.objects.count() == done[0].actions


def test_an_overlong_imported_session_name_is_shortened_and_reported(
    project: Project,
) -> None:
    head = OURS[0] | {"name": "n" * 2_000, "tags": ["t" * 1_001]}
    done = import_file(project, lines(head, *OURS[1:]), by="test")
    found = done.sessions[0].session
    assert (found.name, found.tags) == ("n" * 1_000, ["t" * 1_000])
    assert "of 1 session was cut to 1,000 characters" in done.report.notes[-1]
