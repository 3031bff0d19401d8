"""The demo over HTTP."""

from tests.api.conftest import Program
from timemachine.governance.sharing.models import ShareLink
from timemachine.knowledge.models import Frame
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.worker import work


def test_the_demo_is_loaded_once_and_removed_completely(api: Program) -> None:
    made = api.post("/demo").json()
    assert made["new"]
    assert not api.post("/demo").json()["new"]
    for replay in Replay.objects.order_by("created_at"):
        work(replay.id, "test")
    debug = Replay.objects.get(kind="debug")
    step = api.get(f"/replays/{debug.id}/steps/2").json()
    ranks = {hit["title"]: hit["rank"] for hit in step["new"]["hits"]}
    assert ranks["Emergency plastic outside the home country"] == 12
    assert "12 francs" in step["original"]["output"]
    assert "45 francs" in api.get("/sessions/demo-card-desk/actions", kind="ask").json()["items"][1]["output"]
    assert api.delete("/demo").json() == {"removed": True}
    for model in (Session, Action, Replay, Frame, ShareLink):
        assert not model.objects.exists()
    assert api.delete("/demo").json() == {"removed": False}
