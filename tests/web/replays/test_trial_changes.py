"""The changes of a trial in words, next to what was recorded; and its page while it waits."""

import re
from typing import Any

import pytest
from django.test import Client

from tests.builders import recorded_session
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.recording.sessions.models import Action
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.worker import work
from timemachine.web.replays.presenters.trial_changes import trial_changes

RECORDED = Action(
    kind="ask",
    model="local:extractive-1",
    retrieval={"mode": "hybrid", "top_k": 8, "adaptive": False},
    parameters={"temperature": 0.2},
)


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        ({"step": 2, "as_of": "recorded"}, []),
        ({"step": 2, "as_of": "now"}, ["collection as it is now"]),
        ({"step": 2, "use_model": "openai:x"}, ["model openai:x instead of local:extractive-1"]),
        ({"step": 2, "question": "Why?"}, ["a different question, shown below"]),
        ({"step": 2, "frames": [2, 7]}, ["passages #2, #7 instead of the 8 recorded ones"]),
        ({"step": 2, "frames": []}, ["passages none instead of the 8 recorded ones"]),
        ({"step": 2, "top_k": 3}, ["top k 3 instead of 8"]),
        ({"step": 2, "search_mode": "lexical"}, ["search mode lexical instead of hybrid"]),
        ({"step": 2, "adaptive": True}, ["cut-off adaptive instead of exactly top-k"]),
        ({"step": 2, "temperature": 0.9}, ["temperature 0.9 instead of 0.2"]),
        ({"step": 2, "seed": 7, "system_prompt": "Be brief."}, ["seed 7", "system prompt Be brief."]),
    ],
)
def test_each_change_is_described_next_to_what_was_recorded(
    options: dict[str, Any], changes: list[str]
) -> None:
    assert trial_changes(options, RECORDED, 8) == changes


def test_a_model_in_place_of_an_unrecorded_one_is_described_as_such() -> None:
    assert trial_changes({"use_model": "x:y"}, Action(kind="ask"), 0) == [
        "model x:y instead of an unrecorded one"
    ]


@pytest.fixture
def browser(project: Project) -> Client:
    return browser_of(project)


def test_the_page_of_a_waiting_trial_shows_its_changes_and_claims_no_result(
    browser: Client, project: Project
) -> None:
    session = recorded_session(project)
    ask = Action.objects.filter(session=session, kind="ask").order_by("sequence").first()
    assert ask is not None
    form = f"/sessions/{session.id}/steps/{ask.sequence}/trial/"
    recorded_values = {
        name: browser.get(form).context["form"][name].value() for name in ("question", "frames")
    }
    sent = browser.post(form, recorded_values | {"model": "local:extractive-5"})
    waiting = browser.get(sent["Location"]).text
    assert "local:extractive-5 instead of" in waiting
    assert "No frames were recorded" not in waiting
    assert "They appear here when this step has finished." in waiting
    poll = re.search(r'hx-get="([^"]+)" hx-trigger="every 1s" hx-target="#step"', waiting)
    assert poll is not None
    htmx = {"HX-Request": "true", "HX-Target": "step"}
    assert browser.get(poll[1], headers=htmx).status_code == 204
    work(Replay.objects.latest("created_at").id, "test")
    part = browser.get(poll[1], headers=htmx).text
    assert part.lstrip().startswith('<div id="step"')
    assert "hx-get" not in part[: part.index(">")]
    assert f'data-announce="Step {ask.sequence}: ' in part
    repeated = browser.post(form, recorded_values)
    replay = Replay.objects.latest("created_at")
    work(replay.id, "test")
    done = browser.get(repeated["Location"]).text
    assert "Nothing changed: repeated as recorded." in done
    assert "They appear here when this step has finished." not in done
    assert f"Trial at step {ask.sequence}" in browser.get(f"/replays/{replay.id}/").text
