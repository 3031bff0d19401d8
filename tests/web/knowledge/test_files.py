"""Files of a collection in a browser: uploaded, followed until stored, replaced, and shown with their passages."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.html import escape

from tests.core.accounts.people import member
from tests.text.documents.files import pdf
from tests.web.handbook import HERE, NAME, upload
from tests.web.people import browser_of
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.queries import text
from timemachine.core.pure.clock import now
from timemachine.knowledge.commands import NewFrame, delete_frame, get_or_create_collection, put_frames
from timemachine.knowledge.find import Query
from timemachine.knowledge.models import Collection, Frame, Source
from timemachine.recording.answering.commands import find
from timemachine.recording.intake.commands import hand_in
from timemachine.recording.intake.models import Intake
from timemachine.recording.intake.preparing import HandedIn
from timemachine.recording.intake.worker import work as put_file
from timemachine.recording.sessions.commands import start_session

GUIDE = "# Grüße\n\nEin Anfang.\n\n## <b>Install</b>\n\nRun the installer twice.\n"


NEWER = GUIDE.replace("twice", "once")


@pytest.fixture
def handbook(handbook_once: Collection, db: None) -> Collection:
    return Collection.objects.get(pk=handbook_once.pk)


@pytest.fixture
def project(handbook: Collection) -> Project:
    return handbook.project


@pytest.fixture(scope="module")
def replaced_once(handbook_once: Collection) -> Collection:
    """A collection with an uploaded file that a newer one has replaced."""
    collection = get_or_create_collection(handbook_once.project, "guides", by="test")
    operator = Client()
    operator.force_login(member(handbook_once.project, "operator", "once@example.org", password=None).user)
    for words in (GUIDE, NEWER):
        file = SimpleUploadedFile("guide.md", words.encode())
        sent = operator.post("/collections/guides/upload/", {"file": file, "replace": "on"})
        assert sent.status_code == 303
    operator.logout()
    return collection


@pytest.fixture
def replaced(replaced_once: Collection, db: None) -> str:
    """The address of that collection."""
    return f"/collections/{replaced_once.name}/"


def test_a_files_passage_is_shown_marked_in_its_text(operator: Client, handbook: Collection) -> None:
    upload(operator, ("guide.md", GUIDE.encode()))
    source = handbook.sources.get()
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
    source = handbook.sources.get()
    page = operator.get(f"{HERE}sources/{source.id}/", {"frame": 40, "version": 1})
    shown = page.context["shown"]
    assert shown.before + shown.marked + shown.after == words[shown.start : shown.end]
    assert shown.marked == text(handbook.frames.get(number=40).payload)
    assert "Earlier text" in page.text
    later = operator.get(f"{HERE}sources/{source.id}/", {"at": str(10**9)}).context["shown"]
    assert (later.start, later.end, later.length) == (len(words),) * 3


def test_the_original_is_only_offered_as_a_download(operator: Client, handbook: Collection) -> None:
    upload(operator, ('evil "ä".html', b"<script>alert(1)</script><p>Words."))
    source = handbook.sources.get()
    sent = operator.get(f"{HERE}sources/{source.id}/original")
    assert sent.content == b"<script>alert(1)</script><p>Words."
    assert sent["Content-Type"] == "application/octet-stream"
    assert sent["Content-Disposition"] == "attachment; filename*=utf-8''evil%20%22%C3%A4%22.html"
    assert "sandbox" in sent["Content-Security-Policy"]


def test_files_are_visible_only_in_their_own_project_and_collection(
    operator: Client, handbook: Collection, other_project: Project, project: Project
) -> None:
    upload(operator, ("guide.md", GUIDE.encode()))
    source = handbook.sources.get()
    intake = hand_in(handbook, HandedIn(name="a.txt", data=b"a"), by="test")
    stranger = browser_of(other_project, "admin")
    get_or_create_collection(other_project, NAME, by="test")
    get_or_create_collection(project, "other", by="test")
    for path in (
        f"{HERE}sources/{source.id}/",
        f"{HERE}sources/{source.id}/original",
        f"/intakes/{intake.id}/",
    ):
        assert stranger.get(path).status_code == 404
        assert operator.get(path).status_code == 200
    assert operator.get(f"/collections/other/sources/{source.id}/").status_code == 404
    assert operator.get(f"{HERE}sources/nonsense/").status_code == 404


def test_an_intake_is_followed_until_it_has_finished(operator: Client, handbook: Collection) -> None:
    sent = upload(operator, ("rules.pdf", pdf([["Invoices are kept."]])))
    waiting = operator.get(sent["Location"])
    assert "a worker puts" not in waiting.text, "the page says itself how far it is, also when it is over"
    assert 'hx-trigger="every 1s"' in waiting.text
    polled = {"HX-Request": "true", "HX-Target": "progress"}
    assert operator.get(sent["Location"], {"rev": "0"}, headers=polled).status_code == 204
    put_file(Intake.objects.get().id)
    part = operator.get(sent["Location"], {"rev": "0"}, headers=polled)
    assert "1 of 1 passage stored" in part.text
    assert "hx-trigger" not in part.text
    assert "<title>" not in part.text


def test_several_files_including_a_large_one_are_all_queued(operator: Client, handbook: Collection) -> None:
    sent = upload(operator, ("a.txt", b"small"), ("b.txt", b"large " * 50_000))
    assert sent["Location"] == f"{HERE}#files"
    assert Intake.objects.count() == 2
    assert operator.get(HERE).text.count("/intakes/") == 2 + 1, "the first one stands beside the name, too"
    Intake.objects.filter(name="b.txt").update(status="running", done=27_400, total=32_378)
    progress = "b.txt</bdi> running 27,400 of 32,378</a>"
    assert progress in operator.get(HERE).text
    assert progress in operator.get("/collections/").text


def test_an_upload_may_replace_the_files_earlier_version(operator: Client, replaced: str) -> None:
    shown = operator.get(replaced).text
    assert shown.count("replaced by <a") == 1
    assert "Showing the current files" not in shown
    assert "Showing the current files" in operator.get(replaced, {"as_of": now().isoformat()}).text
    assert Frame.objects.filter(uri="guide.md", valid_until=None).count() == 2
    newest = {"file": SimpleUploadedFile("guide.md", GUIDE.encode()), "replace": "on"}
    operator.post(f"{replaced}upload/", newest)
    assert re.search(
        "1 passage of an earlier version ended: #[0-9]+ “Grüße › &lt;b&gt;Install&lt;/b&gt;”[.]",
        operator.get(replaced).text,
    )


def test_uploading_a_file_again_warns_of_a_manually_edited_passage(
    operator: Client, handbook: Collection
) -> None:
    upload(operator, ("guide.md", GUIDE.encode()))
    edited = handbook.frames.get(title__contains="Install")
    new = {"title": edited.title, "uri": edited.uri, "text": "By hand."}
    operator.post(f"{HERE}frames/{edited.number}/update/", new)
    upload(operator, ("guide.md", GUIDE.encode()))
    restored = handbook.frames.get(title=edited.title, version=1, valid_until=None).number
    page = operator.get(HERE).text
    assert "1 passage stored" in page
    assert (
        "1 passage was edited manually, and its old text from the file is current alongside the edit" in page
    )
    assert f"#{edited.number} “{escape(edited.title)}” next to #{restored}" in page
    upload(operator, ("guide.md", GUIDE.encode()))
    assert "its old text from the file is current" in operator.get(HERE).text, "still, though nothing is new"
    operator.post(f"{HERE}frames/{restored}/delete/")
    upload(operator, ("other.md", b"# Other\n\nWords."))
    assert "edited manually, and" not in operator.get(HERE).text


def test_the_page_of_an_intake_warns_of_a_manually_edited_passage(
    operator: Client, handbook: Collection
) -> None:
    file = ("rules.pdf", pdf([["Invoices are kept."]]))
    upload(operator, file)
    put_file(Intake.objects.get().id)
    edited = Frame.objects.get(uri="rules.pdf")
    manual_edit = NewFrame(number=edited.number, title=edited.title, uri=edited.uri, text="By hand.")
    put_frames(handbook, [manual_edit], by="test")
    second_upload = upload(operator, file)["Location"]
    assert "edited manually" not in operator.get(second_upload).text
    put_file(Intake.objects.get(finished_at=None).id)
    assert (
        "1 passage was edited manually, and its old text from the file is current"
        in operator.get(second_upload).text
    )


def test_a_newer_file_shows_unchanged_passages_and_a_frame_lists_all_its_files(
    operator: Client, replaced: str
) -> None:
    older_file, newer_file = Source.objects.order_by("id")
    unchanged, changed = Frame.objects.filter(uri="guide.md", valid_until=None).order_by("number")
    page = operator.get(f"{replaced}sources/{newer_file.id}/?frame={unchanged.number}").text
    assert "2 current frames" in page
    assert f"{replaced}frames/{unchanged.number}/" in page
    assert f"{replaced}frames/{changed.number}/" in page
    assert '<mark id="passage">' in page
    frame = operator.get(f"{replaced}frames/{unchanged.number}/").text
    assert frame.index("Also in") < frame.index(str(newer_file.id)) < frame.index("<dt>From</dt>")
    assert frame.index("<dt>From</dt>") < frame.index(str(older_file.id))


def test_two_files_with_the_same_name_are_refused(operator: Client, handbook: Collection) -> None:
    sent = upload(operator, ("README.md", b"One."), ("README.md", b"Two."))
    assert sent.status_code == 422
    assert "Two files have the name README.md" in sent.text
    assert Frame.objects.filter(uri="README.md").count() == 0


def test_an_upload_may_have_its_own_uri(operator: Client, handbook: Collection) -> None:
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
    assert "A URI belongs to a single file" in refused.text


def test_a_frame_names_the_sessions_that_used_it(operator: Client, handbook: Collection) -> None:
    session = start_session(handbook.project, name="Läufe", by="test", collection=handbook)
    assert "No recorded find or ask has used it." in operator.get(f"{HERE}frames/0/").text
    for _ in range(2):
        find(handbook, Query(text="invoices", top_k=1), session=session)
    page = operator.get(f"{HERE}frames/0/").text
    assert "1 session, 2 steps" in page
    assert f'href="/sessions/{session.id}/?step=2"' in page
    assert "used by 1 session" in operator.get(HERE).text


def test_the_collection_of_a_recorded_step_is_shown(operator: Client, handbook: Collection) -> None:
    session = start_session(handbook.project, name="s", key="s-1", by="test", collection=handbook)
    find(handbook, Query(text="invoices", top_k=1), session=session)
    delete_frame(handbook, 0, by="test")
    assert "Retention" in operator.get(HERE, {"as_of": "s-1:1"}).text
    assert "Retention" not in operator.get(HERE).text
    wrong = operator.get(HERE, {"as_of": "s-1:99"})
    assert (wrong.status_code, "s-1" in wrong.text) == (422, True)


def test_the_number_of_queries_does_not_grow_with_rows(operator: Client, handbook: Collection) -> None:
    session = start_session(handbook.project, name="s", by="test", collection=handbook)
    upload(operator, ("0.md", GUIDE.encode()))
    find(handbook, Query(text="installer"), session=session)
    addresses = (HERE, f"{HERE}frames/4/", f"{HERE}sources/{handbook.sources.get().id}/?frame=4")

    def queries() -> list[int]:
        counts = []
        for address in addresses:
            with CaptureQueriesContext(connection) as captured:
                assert operator.get(address).status_code == 200
            counts.append(len(captured))
        return counts

    queries()  # the message of the upload is shown once
    before = queries()
    for number in range(1, 3):
        upload(operator, (f"{number}.md", GUIDE.encode()))
        other = start_session(handbook.project, name=f"s{number}", by="test", collection=handbook)
        find(handbook, Query(text="installer"), session=other)
    queries()
    assert queries() == before


def test_a_refused_upload_says_so_above_its_form(operator: Client, handbook: Collection) -> None:
    assert "autofocus" not in operator.get(HERE).text
    page = operator.post(f"{HERE}upload/").text
    assert page.count("autofocus") == 1
    alert = page[page.index('role="alert"') :]
    assert '<a href="#files_file">Files</a>: Choose at least one file.' in alert[:400]
    assert page.index("Upload files</h2>") < page.index('role="alert"') < page.index("autofocus")


def test_if_one_of_two_files_is_broken_neither_is_stored_and_the_page_says_so(
    operator: Client, handbook: Collection
) -> None:
    good, broken = SimpleUploadedFile("a.md", b"Good."), SimpleUploadedFile("b.md", b"\xff\xfe\xff")
    refused = operator.post(f"{HERE}upload/", {"file": [good, broken]})
    assert "None of the 2 files were stored." in refused.text
    assert handbook.frames.filter(uri="a.md").count() == 0
    alone = operator.post(f"{HERE}upload/", {"file": [SimpleUploadedFile("b.md", b"\xff\xfe\xff")]})
    assert "None of the" not in alone.text


def test_the_command_on_the_server_is_shown_by_a_short_name(operator: Client, handbook: Collection) -> None:
    name = "key the timemachine command on the server's machine"
    put_frames(handbook, [NewFrame(text="Put by the command.")], by=name)
    page = operator.get(HERE).text
    assert f'<span title="{escape(name)}">timemachine command</span>' in page


def test_an_ended_passage_links_to_the_file_that_ended_it(operator: Client, replaced: str) -> None:
    ended = Frame.objects.get(ended_by="replace")
    source = Source.objects.order_by("-id")[0]
    page = " ".join(operator.get(f"{replaced}frames/{ended.number}/").text.split())
    assert '<span class="verdict bad">ended</span>' in page
    assert (
        f'Ended when <a href="{replaced}sources/{source.id}/"><bdi>guide.md</bdi></a> was uploaded again'
        in page
    )
    assert f'<a href="{replaced}sources/{source.id}/#frames-head">Current passages</a>' in page
    assert "deleted" not in page
    about = " ".join(operator.get(f"{replaced}sources/{source.id}/").text.split())
    assert ": 1 new passage, 1 unchanged, 1 of an earlier version ended" in about


def test_the_page_of_a_file_says_what_was_left_out(operator: Client, handbook: Collection) -> None:
    upload(operator, ("page.html", b"<nav>Home</nav><main><p>Prices are net.</p></main>"))
    source = handbook.sources.get()
    assert "<dd>navigation (still in the original)" in operator.get(f"{HERE}sources/{source.id}/").text
    assert text(source.text) == "Prices are net."


def test_a_failed_file_is_dismissed_from_the_list_and_keeps_its_page(
    operator: Client, viewer: Client, handbook: Collection
) -> None:
    intake = hand_in(handbook, HandedIn(name="scan.pdf", data=pdf([[]])), by="Ada")
    address = f"/intakes/{intake.id}/"
    assert operator.post(f"{address}dismiss/").status_code == 409
    put_file(intake.id)
    assert f'action="{address}dismiss/"' in operator.get(HERE).text
    assert f'action="{address}dismiss/"' not in viewer.get(HERE).text
    assert operator.get(f"{address}dismiss/").status_code == 405
    for _ in range(2):
        assert operator.post(f"{address}dismiss/")["Location"] == f"{HERE}#files"
    assert "removed from the list" in operator.get(HERE).text
    assert "scan.pdf" not in operator.get(HERE).text
    page = operator.get(address).text
    assert "Dismissed" in page
    assert "<button" not in page[page.index("<main") :]
