"""Collections in a browser: created, filled, searched, and shown as they were at an earlier time."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django.fixtures import Settings

from tests.web.handbook import FACTS, HERE, NAME, upload
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.queries import text
from timemachine.core.pure.clock import now
from timemachine.knowledge.commands import NewFrame, delete_frame, get_or_create_collection, put_frames
from timemachine.knowledge.models import Collection, Frame
from timemachine.knowledge.queries import collection_of, frames_at
from timemachine.text.pure.documents.document import LARGEST_FILE
from timemachine.web.knowledge.views import collections as views


def test_without_collections_the_page_offers_the_form(operator: Client) -> None:
    page = operator.get("/collections/").text
    assert "No collections yet" in page
    assert "Create collection" in page


def test_a_new_collection_is_empty_and_says_how_to_fill_it(operator: Client, project: Project) -> None:
    made = operator.post("/collections/", {"name": NAME})
    assert (made.status_code, made["Location"]) == (303, HERE)
    page = operator.get(HERE).text
    assert "No frames yet" in page
    assert NAME in page
    assert collection_of(project, NAME).created_by == "operator@example.org"
    assert NAME in operator.get("/collections/").text


@pytest.mark.parametrize(
    ("name", "status", "sentence"),
    [
        ("", 422, "Enter a name for the collection."),
        ("a/b", 422, "is not a valid collection name"),
        ("x" * 201, 422, "The name can have at most 200 characters."),
        (NAME, 409, "already exists"),
    ],
)
def test_an_invalid_name_is_reported_at_its_field_and_kept(
    operator: Client, handbook: Collection, name: str, status: int, sentence: str
) -> None:
    page = operator.post("/collections/", {"name": name})
    assert page.status_code == status
    assert sentence in page.text
    assert f'value="{name}"' in page.text or not name
    assert 'aria-describedby="new_collection_name_error"' in page.text
    assert Collection.objects.count() == 1


def test_a_manually_written_passage_becomes_the_next_frame(operator: Client, handbook: Collection) -> None:
    form = {"title": "Zoë", "uri": "https://example.org/zoe", "text": "Page Zoë.\r\nAt night too."}
    sent = operator.post(f"{HERE}put/", form)
    assert (sent.status_code, sent["Location"]) == (303, HERE)
    assert "1 passage stored: frame 3." in operator.get(HERE).text
    frame = frames_at(handbook).get(number=3)
    assert (frame.title, frame.uri, text(frame.payload)) == (
        "Zoë",
        "https://example.org/zoe",
        "Page Zoë.\nAt night too.",
    )
    assert frame.put_by == "operator@example.org"


def test_a_repeated_passage_adds_nothing_and_says_so(operator: Client, handbook: Collection) -> None:
    operator.post(f"{HERE}put/", {"title": FACTS[0].title, "text": FACTS[0].text})
    assert "as frame 0. Nothing was added." in operator.get(HERE).text
    assert Frame.objects.count() == len(FACTS)


def test_a_passage_without_text_is_refused_with_the_title_kept(
    operator: Client, handbook: Collection
) -> None:
    page = operator.post(f"{HERE}put/", {"title": "Zoë", "text": " \r\n "})
    assert page.status_code == 422
    assert 'value="Zoë"' in page.text
    assert 'aria-describedby="passage_text_error"' in page.text
    assert Frame.objects.count() == len(FACTS)


def test_several_files_become_frames_in_one_upload(operator: Client, handbook: Collection) -> None:
    lines = b'{"title": "A", "uri": "u:a", "text": "Alpha.", "year": 2024}\r\n\r\n{"text": "Beta\\u0000."}\n'
    sent = upload(
        operator, ("notes.md", "# Grüße\r\nein Satz".encode()), ("facts.JSONL", b"\xef\xbb\xbf" + lines)
    )
    assert sent.status_code == 303
    assert "3 passages stored: frames 3 to 5." in operator.get(HERE).text
    new = frames_at(handbook).filter(number__gte=3)
    assert [(f.title, f.uri, f.metadata, text(f.payload)) for f in new] == [
        ("Grüße", "notes.md", {}, "# Grüße\r\nein Satz"),
        ("A", "u:a", {"year": 2024}, "Alpha."),
        ("", "", {}, "Beta\x00."),
    ]


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        (
            "facts.jsonl",
            b'{"text": "good"}\n{"text": ',
            "facts.jsonl, line 2: It is not JSON: Expecting value",
        ),
        ("facts.jsonl", b'\n\n["text"]', "facts.jsonl, line 3: It is JSON but not an object"),
        ("facts.jsonl", b'{"title": "x"}', "facts.jsonl, line 1: &quot;text&quot; is missing"),
        ("facts.jsonl", b'{"text": 5}', "facts.jsonl, line 1: &quot;text&quot; is not text"),
        (
            "facts.jsonl",
            b'{"text": "x", "title": ["y"]}',
            "facts.jsonl, line 1: &quot;title&quot; is not text",
        ),
        (
            "facts.jsonl",
            b'{"text": "x"}\n\xff',
            "facts.jsonl, line 2: Byte 1 is not valid UTF-8",
        ),
        ("facts.jsonl", b"\n \n", "facts.jsonl: This file has no lines"),
        ("notes.txt", b"caf\xe9", "notes.txt: Byte 4 is not valid UTF-8"),
        ("notes.txt", b"", "notes.txt is empty"),
        ("photo.png", b"\x89PNG", "photo.png: This is an image (PNG), not text. Send text, Markdown"),
        ("big.txt", b"x" * (LARGEST_FILE + 1), f"big.txt has {LARGEST_FILE + 1:,} bytes"),
    ],
)
def test_one_bad_line_refuses_the_upload_with_its_position_and_reason(
    operator: Client, handbook: Collection, name: str, data: bytes, sentence: str
) -> None:
    page = upload(operator, ("good.txt", b"A good one."), (name, data))
    assert page.status_code in {413, 422}
    assert sentence in page.text
    assert 'aria-describedby="files_file_helptext files_file_error"' in page.text
    assert len(page.context["files_form"].errors["file"]) == 1
    assert Frame.objects.count() == len(FACTS)


def test_an_upload_without_a_file_asks_for_one(operator: Client, handbook: Collection) -> None:
    page = operator.post(f"{HERE}upload/", {})
    assert page.status_code == 422
    assert "Choose at least one file." in page.text


def test_an_upload_over_the_limit_is_refused_with_a_message(
    operator: Client, handbook: Collection, settings: Settings
) -> None:
    settings.MAX_REQUEST_BYTES = 1024 * 1024
    page = upload(operator, ("a.txt", b"a" * 700_000), ("b.txt", b"b" * 700_000))
    assert page.status_code == 413
    assert "exceeds the limit of 1.0 MB" in page.text
    assert Frame.objects.count() == len(FACTS)


def test_too_many_files_are_refused_with_a_message(operator: Client, handbook: Collection) -> None:
    page = upload(operator, *((f"{number}.txt", b"x") for number in range(101)))
    assert page.status_code == 413
    assert "Upload at most 100 at a time" in page.text


def test_a_trial_find_shows_ranks_and_the_score_of_each_retriever_as_live(
    viewer: Client, handbook: Collection
) -> None:
    page = viewer.get(HERE, {"q": "how long are invoices kept?"}).text
    assert "computed now, not recorded" in page
    assert 'class="live"' in page
    assert "shredded by the archive team" in page
    assert '<span class="rank">1</span>' in page
    assert "lexical" in page
    assert "semantic" in page
    assert f'href="{HERE}frames/0/?version=1"' in page


def test_a_find_keeps_its_form_and_runs_in_the_selected_mode(viewer: Client, handbook: Collection) -> None:
    page = viewer.get(HERE, {"q": "invoices", "mode": "lexical", "top_k": "1", "adaptive": "on"}).text
    assert 'value="invoices"' in page
    assert '<option value="lexical" selected>' in page
    assert "semantic</span>" not in page
    assert "checked" in page


def test_a_find_accepts_the_thresholds_of_an_adaptive_cut_off(viewer: Client, handbook: Collection) -> None:
    query = {"q": "invoices", "mode": "lexical", "min_score": "50"}
    assert "No results." in viewer.get(HERE, query).text
    page = viewer.get(HERE, query | {"min_score": "0.01", "adaptive": "on", "relative": "0.2"})
    assert page.status_code == 200
    assert 'name="relative" value="0.2"' in page.text
    assert '<details class="options" open>' in page.text
    far = viewer.get(HERE, query | {"min_score": "", "relative": "5"})
    assert far.status_code == 422
    assert '<details class="options" open>' in far.text
    below = far.text[far.text.index('id="found"') :]
    assert "“Cut off below this share of the best score” must be a number from 0 to 1." in below
    assert far.text.count('id="find_relative_error"') == 1
    wrong = viewer.get(HERE, {"q": "invoices", "relative": "0.2"})
    assert "applies only to an adaptive find" in wrong.text
    assert wrong.status_code == 422


def test_a_find_without_results_says_so(viewer: Client, handbook: Collection) -> None:
    page = viewer.get(HERE, {"q": "xylophone", "mode": "lexical"}).text
    assert "No results." in page


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"q": "  "}, "Enter a search query."),
        ({"q": "x", "mode": "psychic"}, "Mode must be hybrid, semantic or lexical."),
        ({"q": "x", "top_k": "0"}, "Top-k must be a whole number from 1 to 1,000."),
        ({"q": "x", "top_k": "many"}, "Top-k must be a whole number from 1 to 1,000."),
        ({"q": "x", "as_of": "yesterday"}, "Write a time like"),
        ({"q": "x", "as_of": "2101-01-01T00:00:00Z"}, "“As of” is in the future"),
    ],
)
def test_an_invalid_find_is_refused_with_the_reason(
    viewer: Client, handbook: Collection, query: dict[str, str], sentence: str
) -> None:
    page = viewer.get(HERE, query)
    assert page.status_code == 422
    assert sentence in page.text
    assert "Retention" in page.text


def test_htmx_gets_only_the_results(viewer: Client, handbook: Collection) -> None:
    part = viewer.get(HERE, {"q": "invoices"}, headers={"HX-Request": "true", "HX-Target": "div#found"})
    assert part.text.strip().startswith('<div id="found"')
    assert "<html" not in part.text
    assert "HX-Request" in part["Vary"]


def test_a_collection_is_shown_and_searched_as_it_was_at_a_time(viewer: Client, handbook: Collection) -> None:
    before = now().isoformat()
    put_frames(
        handbook, [NewFrame(number=0, title="Retention", text="Invoices are burnt at once.")], by="test"
    )
    delete_frame(handbook, 2, by="test")
    then = viewer.get(HERE, {"as_of": before, "q": "invoices"}).text
    assert "3 frames at that time" in then
    assert "Garten" in then
    assert "shredded by the archive team" in then
    assert "burnt" not in then
    present = viewer.get(HERE, {"q": "invoices"}).text
    assert "2 frames" in present
    assert "burnt" in present
    assert (
        "The collection was empty at that time." in viewer.get(HERE, {"as_of": "2001-01-01T00:00:00Z"}).text
    )
    searched = viewer.get(HERE, {"as_of": "2001-01-01T00:00:00Z", "q": "invoices"}).text
    assert "The collection had no frames at that time; the first was added at" in searched


def test_a_find_allows_as_many_passages_as_the_command(viewer: Client, handbook: Collection) -> None:
    assert viewer.get(HERE, {"q": "invoices", "top_k": "1000"}).status_code == 200
    assert viewer.get(HERE, {"q": "invoices", "top_k": "1001"}).status_code == 422


def test_a_date_is_shown_as_the_end_of_its_day(viewer: Client, handbook: Collection) -> None:
    page = viewer.get(HERE, {"as_of": "2001-01-01"}).text
    assert "2001-01-01 23:59:59.999 UTC" in page
    assert "end of that day" in page


def test_an_unknown_session_is_reported_without_naming_a_command(
    viewer: Client, handbook: Collection
) -> None:
    page = viewer.get(HERE, {"as_of": "nobody:3"}).text
    assert "There is no session" in page
    assert "timemachine session list" not in page


def test_an_invalid_time_is_reported_at_its_field_and_kept(viewer: Client, handbook: Collection) -> None:
    page = viewer.get(HERE, {"as_of": "last <week>"})
    assert page.status_code == 422
    assert 'value="last &lt;week&gt;"' in page.text
    assert 'aria-describedby="as_of_error"' in page.text
    assert "“As of” cannot be" in page.text
    assert "`as_of`" not in page.text


def test_a_future_time_is_reported_at_its_field(viewer: Client, handbook: Collection) -> None:
    page = viewer.get(HERE, {"as_of": "2101-01-01"})
    assert page.status_code == 422
    assert 'aria-describedby="as_of_error"' in page.text
    assert "“As of” is in the future" in page.text
    assert "Showing the current collection." in page.text
    assert "frames then" not in page.text


def test_a_collection_with_only_deleted_frames_has_no_current_frames(
    viewer: Client, handbook: Collection
) -> None:
    for number in range(len(FACTS)):
        delete_frame(handbook, number, by="test")
    assert "No current frames." in viewer.get(HERE).text


def test_deleted_frames_are_in_a_separate_list(operator: Client, handbook: Collection) -> None:
    assert "frames=deleted" not in operator.get(HERE).text
    assert "No deleted frames." in operator.get(HERE, {"frames": "deleted"}).text
    operator.post(f"{HERE}frames/2/delete/")
    upload(operator, ("guide.md", b"# Old\n\nGone soon."))
    before = now().isoformat()
    newer = SimpleUploadedFile("guide.md", b"# New\n\nHere to stay.")
    operator.post(f"{HERE}upload/", {"file": newer, "replace": "on"})
    page = operator.get(HERE).text
    assert re.search(r"frames=deleted[^>]*>2 deleted</a>", page)
    assert "Garten" not in page
    deleted = operator.get(HERE, {"frames": "deleted"})
    listed = [(each.number, each.ended_by, each.who) for each in deleted.context["frames"]]
    assert listed == [(2, "delete", "operator@example.org"), (3, "replace", "operator@example.org")]
    assert "Garten" in deleted.text
    assert "by a newer file" in deleted.text
    assert "Retention" not in deleted.text
    then = operator.get(HERE, {"frames": "deleted", "as_of": before})
    assert [each.number for each in then.context["frames"]] == [2]
    assert "1 deleted by that time" in then.text


@pytest.fixture
def three_pages(project: Project, monkeypatch: pytest.MonkeyPatch) -> Collection:
    """A collection of five frames, with two frames per page."""
    monkeypatch.setattr(views, "PAGE", 2)
    collection = get_or_create_collection(project, NAME, by="test")
    put_frames(collection, [NewFrame(title=f"t{n}.", text=f"passage {n}") for n in range(5)], by="test")
    return collection


def test_deleted_frames_are_paged(viewer: Client, three_pages: Collection) -> None:
    frames_at(three_pages).update(valid_until=now(), ended_by="delete")
    first = viewer.get(HERE, {"frames": "deleted"}).text
    assert "5 deleted" in first
    assert "t1." in first
    assert "t2." not in first
    assert "?frames=deleted&amp;after=1" in first
    rest = viewer.get(HERE, {"frames": "deleted", "after": "1"}).text
    assert "t3." in rest
    assert "t1.<" not in rest
    assert 'class="absent unrecorded">not recorded' in rest


def test_frames_are_paged_by_number(viewer: Client, three_pages: Collection) -> None:
    first = viewer.get(HERE).text
    assert "t1." in first
    assert "t2." not in first
    assert "?after=1" in first
    last = viewer.get(HERE, {"after": "2"}).text
    assert "t3." in last
    assert "t4." in last
    assert "t2.<" not in last
    assert "?after=4" not in last
    assert "The list ends here." in viewer.get(HERE, {"after": "4"}).text


def test_a_long_list_of_collections_is_paged(
    viewer: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "PAGE", 2)
    for number in range(3):
        get_or_create_collection(project, f"shelf-{number}", by="test")
    first = viewer.get("/collections/").text
    assert "shelf-1" in first
    assert "shelf-2" not in first
    assert "shelf-2" in viewer.get("/collections/", {"after": "shelf-1"}).text
