"""A frame of a collection in a browser: its versions, a new version, and its deletion."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.web.handbook import FACTS, HERE, texts
from timemachine.core.payloads.queries import text
from timemachine.core.pure.clock import now
from timemachine.knowledge.commands import NewFrame, put_frames
from timemachine.knowledge.models import Collection
from timemachine.knowledge.queries import frames_at, versions_of


def test_a_frame_shows_every_version_with_its_hash_and_the_text_of_one(
    viewer: Client, handbook: Collection
) -> None:
    put_frames(handbook, [NewFrame(number=1, title="Travel", text="Everybody flies.")], by="test")
    page = viewer.get(f"{HERE}frames/1/").text
    for version in versions_of(handbook, 1):
        assert version.sha256 in page
    assert "Everybody flies." in page
    assert "second class" not in page
    assert "second class" in viewer.get(f"{HERE}frames/1/", {"version": "1"}).text
    assert viewer.get(f"{HERE}frames/1/", {"version": "9"}).status_code == 404


def test_a_long_text_is_shortened_and_shown_in_full_on_demand(viewer: Client, handbook: Collection) -> None:
    long = "word " * 10_000 + "the very end"
    put_frames(handbook, [NewFrame(title="Long", text=long)], by="test")
    address = f"{HERE}frames/3/"
    page = viewer.get(address).text
    assert "The first 32.0 KB of 48.8 KB." in page
    assert "the very end" not in page
    assert "the very end" in viewer.get(address, {"more": "1"}).text
    download = viewer.get(f"{address}versions/1.txt")
    assert download.text == long
    assert viewer.get(f"{address}versions/2.txt").status_code == 404
    assert download["Content-Type"] == "text/plain; charset=utf-8"
    assert download["Content-Disposition"].startswith("attachment")


def test_a_new_version_keeps_the_metadata_and_the_history(operator: Client, handbook: Collection) -> None:
    put_frames(
        handbook, [NewFrame(title="With more", text="One.", metadata={"items": [1], "year": 2024})], by="test"
    )
    address = f"{HERE}frames/3/"
    assert "year" in operator.get(address).text
    sent = operator.post(f"{address}update/", {"title": "With more", "uri": "", "text": "Two."})
    assert (sent.status_code, sent["Location"]) == (303, address)
    assert "Version 2 of frame 3 is now current." in operator.get(address).text
    assert [(v.version, text(v.payload), v.metadata) for v in versions_of(handbook, 3)] == [
        (1, "One.", {"items": [1], "year": 2024}),
        (2, "Two.", {"items": [1], "year": 2024}),
    ]


def test_an_unedited_text_is_kept_byte_for_byte(operator: Client, handbook: Collection) -> None:
    put_frames(handbook, [NewFrame(title="Odd", text="first\r\nsecond\x00\ud800\rthird")], by="test")
    address = f"{HERE}frames/3/"
    form = operator.get(address).context["form"]
    as_browsers_send = form.initial["text"].replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")
    sent = operator.post(f"{address}update/", {"title": "Odd", "uri": "", "text": as_browsers_send})
    assert sent.status_code == 303
    assert "is unchanged. Nothing was added" in operator.get(address).text
    assert texts(handbook)[3] == "first\r\nsecond\x00\ud800\rthird"


def test_a_file_can_be_the_next_version_of_a_text_too_long_to_edit(
    operator: Client, handbook: Collection
) -> None:
    put_frames(handbook, [NewFrame(title="Long", text="x" * 300_000)], by="test")
    address = f"{HERE}frames/3/"
    assert "too long to edit here" in operator.get(address).text
    file = SimpleUploadedFile("next.txt", b"shorter now")
    assert operator.post(f"{address}update/", {"title": "Long", "text": "", "file": file}).status_code == 303
    assert texts(handbook)[3] == "shorter now"


def test_a_version_without_text_is_refused_with_the_rest_kept(operator: Client, handbook: Collection) -> None:
    page = operator.post(f"{HERE}frames/0/update/", {"title": "Renamed", "text": ""})
    assert page.status_code == 422
    assert "The text of a frame must not be empty" in page.text
    assert 'value="Renamed"' in page.text
    assert 'aria-describedby="version_text_error"' in page.text


def test_a_title_with_a_null_character_is_refused(operator: Client, handbook: Collection) -> None:
    page = operator.post(f"{HERE}frames/0/update/", {"title": "nul\x00", "text": "changed"})
    assert page.status_code == 422
    assert "Null characters are not allowed." in page.text
    assert texts(handbook)[0] == FACTS[0].text


def test_an_unreadable_request_is_refused_with_a_message(operator: Client, handbook: Collection) -> None:
    page = operator.post(f"{HERE}upload/", b"--x\r\n", content_type="multipart/form-data; boundary=\xe4")
    assert page.status_code == 422
    assert "The form cannot be read" in page.text


def test_a_deleted_frame_keeps_its_versions_and_accepts_no_more(
    operator: Client, handbook: Collection
) -> None:
    address = f"{HERE}frames/2/"
    sent = operator.post(f"{address}delete/")
    assert (sent.status_code, sent["Location"]) == (303, address)
    page = operator.get(address).text
    assert "Frame 2 deleted; its one version stays in the history." in page
    assert "Apfelbäume" in page
    assert "Add a new version" not in page
    assert operator.post(f"{address}update/", {"title": "x", "text": "y"}).status_code == 404
    assert operator.post(f"{address}delete/").status_code == 404
    assert [f.number for f in frames_at(handbook)] == [0, 1]


def test_the_page_of_a_deleted_frame_says_who_deleted_it(operator: Client, handbook: Collection) -> None:
    operator.post(f"{HERE}frames/2/delete/")
    frame = versions_of(handbook, 2).get()
    assert (frame.deleted_by, frame.ended_by) == ("operator@example.org", "delete")
    page = re.sub(r"\s+", " ", operator.get(f"{HERE}frames/2/").text)
    assert re.search(
        r"Deleted .{1,200}? by <bdi>operator@example.org</bdi>. Searches no longer find it", page
    )
    assert re.search(r"deleted .{1,200}? by <bdi>operator@example.org</bdi>", page)


def test_for_old_deletions_of_a_frame_the_user_is_shown_as_not_recorded(
    viewer: Client, handbook: Collection
) -> None:
    versions_of(handbook, 2).update(valid_until=now(), ended_by="delete")
    page = re.sub(r"\s+", " ", viewer.get(f"{HERE}frames/2/").text)
    assert page.count('by <span class="absent unrecorded">not recorded</span>') == 2


@pytest.mark.parametrize("number", ["7", "99999999999999999999999"])
def test_an_unknown_frame_is_not_found(viewer: Client, handbook: Collection, number: str) -> None:
    assert viewer.get(f"{HERE}frames/{number}/").status_code == 404
