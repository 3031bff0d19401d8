"""Collections in a browser: made, filled, searched, looked at as they were, and never rewritten."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from tests.accounts.people import member
from tests.documents.files import pdf
from timemachine.accounts.models import Membership, Project
from timemachine.answering.commands import find
from timemachine.base.clock import now
from timemachine.documents.document import LARGEST_FILE
from timemachine.intake.commands import hand_in
from timemachine.intake.models import Intake
from timemachine.intake.preparing import HandedIn
from timemachine.intake.working import work as put_file
from timemachine.payloads.queries import text
from timemachine.recording.commands import start_session
from timemachine.retrieval.commands import NewFrame, collection_named, delete, put
from timemachine.retrieval.finding import Query
from timemachine.retrieval.models import Collection, Frame, Source
from timemachine.retrieval.queries import collection_of, frames_at, versions_of

NAME = "Handbuch für Prüfer 📚"
HERE = f"/collections/{quote(NAME)}/"
FACTS = [
    NewFrame(title="Retention", text="Invoices are kept for ten years, then shredded by the archive team."),
    NewFrame(
        title="Travel", uri="https://example.org/travel", text="Train tickets are booked in second class."
    ),
    NewFrame(title="Garten", text="Im Frühjahr werden die Apfelbäume geschnitten."),
]


@pytest.fixture
def operator(project: Project) -> Client:
    """A browser in which an operator of the project is signed in."""
    return browser(member(project, "operator"))


@pytest.fixture
def viewer(project: Project) -> Client:
    """A browser in which somebody is signed in who only reads."""
    return browser(member(project, "viewer"))


@pytest.fixture
def handbook(project: Project) -> Collection:
    """A collection with three frames."""
    collection = collection_named(project, NAME, by="test")
    put(collection, FACTS, by="test")
    return collection


def browser(membership: Membership) -> Client:
    client = Client()
    client.force_login(membership.user)
    return client


def upload(client: Client, *files: tuple[str, bytes]) -> Any:
    sent = [SimpleUploadedFile(name, data) for name, data in files]
    return client.post(f"{HERE}upload/", {"file": sent})


def texts(collection: Collection) -> list[str]:
    return [text(frame.payload) for frame in frames_at(collection)]


def queries_of(ask: Callable[[], Any]) -> int:
    with CaptureQueriesContext(
        connection,
    ) as seen:
        assert ask().status_code == 200
    return len(seen)


def test_without_collections_the_page_says_what_one_is_and_offers_the_form(operator: Client) -> None:
    page = operator.get("/collections/").text
    assert "No collections yet" in page
    assert "Make collection" in page


def test_a_new_collection_is_empty_and_says_how_to_fill_it(operator: Client, project: Project) -> None:
    made = operator.post("/collections/", {"name": NAME})
    assert (made.status_code, made["Location"]) == (303, HERE)
    page = operator.get(HERE).text
    assert "Nothing in it yet" in page
    assert NAME in page
    assert collection_of(project, NAME).created_by == "operator@example.org"
    assert NAME in operator.get("/collections/").text


@pytest.mark.parametrize(
    ("name", "status", "sentence"),
    [
        ("", 422, "Give the collection a name."),
        ("a/b", 422, "cannot name a collection"),
        ("x" * 201, 422, "A name has at most 200 characters."),
        (NAME, 409, "exists already"),
    ],
)
def test_a_name_that_cannot_be_used_is_said_at_the_field_and_stays_in_it(
    operator: Client, handbook: Collection, name: str, status: int, sentence: str
) -> None:
    page = operator.post("/collections/", {"name": name})
    assert page.status_code == status
    assert sentence in page.text
    assert f'value="{name}"' in page.text or not name
    assert 'aria-describedby="new_collection_name_error"' in page.text
    assert Collection.objects.count() == 1


def test_a_passage_written_by_hand_becomes_the_next_frame(operator: Client, handbook: Collection) -> None:
    form = {"title": "Zoë", "uri": "https://example.org/zoe", "text": "Page Zoë.\r\nAt night too."}
    sent = operator.post(f"{HERE}put/", form)
    assert (sent.status_code, sent["Location"]) == (303, HERE)
    assert "1 passage put: frame 3." in operator.get(HERE).text
    frame = frames_at(handbook).get(number=3)
    assert (frame.title, frame.uri, text(frame.payload)) == (
        "Zoë",
        "https://example.org/zoe",
        "Page Zoë.\nAt night too.",
    )
    assert frame.put_by == "operator@example.org"


def test_the_same_passage_again_adds_nothing_and_says_so(operator: Client, handbook: Collection) -> None:
    operator.post(f"{HERE}put/", {"title": FACTS[0].title, "text": FACTS[0].text})
    assert "as frame 0: nothing was added." in operator.get(HERE).text
    assert Frame.objects.count() == len(FACTS)


def test_a_passage_without_text_is_refused_with_the_title_kept(
    operator: Client, handbook: Collection
) -> None:
    page = operator.post(f"{HERE}put/", {"title": "Zoë", "text": " \r\n "})
    assert page.status_code == 422
    assert 'value="Zoë"' in page.text
    assert 'aria-describedby="passage_text_error"' in page.text
    assert Frame.objects.count() == len(FACTS)


def test_files_become_frames_all_together(operator: Client, handbook: Collection) -> None:
    lines = b'{"title": "A", "uri": "u:a", "text": "Alpha.", "year": 2024}\r\n\r\n{"text": "Beta\\u0000."}\n'
    sent = upload(
        operator, ("notes.md", "# Grüße\r\nein Satz".encode()), ("facts.JSONL", b"\xef\xbb\xbf" + lines)
    )
    assert sent.status_code == 303
    assert "3 passages put: frames 3 to 5." in operator.get(HERE).text
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
        ("facts.jsonl", b'{"text": 5}', "facts.jsonl, line 1: &quot;text&quot; is not a text"),
        (
            "facts.jsonl",
            b'{"text": "x", "title": ["y"]}',
            "facts.jsonl, line 1: &quot;title&quot; is not a text",
        ),
        ("facts.jsonl", b'{"text": "x"}\n\xff', "facts.jsonl, line 2: Byte 1 is not UTF-8 text"),
        ("facts.jsonl", b"\n \n", "facts.jsonl: This file has no lines"),
        ("notes.txt", b"caf\xe9", "notes.txt: Byte 4 is not UTF-8 text"),
        ("notes.txt", b"", "notes.txt is empty"),
        ("photo.png", b"\x89PNG", "photo.png: Byte 1 is not UTF-8 text"),
        ("big.txt", b"x" * (LARGEST_FILE + 1), f"big.txt has {LARGEST_FILE + 1:,} bytes"),
    ],
)
def test_one_bad_line_refuses_the_whole_upload_with_its_place_and_reason(
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


def test_an_upload_over_the_limit_ends_in_a_sentence(
    operator: Client, handbook: Collection, settings: Settings
) -> None:
    settings.MAX_REQUEST_BYTES = 1024 * 1024
    page = upload(operator, ("a.txt", b"a" * 700_000), ("b.txt", b"b" * 700_000))
    assert page.status_code == 413
    assert "This is more than 1.0 MB" in page.text
    assert Frame.objects.count() == len(FACTS)


def test_too_many_files_end_in_a_sentence(operator: Client, handbook: Collection) -> None:
    page = upload(operator, *((f"{number}.txt", b"x") for number in range(101)))
    assert page.status_code == 413
    assert "send at most 100 at once" in page.text


def test_a_find_that_is_tried_shows_ranks_and_the_score_of_each_leg_as_live(
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


def test_a_find_keeps_its_form_and_is_asked_in_its_mode(viewer: Client, handbook: Collection) -> None:
    page = viewer.get(HERE, {"q": "invoices", "mode": "lexical", "top_k": "1", "adaptive": "on"}).text
    assert 'value="invoices"' in page
    assert '<option value="lexical" selected>' in page
    assert "semantic</span>" not in page
    assert "checked" in page


def test_a_find_that_finds_nothing_says_so(viewer: Client, handbook: Collection) -> None:
    page = viewer.get(HERE, {"q": "xylophone", "mode": "lexical"}).text
    assert "Nothing was found." in page


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"q": "  "}, "Write what to look for."),
        ({"q": "x", "mode": "psychic"}, "The mode is hybrid, semantic or lexical."),
        ({"q": "x", "top_k": "0"}, "Top k is a whole number from 1 to 100."),
        ({"q": "x", "top_k": "many"}, "Top k is a whole number from 1 to 100."),
        ({"q": "x", "as_of": "yesterday"}, "write a time like"),
    ],
)
def test_a_find_that_cannot_be_asked_says_why(
    viewer: Client, handbook: Collection, asked: dict[str, str], sentence: str
) -> None:
    page = viewer.get(HERE, asked)
    assert page.status_code == 422
    assert sentence in page.text
    assert "Retention" in page.text


def test_htmx_gets_only_what_was_found(viewer: Client, handbook: Collection) -> None:
    part = viewer.get(HERE, {"q": "invoices"}, headers={"HX-Request": "true", "HX-Target": "div#found"})
    assert part.text.strip().startswith('<div id="found"')
    assert "<html" not in part.text
    assert "HX-Request" in part["Vary"]


def test_the_collection_shows_as_it_was_and_is_searched_as_it_was(
    viewer: Client, handbook: Collection
) -> None:
    before = now().isoformat()
    put(handbook, [NewFrame(number=0, title="Retention", text="Invoices are burnt at once.")], by="test")
    delete(handbook, 2)
    then = viewer.get(HERE, {"as_of": before, "q": "invoices"}).text
    assert "3 frames then" in then
    assert "Garten" in then
    assert "shredded by the archive team" in then
    assert "burnt" not in then
    present = viewer.get(HERE, {"q": "invoices"}).text
    assert "2 frames" in present
    assert "burnt" in present
    assert "The collection had no frames then." in viewer.get(HERE, {"as_of": "2001-01-01T00:00:00Z"}).text


def test_a_time_that_is_none_is_said_at_the_field_and_stays_in_it(
    viewer: Client, handbook: Collection
) -> None:
    page = viewer.get(HERE, {"as_of": "last <week>"})
    assert page.status_code == 422
    assert 'value="last &lt;week&gt;"' in page.text
    assert 'aria-describedby="as_of_error"' in page.text


def test_a_collection_whose_frames_are_all_deleted_still_leads_to_its_past(
    viewer: Client, handbook: Collection
) -> None:
    for number in range(len(FACTS)):
        delete(handbook, number)
    assert "Every frame is deleted." in viewer.get(HERE).text


def test_frames_come_in_pages_of_a_hundred_by_number(viewer: Client, project: Project) -> None:
    collection = collection_named(project, NAME, by="test")
    put(
        collection,
        [NewFrame(title=f"t{number}.", text=f"passage {number}") for number in range(150)],
        by="test",
    )
    first = viewer.get(HERE).text
    assert "t99." in first
    assert "t100." not in first
    assert "?after=99" in first
    rest = viewer.get(HERE, {"after": "99"}).text
    assert "t100." in rest
    assert "t149." in rest
    assert "t99.<" not in rest
    assert "?after=149" not in rest
    assert "The list ends here." in viewer.get(HERE, {"after": "149"}).text


def test_the_number_of_queries_does_not_grow_with_the_frames(viewer: Client, project: Project) -> None:
    collection = collection_named(project, NAME, by="test")
    put(collection, [NewFrame(text=f"passage {number}") for number in range(3)], by="test")
    few = queries_of(lambda: viewer.get(HERE, {"q": "passage"}))
    put(collection, [NewFrame(text=f"passage {number}") for number in range(3, 90)], by="test")
    assert queries_of(lambda: viewer.get(HERE, {"q": "passage", "top_k": "50"})) == few


def test_the_number_of_queries_does_not_grow_with_the_collections(viewer: Client, project: Project) -> None:
    collection_named(project, "one", by="test")
    few = queries_of(lambda: viewer.get("/collections/"))
    for number in range(40):
        put(collection_named(project, f"number {number}", by="test"), FACTS[:1], by="test")
    assert queries_of(lambda: viewer.get("/collections/")) == few


def test_a_long_list_of_collections_goes_on_page_by_page(viewer: Client, project: Project) -> None:
    for number in range(101):
        collection_named(project, f"c{number:03}", by="test")
    first = viewer.get("/collections/").text
    assert "c099" in first
    assert "c100" not in first
    assert "c100" in viewer.get("/collections/", {"after": "c099"}).text


def test_a_frame_shows_every_version_with_its_hash_and_the_text_of_one(
    viewer: Client, handbook: Collection
) -> None:
    put(handbook, [NewFrame(number=1, title="Travel", text="Everybody flies.")], by="test")
    page = viewer.get(f"{HERE}frames/1/").text
    for version in versions_of(handbook, 1):
        assert version.sha256 in page
    assert "Everybody flies." in page
    assert "second class" not in page
    assert "second class" in viewer.get(f"{HERE}frames/1/", {"version": "1"}).text
    assert viewer.get(f"{HERE}frames/1/", {"version": "9"}).status_code == 404


def test_a_long_text_is_shown_by_its_beginning_and_whole_on_demand(
    viewer: Client, handbook: Collection
) -> None:
    long = "word " * 10_000 + "END"
    put(handbook, [NewFrame(title="Long", text=long)], by="test")
    address = f"{HERE}frames/3/"
    page = viewer.get(address).text
    assert "The first 32.0 KB of 48.8 KB." in page
    assert "END" not in page
    assert "END" in viewer.get(address, {"more": "1"}).text
    whole = viewer.get(f"{address}versions/1.txt")
    assert whole.text == long
    assert viewer.get(f"{address}versions/2.txt").status_code == 404
    assert whole["Content-Type"] == "text/plain; charset=utf-8"
    assert whole["Content-Disposition"].startswith("attachment")


def test_a_new_version_keeps_the_metadata_and_the_history(operator: Client, handbook: Collection) -> None:
    put(
        handbook, [NewFrame(title="With more", text="One.", metadata={"items": [1], "year": 2024})], by="test"
    )
    address = f"{HERE}frames/3/"
    assert "year" in operator.get(address).text
    sent = operator.post(f"{address}update/", {"title": "With more", "uri": "", "text": "Two."})
    assert (sent.status_code, sent["Location"]) == (303, address)
    assert "Version 2 of frame 3 is the current one now." in operator.get(address).text
    assert [(v.version, text(v.payload), v.metadata) for v in versions_of(handbook, 3)] == [
        (1, "One.", {"items": [1], "year": 2024}),
        (2, "Two.", {"items": [1], "year": 2024}),
    ]


def test_what_was_not_edited_stays_as_it_is_byte_by_byte(operator: Client, handbook: Collection) -> None:
    put(handbook, [NewFrame(title="Odd", text="first\r\nsecond\x00\ud800\rthird")], by="test")
    address = f"{HERE}frames/3/"
    form = operator.get(address).context["form"]
    as_browsers_send = form.initial["text"].replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")
    sent = operator.post(f"{address}update/", {"title": "Odd", "uri": "", "text": as_browsers_send})
    assert sent.status_code == 303
    assert "is the same as before: nothing was added" in operator.get(address).text
    assert texts(handbook)[3] == "first\r\nsecond\x00\ud800\rthird"


def test_a_file_may_bring_the_next_version_of_a_text_too_long_to_edit(
    operator: Client, handbook: Collection
) -> None:
    put(handbook, [NewFrame(title="Long", text="x" * 300_000)], by="test")
    address = f"{HERE}frames/3/"
    assert "too long to be edited here" in operator.get(address).text
    file = SimpleUploadedFile("next.txt", b"shorter now")
    assert operator.post(f"{address}update/", {"title": "Long", "text": "", "file": file}).status_code == 303
    assert texts(handbook)[3] == "shorter now"


def test_a_version_without_text_is_refused_with_the_rest_kept(operator: Client, handbook: Collection) -> None:
    page = operator.post(f"{HERE}frames/0/update/", {"title": "Renamed", "text": ""})
    assert page.status_code == 422
    assert "A frame needs text" in page.text
    assert 'value="Renamed"' in page.text
    assert 'aria-describedby="version_text_error"' in page.text


def test_a_text_that_a_form_cannot_carry_is_refused(operator: Client, handbook: Collection) -> None:
    page = operator.post(f"{HERE}frames/0/update/", {"title": "nul\x00", "text": "changed"})
    assert page.status_code == 422
    assert "Null characters are not allowed." in page.text
    assert texts(handbook)[0] == FACTS[0].text


def test_a_request_that_cannot_be_read_is_told_so(operator: Client, handbook: Collection) -> None:
    page = operator.post(f"{HERE}upload/", b"--x\r\n", content_type="multipart/form-data; boundary=\xe4")
    assert page.status_code == 422
    assert "This form cannot be read" in page.text


def test_a_deleted_frame_keeps_its_versions_and_takes_no_more(operator: Client, handbook: Collection) -> None:
    address = f"{HERE}frames/2/"
    sent = operator.post(f"{address}delete/")
    assert (sent.status_code, sent["Location"]) == (303, address)
    page = operator.get(address).text
    assert "Frame 2 is deleted; its one version stays in the history." in page
    assert "Apfelbäume" in page
    assert "Put a new version" not in page
    assert operator.post(f"{address}update/", {"title": "x", "text": "y"}).status_code == 404
    assert operator.post(f"{address}delete/").status_code == 404
    assert [f.number for f in frames_at(handbook)] == [0, 1]


@pytest.mark.parametrize(
    "address",
    ["/collections/", f"{HERE}put/", f"{HERE}upload/", f"{HERE}frames/0/update/", f"{HERE}frames/0/delete/"],
)
def test_somebody_who_only_reads_changes_nothing(viewer: Client, handbook: Collection, address: str) -> None:
    assert viewer.post(address, {"name": "mine", "title": "t", "text": "changed"}).status_code == 403
    assert texts(handbook) == [fact.text for fact in FACTS]
    assert Collection.objects.count() == 1


def test_who_only_reads_sees_no_forms_that_write(viewer: Client, handbook: Collection) -> None:
    for address in ("/collections/", HERE, f"{HERE}frames/0/"):
        page = viewer.get(address).text
        assert 'method="post" action="/collections/' not in page


@pytest.mark.parametrize("address", [HERE, f"{HERE}frames/0/", f"{HERE}frames/0/versions/1.txt"])
def test_another_projects_collection_is_not_there(
    other_project: Project, handbook: Collection, address: str
) -> None:
    stranger = browser(member(other_project, "admin", "stranger@example.org"))
    assert stranger.get(address).status_code == 404
    assert "Retention" not in stranger.get("/collections/").text


def test_nobody_gets_in_without_signing_in(handbook: Collection) -> None:
    for address in ("/collections/", HERE, f"{HERE}frames/0/"):
        assert Client().get(address)["Location"].startswith("/sign-in/")


@pytest.mark.parametrize("number", ["7", "99999999999999999999999"])
def test_a_frame_that_there_is_not_is_not_found(viewer: Client, handbook: Collection, number: str) -> None:
    assert viewer.get(f"{HERE}frames/{number}/").status_code == 404


@pytest.mark.parametrize("action", ["put", "upload", "frames/0/update", "frames/0/delete"])
def test_a_form_without_its_token_is_refused(project: Project, handbook: Collection, action: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(member(project, "operator").user)
    file = SimpleUploadedFile("a.txt", b"a text")
    page = client.post(f"{HERE}{action}/", {"title": "t", "text": "changed", "file": file})
    assert page.status_code == 403
    assert texts(handbook) == [fact.text for fact in FACTS]


def test_the_address_of_a_form_leads_back_to_its_page(operator: Client, handbook: Collection) -> None:
    for action in ("put", "upload"):
        assert operator.get(f"{HERE}{action}/")["Location"] == HERE
    assert operator.get(f"{HERE}frames/0/update/")["Location"] == f"{HERE}frames/0/"


def test_titles_that_would_reorder_the_page_are_made_harmless(viewer: Client, handbook: Collection) -> None:
    put(
        handbook,
        [NewFrame(title="<b>\u202egpj.exe", uri="javascript:alert(1)", text="<script>\u202e</script>\ud800")],
        by="x",
    )
    for address in (HERE, f"{HERE}frames/3/", f"{HERE}?q=script"):
        page = viewer.get(address)
        assert page.status_code == 200
        assert "\u202e" not in page.text
        assert "<script>\u27e8" not in page.text
        assert 'href="javascript:' not in page.text


GUIDE = "# Grüße\n\nEin Anfang.\n\n## <b>Install</b>\n\nRun the installer twice.\n"


def test_a_files_passage_is_shown_marked_in_its_text(operator: Client, handbook: Collection) -> None:
    upload(operator, ("guide.md", GUIDE.encode()))
    source = Source.objects.get()
    address = f"{HERE}sources/{source.id}/"
    page = operator.get(address, {"frame": 4, "version": 1}).text
    assert '<mark id="passage">## &lt;b&gt;Install&lt;/b&gt;\n\nRun the installer twice.</mark>' in page
    assert "<mark" not in operator.get(address, {"frame": 0}).text
    assert "<mark" not in operator.get(address).text
    frame = operator.get(f"{HERE}frames/4/").text
    assert f"sources/{source.id}/?frame=4&amp;version=1#passage" in frame
    start = GUIDE.index("## <b>")
    assert f"<bdi>guide.md</bdi>, characters {start} to {len(GUIDE) - 1}" in frame
    assert "guide.md" in operator.get(HERE).text


def test_a_long_text_is_shown_in_parts(operator: Client, handbook: Collection) -> None:
    words = "\n\n".join(f"Paragraph {number} " + "word " * 150 for number in range(60))
    upload(operator, ("long.txt", words.encode()))
    source = Source.objects.get()
    page = operator.get(f"{HERE}sources/{source.id}/", {"frame": 40, "version": 1})
    shown = page.context["shown"]
    assert shown.before + shown.marked + shown.after == words[shown.start : shown.end]
    assert shown.marked == text(Frame.objects.get(number=40).payload)
    assert "Earlier text" in page.text
    later = operator.get(f"{HERE}sources/{source.id}/", {"at": str(10**9)}).context["shown"]
    assert (later.start, later.end, later.length) == (len(words),) * 3


def test_the_original_is_a_download_that_no_browser_shows(operator: Client, handbook: Collection) -> None:
    upload(operator, ('evil "ä".html', b"<script>alert(1)</script><p>Words."))
    source = Source.objects.get()
    sent = operator.get(f"{HERE}sources/{source.id}/original")
    assert sent.content == b"<script>alert(1)</script><p>Words."
    assert sent["Content-Type"] == "application/octet-stream"
    assert sent["Content-Disposition"] == "attachment; filename*=UTF-8''evil%20%22%C3%A4%22.html"
    assert "sandbox" in sent["Content-Security-Policy"]


def test_files_are_seen_only_in_their_own_project_and_collection(
    operator: Client, handbook: Collection, other_project: Project, project: Project
) -> None:
    upload(operator, ("guide.md", GUIDE.encode()))
    source = Source.objects.get()
    intake = hand_in(handbook, HandedIn(name="a.txt", data=b"a"), by="test")
    stranger = browser(member(other_project, "admin"))
    collection_named(other_project, NAME, by="test")
    collection_named(project, "other", by="test")
    for path in (
        f"{HERE}sources/{source.id}/",
        f"{HERE}sources/{source.id}/original",
        f"/intakes/{intake.id}/",
    ):
        assert stranger.get(path).status_code == 404
        assert operator.get(path).status_code == 200
    assert operator.get(f"/collections/other/sources/{source.id}/").status_code == 404
    assert operator.get(f"{HERE}sources/nonsense/").status_code == 404


def test_an_intake_is_followed_until_it_is_over(operator: Client, handbook: Collection) -> None:
    sent = upload(operator, ("rules.pdf", pdf([["Invoices are kept."]])))
    assert "1 file handed in" in operator.get(HERE).text
    waiting = operator.get(sent["Location"])
    assert 'hx-trigger="every 1s"' in waiting.text
    polled = {"HX-Request": "true", "HX-Target": "progress"}
    assert operator.get(sent["Location"], {"rev": "0"}, headers=polled).status_code == 204
    put_file(Intake.objects.get().id)
    part = operator.get(sent["Location"], {"rev": "0"}, headers=polled)
    assert "1 of 1 passage put" in part.text
    assert "hx-trigger" not in part.text
    assert "<title>" not in part.text


def test_several_files_of_which_one_is_large_are_all_handed_in(
    operator: Client, handbook: Collection
) -> None:
    sent = upload(operator, ("a.txt", b"small"), ("b.txt", b"large " * 50_000))
    assert sent["Location"] == f"{HERE}#files"
    assert Intake.objects.count() == 2
    assert operator.get(HERE).text.count("/intakes/") == 2


def test_an_upload_may_replace_the_files_earlier_version(operator: Client, handbook: Collection) -> None:
    upload(operator, ("guide.md", GUIDE.encode()))
    newer = SimpleUploadedFile("guide.md", GUIDE.replace("twice", "once").encode())
    operator.post(f"{HERE}upload/", {"file": newer, "replace": "on"})
    assert "1 passage of an earlier version ended." in operator.get(HERE).text
    assert Frame.objects.filter(uri="guide.md", valid_until=None).count() == 2


def test_a_newer_file_shows_the_passages_it_kept_and_a_frame_all_its_files(
    operator: Client, handbook: Collection
) -> None:
    upload(operator, ("guide.md", GUIDE.encode()))
    newer = SimpleUploadedFile("guide.md", GUIDE.replace("twice", "once").encode())
    operator.post(f"{HERE}upload/", {"file": newer, "replace": "on"})
    older_file, newer_file = Source.objects.order_by("id")
    kept, changed = Frame.objects.filter(uri="guide.md", valid_until=None).order_by("number")
    page = operator.get(f"{HERE}sources/{newer_file.id}/?frame={kept.number}").text
    assert "2 current frames" in page
    assert f"{HERE}frames/{kept.number}/" in page
    assert f"{HERE}frames/{changed.number}/" in page
    assert '<mark id="passage">' in page
    frame = operator.get(f"{HERE}frames/{kept.number}/").text
    assert frame.index("Also in") < frame.index(str(newer_file.id)) < frame.index("Came with")
    assert frame.index("Came with") < frame.index(str(older_file.id))


def test_two_files_of_one_name_are_not_taken_for_one(operator: Client, handbook: Collection) -> None:
    sent = upload(operator, ("README.md", b"One."), ("README.md", b"Two."))
    assert sent.status_code == 422
    assert "Two of the files are called README.md" in sent.text
    assert Frame.objects.filter(uri="README.md").count() == 0


def test_an_upload_may_have_a_uri_of_its_own(operator: Client, handbook: Collection) -> None:
    for folder in ("a", "b"):
        file = SimpleUploadedFile("README.md", f"Of {folder}.".encode())
        operator.post(f"{HERE}upload/", {"file": file, "uri": f"{folder}/README.md", "replace": "on"})
    assert set(
        Frame.objects.filter(uri__endswith="/README.md", valid_until=None).values_list("uri", flat=True)
    ) == {
        "a/README.md",
        "b/README.md",
    }
    both = [SimpleUploadedFile(name, b"x") for name in ("a.md", "b.md")]
    refused = operator.post(f"{HERE}upload/", {"file": both, "uri": "urn:x"})
    assert refused.status_code == 422
    assert "A URI names one file" in refused.text


def test_a_frame_names_the_sessions_that_used_it(operator: Client, handbook: Collection) -> None:
    session = start_session(handbook.project, name="Läufe", by="test", collection=handbook)
    assert "No recorded find or ask has found it." in operator.get(f"{HERE}frames/0/").text
    for _ in range(2):
        find(handbook, Query(text="invoices", top_k=1), session=session)
    page = operator.get(f"{HERE}frames/0/").text
    assert "1 session, 2 steps" in page
    assert f'href="/sessions/{session.id}/?step=2"' in page
    assert "1 session over it" in operator.get(HERE).text


def test_the_collection_of_a_recorded_step_is_shown(operator: Client, handbook: Collection) -> None:
    session = start_session(handbook.project, name="s", key="s-1", by="test", collection=handbook)
    find(handbook, Query(text="invoices", top_k=1), session=session)
    delete(handbook, 0)
    assert "Retention" in operator.get(HERE, {"as_of": "s-1:1"}).text
    assert "Retention" not in operator.get(HERE).text
    wrong = operator.get(HERE, {"as_of": "s-1:99"})
    assert (wrong.status_code, "s-1" in wrong.text) == (422, True)


def test_no_page_of_files_asks_more_for_more_rows(operator: Client, handbook: Collection) -> None:
    session = start_session(handbook.project, name="s", by="test", collection=handbook)
    upload(operator, ("0.md", GUIDE.encode()))
    find(handbook, Query(text="installer"), session=session)
    addresses = (HERE, f"{HERE}frames/4/", f"{HERE}sources/{Source.objects.get().id}/?frame=4")

    def queries() -> list[int]:
        counts = []
        for address in addresses:
            with CaptureQueriesContext(connection) as asked:
                assert operator.get(address).status_code == 200
            counts.append(len(asked))
        return counts

    queries()  # the message of the upload is shown once
    before = queries()
    for number in range(1, 4):
        upload(operator, (f"{number}.md", GUIDE.encode()))
        other = start_session(handbook.project, name=f"s{number}", by="test", collection=handbook)
        find(handbook, Query(text="installer"), session=other)
    queries()
    assert queries() == before
