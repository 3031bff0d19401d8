"""Files over HTTP: put directly or uploaded for a worker, found again by source, and used by sessions."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from tests.api.conftest import Program, program
from tests.text.documents.files import pdf
from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import written
from timemachine.knowledge.models import Collection, Frame
from timemachine.recording.intake.worker import work
from timemachine.recording.sessions.models import Action

GUIDE = "# Guide\n\nHow it began.\n\n## Install\n\nRun the installer twice.\n"


def put_file(api: Program, name: str, data: bytes, into: str = "docs", **fields: str) -> Any:
    return api.client.post(
        f"/api/collections/{into}/files",
        {"file": SimpleUploadedFile(name, data), **fields},
        headers={"Authorization": f"Bearer {api.key}"},
    )


def test_a_small_file_is_put_at_once_with_the_location_of_each_passage(api: Program) -> None:
    answer = put_file(api, "guide.md", GUIDE.encode(), uri="urn:guide")
    assert answer.status_code == 201
    body = answer.json()
    assert body["report"] == {
        "new": 2,
        "already_there": 0,
        "ended": 0,
        "ended_frames": [],
        "edited": 0,
        "edited_frames": [],
        "skipped": [],
    }
    assert [(each["frame"], each["title"]) for each in body["frames"]] == [
        (0, "Guide"),
        (1, "Guide › Install"),
    ]
    start, end = body["frames"][1]["start"], body["frames"][1]["end"]
    assert GUIDE[start:end] == "## Install\n\nRun the installer twice."
    assert body["source"]["media_type"] == "text/markdown"

    frame = api.get("/collections/docs/frames/1").json()
    place = frame["versions"][0]["source"]
    assert (place["uri"], place["start"], place["end"], place["page"]) == ("urn:guide", start, end, None)
    assert place["url"].endswith(f"/collections/docs/sources/{body['source']['id']}/?frame=1&version=1")
    assert frame["used_by"] == {"sessions": [], "count": 0, "steps": 0, "at_least": False}
    listed = api.get("/collections/docs/sources").json()
    assert [(each["name"], each["frames"]) for each in listed["items"]] == [("guide.md", 2)]


def test_a_file_replaces_its_earlier_version(api: Program) -> None:
    put_file(api, "guide.md", GUIDE.encode())
    newer = put_file(api, "guide.md", GUIDE.replace("twice", "once").encode(), replace="true").json()
    ended = [{"frame": 1, "version": 1, "title": "Guide › Install", "edited": False}]
    counts = {
        "new": 1,
        "already_there": 1,
        "ended": 1,
        "ended_frames": ended,
        "edited": 0,
        "edited_frames": [],
        "skipped": [],
    }
    assert newer["report"] == counts
    stored = api.get("/collections/docs/frames/0").json()
    assert [each["id"] == newer["source"]["id"] for each in stored["files"]] == [True, False]
    assert stored["versions"][0]["source"]["id"] == stored["files"][1]["id"]
    assert [each["frames"] for each in api.get("/collections/docs/sources").json()["items"]] == [2, 1]
    texts = [each["text"] for each in api.get("/collections/docs/frames").json()["items"]]
    assert texts == ["# Guide\n\nHow it began.", "## Install\n\nRun the installer once."]


def test_a_small_file_waits_for_an_earlier_file_with_its_uri(api: Program) -> None:
    first = put_file(api, "guide.md", GUIDE.encode() * 10_000, replace="true")
    second = put_file(api, "guide.md", GUIDE.encode(), replace="true")
    assert (first.status_code, second.status_code) == (202, 202)
    assert put_file(api, "other.md", GUIDE.encode(), replace="true").status_code == 201


def test_a_pdf_is_uploaded_and_followed_until_it_is_done(api: Program) -> None:
    file = pdf([["Invoices are kept for ten years."]], title="Rules")
    answer = put_file(api, "rules.pdf", file)
    assert answer.status_code == 202
    intake = answer.json()["intake_id"]
    waiting = api.get(f"/intakes/{intake}").json()
    assert (waiting["status"], waiting["done"], waiting["total"], waiting["error"]) == (
        "waiting",
        0,
        None,
        None,
    )
    work(intake)
    done = api.get(f"/intakes/{intake}").json()
    assert (done["status"], done["done"], done["total"]) == ("done", 1, 1)
    assert done["report"] == {
        "new": 1,
        "already_there": 0,
        "ended": 0,
        "ended_frames": [],
        "edited": 0,
        "edited_frames": [],
        "skipped": [],
    }
    found = api.post("/collections/docs/find", {"query": "invoices"}).json()["hits"][0]
    assert (found["title"], found["metadata"]) == ("Rules, page 1", {"page": 1})


def test_the_current_frames_of_a_file_are_listed_in_pages(api: Program, stranger: Program) -> None:
    first = put_file(api, "guide.md", GUIDE.encode()).json()["source"]["id"]
    put_file(api, "guide.md", GUIDE.replace("twice", "once").encode(), replace="true")
    put_file(api, "other.md", GUIDE.encode(), into="others")
    frames = f"/collections/docs/sources/{first}/frames"
    assert [each["frame"] for each in api.get(frames).json()["items"]] == [0]
    newer = api.get("/collections/docs/sources").json()["items"][0]["id"]
    page = api.get(f"/collections/docs/sources/{newer}/frames", limit=1).json()
    rest = api.get(f"/collections/docs/sources/{newer}/frames", limit=1, after=page["next"]).json()
    listed = [(each["frame"], each["version"], each["title"], each["start"]) for each in page["items"]]
    assert listed == [(0, 1, "Guide", 0)]
    assert ([each["frame"] for each in rest["items"]], rest["next"]) == ([2], None)
    assert api.get(frames.replace("docs", "others")).json()["code"] == "source_not_found"
    assert stranger.get(frames).status_code == 404


def test_a_session_records_a_file_and_is_listed_at_the_frames_it_used(api: Program) -> None:
    session = api.post("/sessions", {"name": "s", "key": "s-1", "collection": "docs"}).json()["id"]
    body = put_file(api, "guide.md", GUIDE.encode(), session="s-1").json()
    assert body["sequences"] == [1, 2]
    api.post(f"/sessions/{session}/find", {"query": "installer", "top_k": 1})
    api.post(f"/sessions/{session}/find", {"query": "installer twice", "top_k": 1})
    used = api.get("/collections/docs/frames/1").json()["used_by"]
    assert (used["count"], used["steps"]) == (1, 2)
    assert (used["sessions"][0]["key"], used["sessions"][0]["last_step"]) == ("s-1", 4)
    assert used["sessions"][0]["url"].endswith(f"/sessions/{session}/?step=4")


def test_a_record_without_text_becomes_a_frame_that_no_search_finds(api: Program) -> None:
    lines = b'{"text": "", "id": 471}\n{"text": "Something to find.", "id": 472}\n'
    assert put_file(api, "a.jsonl", lines).json()["report"]["new"] == 2
    assert api.get("/collections/docs/frames/0").json()["versions"][0]["metadata"] == {"id": 471}
    for mode in ("lexical", "semantic", "hybrid"):
        found = api.post("/collections/docs/find", {"query": "something", "mode": mode}).json()["hits"]
        assert [hit["frame"] for hit in found] == [1]


def test_bad_lines_are_listed_and_nothing_is_put(api: Program) -> None:
    answer = put_file(api, "a.jsonl", b'{"text": "one"}\nnonsense\n')
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_lines")
    assert answer.json()["facts"]["skipped"][0]["line"] == 2
    assert Collection.objects.count() == 0
    good = put_file(api, "a.jsonl", b'{"text": "one"}\n').json()
    assert (good["source"], good["frames"][0]["start"]) == (None, None)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"colour": "blue"}, "invalid_request"),
        ({"replace": "perhaps"}, "invalid_field"),
        ({"session": "nobody"}, "session_not_found"),
    ],
)
def test_an_invalid_form_is_refused(api: Program, fields: dict[str, str], code: str) -> None:
    answer = put_file(api, "a.txt", b"text", **fields)
    assert (answer.status_code in {404, 422}, answer.json()["code"]) == (True, code)
    assert Frame.objects.count() == 0


def test_a_request_needs_exactly_one_file_within_the_limit(api: Program, settings: Settings) -> None:
    headers = {"Authorization": f"Bearer {api.key}"}
    assert api.client.post("/api/collections/docs/files", {"title": "x"}, headers=headers).status_code == 422
    settings.MAX_REQUEST_BYTES = 100
    assert put_file(api, "a.txt", b"x" * 200).status_code == 413


def test_intakes_of_another_project_are_not_found(api: Program, other_project: Project) -> None:
    intake = put_file(api, "rules.pdf", pdf([["text"]])).json()["intake_id"]
    stranger = program(other_project)
    for address in (intake, "nonsense"):
        assert stranger.get(f"/intakes/{address}").json()["code"] == "intake_not_found"


def test_a_collection_is_listed_and_searched_as_of_a_past_moment(api: Program) -> None:
    put_file(api, "guide.md", GUIDE.encode())
    session = api.post("/sessions", {"name": "s", "key": "then", "collection": "docs"}).json()["id"]
    api.post(f"/sessions/{session}/find", {"query": "installer"})
    put_file(api, "guide.md", GUIDE.replace("twice", "once").encode(), replace="true")
    recorded = written(Action.objects.get().recorded_at)
    for moment in ("then:1", recorded):
        listed = api.get("/collections/docs/frames", as_of=moment).json()["items"]
        assert [each["text"][-6:] for each in listed] == ["began.", "twice."]
        hits = api.post("/collections/docs/find", {"query": "installer", "as_of": moment}).json()["hits"]
        assert hits[0]["text"].endswith("twice.")


def test_lists_take_no_more_queries_for_more_rows(api: Program) -> None:
    def queries(path: str) -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            assert api.get(path).status_code == 200
        return len(captured)

    put_file(api, "0.md", GUIDE.encode())
    before = [queries(path) for path in ("/collections/docs/frames", "/collections/docs/sources")]
    for number in (1, 2):
        put_file(api, f"{number}.md", GUIDE.encode())
    assert [queries(path) for path in ("/collections/docs/frames", "/collections/docs/sources")] == before
