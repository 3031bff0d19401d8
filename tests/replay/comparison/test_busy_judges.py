"""A comparison shows that a judge waits for a busy model, until when, and the provider's message."""

import json
import threading
import time
from datetime import datetime
from typing import Any, cast

import pytest
from django.db import connection

from tests.api.conftest import Program, program
from tests.builders import compared, recorded_session
from tests.provider_failures import as_vendors
from tests.stub_answers import Script
from tests.web.people import browser_of
from timemachine.cli.output.comparisons import judging_progress
from timemachine.client.generated.types import JudgesOut
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.replay.comparison.judge_queue import judge_waiting
from timemachine.replay.comparison.models import CellOpinion

JUDGE_REPLY = json.dumps({"relation": "different", "better": "neither", "reason": "By the passages."})
WAITS_FOR = 15


def test_a_judge_waiting_for_a_busy_model_is_shown_while_it_waits(
    transactional_db: None, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = compared(project, [recorded_session(project)], "local:extractive-1", "local:extractive-3")
    api, browser, address = program(project), browser_of(project), f"/comparisons/{made.id}"
    assert judge_status(api, address)["busy"] == {"calls": 0, "until": None}
    with as_vendors(monkeypatch) as stub:
        stub.script(Script(answer=JUDGE_REPLY))
        stub.script(Script(mode="429_then_ok", retry_after=str(WAITS_FOR), answer=JUDGE_REPLY))
        assert api.post(f"{address}/judgements", {"model": "openai:stub-judge"}).status_code == 202
        worker = threading.Thread(target=work, args=(made.id,))
        worker.start()
        judges = busy(api, address)
        page = browser.get(f"{address}/").text
        of_cell = browser.get(cell_that_waits(address)).text
        api.post(f"{address}/judgements/cancel")
        worker.join(WAITS_FOR)
    assert judges["busy"]["calls"] == 1
    remaining = datetime.fromisoformat(judges["busy"]["until"]) - now()
    assert abs(remaining.total_seconds()) < WAITS_FOR
    assert "1 busy call, next attempt by" in page
    assert "Too many requests; slow down." in page
    assert "The model is busy. Next attempt by" in of_cell
    assert "Too many requests; slow down." in of_cell
    assert "in progress; 1 busy call retried by " in judging_progress(cast("JudgesOut", judges))

    judges = judge_status(api, address)
    assert (judges["asking"], judges["busy"]) == (0, {"calls": 0, "until": None})
    assert "busy" not in browser.get(f"{address}/").text
    assert set(CellOpinion.objects.values_list("asked_again_at", "waits_because")) == {(None, None)}


def cell_that_waits(address: str) -> str:
    """The address of the page of the cell with the waiting judge."""
    waiting = CellOpinion.objects.get(asked_again_at__isnull=False)
    assert waiting.waits
    return f"{address}/cells/{waiting.step_id}/"


def work(comparison_id: Any) -> None:
    try:
        judge_waiting(comparison_id)
    finally:
        connection.close()


def judge_status(api: Program, address: str) -> dict[str, Any]:
    judges: dict[str, Any] = api.get(address).json()["judges"]
    return judges


def busy(api: Program, address: str) -> dict[str, Any]:
    """The judges as soon as one of them waits."""
    until = time.monotonic() + 20
    while not (judges := judge_status(api, address))["busy"]["calls"]:
        assert time.monotonic() < until, judges
        time.sleep(0.05)
    return judges
