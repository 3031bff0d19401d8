"""What an import keeps, and what it answers where another one is at work."""

from typing import Any

import pytest

from tests.exchange.samples import archive, lines
from timemachine.accounts.models import Project
from timemachine.exchange.commands import import_file
from timemachine.recording.models import Action
from timemachine.timeline.document import action_json, with_everything

pytestmark = pytest.mark.django_db


def test_no_secret_of_the_environment_of_an_imported_checkpoint_is_kept(project: Project) -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789"
    snapshot: Any = {
        "id": "x",
        "state": {"environment": {"OPENAI_API_KEY": key, "HOME": "/root"}, "mood": "good"},
    }
    event = {"timestamp": 1_772_359_200, "layer": "sys", "type": "file.open", "data": {"path": "a.py"}}
    import_file(project, archive({"events.jsonl": lines(event), "snapshots.json": [snapshot]}), by="test")
    found = action_json(with_everything(Action.objects.filter(kind="checkpoint")).get())
    assert key not in str(found)
    for state in (found["output"], found["source"]["state"]):
        assert (state["environment"]["HOME"], state["mood"]) == ("/root", "good")
