"""Putting a file into a collection: passages with their locations, and the history of versions."""

from dataclasses import replace

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from tests.database_roles import as_owner
from tests.recording.intake.files import GUIDE, current, guide, long_text, now_put
from tests.text.documents.files import pdf
from timemachine.core.accounts.models import Project
from timemachine.core.payloads.models import Payload
from timemachine.core.payloads.queries import text, value
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput
from timemachine.knowledge.commands import LARGEST_FRAME, NewFrame, erase_collection, put_frames
from timemachine.knowledge.models import Collection, Frame, Source, SourcePassage, SourcePut
from timemachine.knowledge.queries import later_state
from timemachine.knowledge.sources import places_of, put_that_ended, replaced_by, sources_of
from timemachine.recording.intake.commands import hand_in, put_at_once
from timemachine.recording.intake.models import Intake
from timemachine.recording.intake.preparing import HandedIn, prepare
from timemachine.recording.sessions.commands import start_session
from timemachine.recording.sessions.models import Action


def test_every_passage_is_at_its_stated_location_in_the_source(handbook: Collection) -> None:
    done = now_put(handbook, guide())
    assert [each.frame.title for each in done.puts] == ["Guide", "Guide › Install", "Guide › Remove"]
    source = Source.objects.get()
    source_text = text(source.text)
    assert (source_text, bytes(source.original.data)) == (GUIDE, GUIDE.encode())
    for frame in current(handbook):
        assert source_text[frame.source_start : frame.source_end] == text(frame.payload)
        assert (frame.source, frame.uri, frame.put_by) == (source, "guide.md", "Ada")


def test_putting_the_same_file_again_adds_nothing(handbook: Collection) -> None:
    now_put(handbook, guide())
    repeated = now_put(handbook, guide())
    assert (repeated.new, repeated.ended) == (0, 0)
    assert (Frame.objects.count(), Source.objects.count()) == (3, 1)


def test_a_newer_version_ends_missing_passages_only_if_requested(handbook: Collection) -> None:
    put_frames(handbook, [NewFrame(text="Another file's.", uri="other.md")], by="test")
    now_put(handbook, guide())
    newer = GUIDE.replace("twice", "once").replace("## Remove\n\nDelete the folder.\n", "")
    stored = now_put(handbook, guide(newer))
    assert (stored.new, stored.ended, len(current(handbook))) == (1, 0, 5)
    replaced = now_put(handbook, guide(newer, replace=True))
    assert (replaced.new, replaced.ended) == (0, 2)
    assert [frame.title for frame in current(handbook)] == ["", "Guide", "Guide › Install"]
    ended = list(Frame.objects.filter(ended_by="replace"))
    assert len(ended) == 2
    noted = put_that_ended(handbook, ended[0].valid_until or now())
    assert noted is not None
    assert (noted.source.sha256, noted.put_by) == (replaced.source and replaced.source.sha256, "Ada")
    assert [(each.new, each.kept, each.ended) for each in SourcePut.objects.order_by("id")] == [
        (3, 0, 0),
        (1, 1, 0),
        (0, 2, 2),
    ]
    assert put_that_ended(handbook, now()) is None
    assert {later_state(each) for each in ended} == {"deleted"}


def test_the_result_of_a_put_is_append_only(handbook: Collection) -> None:
    now_put(handbook, guide())
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic(), as_owner():
        SourcePut.objects.update(new=99)


def test_a_page_that_is_read_differently_than_before_is_a_new_source(handbook: Collection) -> None:
    page = HandedIn(name="p.html", data=b"<nav>Home</nav><p>A longer text")
    now_put(handbook, page)
    prepared = prepare(page)
    assert prepared.source is not None
    before = replace(prepared, source=replace(prepared.source, text="Home\n\nA longer text", left_out=()))
    assert put_at_once(handbook, before, by="Ada").source != put_at_once(handbook, prepared, by="Ada").source
    assert [each.left_out for each in Source.objects.order_by("id")] == [["navigation"], []]


def test_a_newer_file_owns_the_unchanged_passages(handbook: Collection) -> None:
    put_frames(
        handbook,
        [NewFrame(text="## Remove\n\nDelete the folder.", title="Guide › Remove", uri="guide.md")],
        by="test",
    )
    older = now_put(handbook, guide()).source
    newer_words = "# Guide\n\nHow it all began.\n\nA preface.\n\n" + GUIDE.partition("began.\n\n")[2]
    newer = now_put(handbook, guide(newer_words, replace=True)).source
    assert older is not None
    assert newer is not None
    counts = {source.id: source.frame_count for source in sources_of(handbook)}  # type: ignore[attr-defined]
    assert counts == {newer.id: 3, older.id: 2}
    for source, source_text in ((older, GUIDE), (newer, newer_words)):
        places = SourcePassage.objects.filter(source=source).select_related("frame__payload")
        assert places.count() == 3
        assert all(source_text[place.start : place.end] == text(place.frame.payload) for place in places)
    stored = Frame.objects.get(title="Guide › Install")
    assert (stored.source, [place.source for place in places_of([stored.id])]) == (older, [newer, older])


def test_the_files_of_a_collection_are_counted_without_a_join_over_all_of_them(handbook: Collection) -> None:
    assert " JOIN " not in str(sources_of(handbook).query).partition('FROM "tm_source" ')[2]
    assert " GROUP BY " not in str(sources_of(handbook).query).partition('FROM "tm_source" ')[2]


def test_the_location_of_a_passage_never_changes(handbook: Collection) -> None:
    now_put(handbook, guide())
    for statement in ("UPDATE tm_source_passage SET start = 0", "DELETE FROM tm_source_passage"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_a_pdf_passage_has_its_page_number(handbook: Collection) -> None:
    file = HandedIn(
        name="p.pdf", data=pdf([["First page."], ["Second page."]]), title="Paper", uri="urn:paper"
    )
    now_put(handbook, file)
    assert [(frame.title, frame.uri, frame.metadata) for frame in current(handbook)] == [
        ("Paper, page 1", "urn:paper", {"page": 1}),
        ("Paper, page 2", "urn:paper", {"page": 2}),
    ]


def test_a_session_records_every_passage_with_its_location(project: Project, handbook: Collection) -> None:
    session = start_session(project, name="s", by="test", collection=handbook)
    done = now_put(handbook, guide(), session=session)
    assert done.sequences == [1, 2, 3]
    output = value(Action.objects.get(session=session, sequence=2).output)
    assert (output["frame"], output["version"], output["already_there"]) == (1, 1, False)
    start, end = output["source"]["start"], output["source"]["end"]
    assert GUIDE[start:end] == "## Install\n\nRun the installer twice."
    assert output["source"]["uri"] == "guide.md"


def test_a_file_with_invalid_lines_is_refused(handbook: Collection) -> None:
    lines = b'{"text": "one"}\nnonsense\n{"title": ""}\n' + b'{"text": "%s"}' % (b"x" * (LARGEST_FRAME + 1))
    with pytest.raises(InvalidInput) as refused:
        prepare(HandedIn(name="a.jsonl", data=lines))
    assert [each["line"] for each in refused.value.facts["skipped"]] == [2, 3, 4]
    with pytest.raises(InvalidInput):
        prepare(HandedIn(name="a.jsonl", data=b'{"text": "one"}', replace=True))


def test_a_frame_cannot_change_its_source(handbook: Collection) -> None:
    now_put(handbook, guide())
    for change in ({"source_start": 1}, {"source": None, "source_start": None, "source_end": None}):
        with pytest.raises(DatabaseError), transaction.atomic():
            Frame.objects.update(**change)
    for statement in ("UPDATE tm_source SET name = 'x'", "DELETE FROM tm_source"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_a_location_without_a_source_is_refused(handbook: Collection) -> None:
    now_put(handbook, guide())
    frame = current(handbook)[0]
    for places in ({"source_end": None}, {"source_start": -1}, {"source_end": 0}):
        copy = Frame.objects.get(id=frame.id)
        copy.pk, copy.version, copy.valid_until, copy.ended_by = None, 9, now(), "delete"
        for name, place in places.items():
            setattr(copy, name, place)
        with pytest.raises(IntegrityError), transaction.atomic():
            copy.save(force_insert=True)


def test_erasing_a_collection_erases_its_files(project: Project, handbook: Collection) -> None:
    now_put(handbook, guide())
    hand_in(handbook, long_text(3), by="Ada")
    assert erase_collection(handbook) == 3
    assert (Source.objects.count(), SourcePassage.objects.count(), Intake.objects.count()) == (0, 0, 0)
    assert Payload.objects.filter(project=project).count() == 0


def test_a_replacement_lists_the_passages_it_ended_and_the_manually_edited_ones(
    handbook: Collection,
) -> None:
    first = now_put(handbook, guide())
    by_hand = NewFrame(number=1, text="Run the installer once.", title="Guide › Install", uri="guide.md")
    put_frames(handbook, [by_hand], by="Zoë")
    (source,) = sources_of(handbook)
    counts = [(each.frame_count, each.edited_count) for each in (source,)]  # type: ignore[attr-defined]
    assert counts == [(2, 1)]
    words = "# Guide\n\nHow it all began.\n"
    newer = now_put(handbook, guide(words, replace=True))
    named = [(each.frame, each.version, each.title, each.edited) for each in newer.ended_frames]
    assert named == [(1, 2, "Guide › Install", True), (2, 1, "Guide › Remove", False)]
    replaced = replaced_by(handbook, list(sources_of(handbook)))
    assert first.source is not None
    assert {name: put.source for name, put in replaced.items()} == {first.source.id: newer.source}
    now_put(handbook, guide(replace=True))
    assert [each.name for each in sources_of(handbook) if each.id not in replaced_by(handbook, [each])] == [
        "guide.md"
    ]


def test_a_reverted_edit_and_one_included_in_a_newer_file_are_not_listed(handbook: Collection) -> None:
    now_put(handbook, guide())
    before = text(current(handbook)[1].payload)
    by_hand = NewFrame(
        number=1, title="Guide › Install", uri="guide.md", text=before.replace("twice", "once")
    )
    put_frames(handbook, [by_hand], by="Zoë")
    put_frames(handbook, [replace(by_hand, text=before)], by="Zoë")
    repeated = now_put(handbook, guide())
    assert (repeated.new, repeated.edited) == (0, [])
    put_frames(handbook, [by_hand], by="Zoë")
    newer = now_put(handbook, guide(GUIDE.replace("twice", "once")))
    assert (newer.new, newer.edited) == (0, [])
