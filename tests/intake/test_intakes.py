"""Files on their way into a collection: put once, whoever dies on the way, with their offsets and their history."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from tests.documents.files import pdf
from timemachine.accounts.models import Project
from timemachine.base.clock import now
from timemachine.base.errors import Conflict, InvalidInput, TooLarge
from timemachine.documents.document import LARGEST_FILE
from timemachine.intake import working
from timemachine.intake.commands import FilePut, due_for_ringing, hand_in, next_after, put_at_once
from timemachine.intake.models import Intake
from timemachine.intake.preparing import HandedIn, prepare
from timemachine.intake.queries import ended_by, intake_of
from timemachine.intake.working import BATCH, MOST_ATTEMPTS, LeaseLost, work
from timemachine.payloads.models import Payload
from timemachine.payloads.queries import text, value
from timemachine.recording.commands import end_session, start_session
from timemachine.recording.models import Action
from timemachine.retrieval.commands import LARGEST_FRAME, NewFrame, collection_named, put
from timemachine.retrieval.erasure import erase_collection
from timemachine.retrieval.models import Collection, Frame, Source, SourcePassage, SourcePut
from timemachine.retrieval.queries import since
from timemachine.retrieval.replacing import replaced_by
from timemachine.retrieval.sources import places_of, put_that_ended, sources_of

GUIDE = "# Guide\n\nHow it all began.\n\n## Install\n\nRun the installer twice.\n\n## Remove\n\nDelete the folder.\n"


@pytest.fixture
def handbook(project: Project) -> Collection:
    return collection_named(project, "handbook", by="test")


def guide(words: str = GUIDE, **more: Any) -> HandedIn:
    return HandedIn(name="guide.md", data=words.encode(), **more)


def long_text(paragraphs: int) -> HandedIn:
    words = "\n\n".join(
        f"Paragraph {number}. " + "It says a thing or two. " * 40 for number in range(paragraphs)
    )
    return HandedIn(name="long.txt", data=words.encode())


def now_put(collection: Collection, file: HandedIn, **more: Any) -> FilePut:
    return put_at_once(collection, prepare(file), by="Ada", **more)


def current(collection: Collection) -> list[Frame]:
    return list(Frame.objects.filter(collection=collection, valid_until=None).order_by("number"))


def lost(intake: Intake) -> None:
    """The worker is gone and its lease has run out."""
    Intake.objects.filter(id=intake.id).update(lease_until=now() - timedelta(seconds=1))


def test_every_passage_of_a_file_stands_in_its_source_where_it_says(handbook: Collection) -> None:
    done = now_put(handbook, guide())
    assert [each.frame.title for each in done.puts] == ["Guide", "Guide › Install", "Guide › Remove"]
    source = Source.objects.get()
    whole = text(source.text)
    assert (whole, bytes(source.original.data)) == (GUIDE, GUIDE.encode())
    for frame in current(handbook):
        assert whole[frame.source_start : frame.source_end] == text(frame.payload)
        assert (frame.source, frame.uri, frame.put_by) == (source, "guide.md", "Ada")


def test_the_same_file_again_adds_nothing(handbook: Collection) -> None:
    now_put(handbook, guide())
    again = now_put(handbook, guide())
    assert (again.new, again.ended) == (0, 0)
    assert (Frame.objects.count(), Source.objects.count()) == (3, 1)


def test_a_newer_version_ends_what_it_no_longer_has_only_where_asked(handbook: Collection) -> None:
    put(handbook, [NewFrame(text="Another file's.", uri="other.md")], by="test")
    now_put(handbook, guide())
    newer = GUIDE.replace("twice", "once").replace("## Remove\n\nDelete the folder.\n", "")
    kept = now_put(handbook, guide(newer))
    assert (kept.new, kept.ended, len(current(handbook))) == (1, 0, 5)
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
    assert {since(each) for each in ended} == {"deleted"}


def test_a_worker_notes_what_a_file_came_to(handbook: Collection) -> None:
    work(hand_in(handbook, guide(), by="Ada").id)
    work(hand_in(handbook, guide(GUIDE.replace("twice", "once"), replace=True), by="Bea").id)
    first, second = SourcePut.objects.order_by("id")
    assert (first.new, first.kept, first.ended, first.put_by) == (3, 0, 0, "Ada")
    assert (second.new, second.kept, second.ended, second.put_by) == (1, 2, 1, "Bea")


def test_what_a_putting_came_to_is_never_rewritten(handbook: Collection) -> None:
    now_put(handbook, guide())
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        SourcePut.objects.update(new=99)


def test_a_page_that_is_read_otherwise_than_before_is_another_text(handbook: Collection) -> None:
    page = HandedIn(name="p.html", data=b"<nav>Home</nav><p>A longer text")
    now_put(handbook, page)
    prepared = prepare(page)
    assert prepared.source is not None
    before = replace(prepared, source=replace(prepared.source, text="Home\n\nA longer text", left_out=()))
    assert put_at_once(handbook, before, by="Ada").source != put_at_once(handbook, prepared, by="Ada").source
    assert [each.left_out for each in Source.objects.order_by("id")] == [["navigation"], []]


def test_a_newer_file_owns_the_passages_that_it_kept(handbook: Collection) -> None:
    put(
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
    for source, whole in ((older, GUIDE), (newer, newer_words)):
        places = SourcePassage.objects.filter(source=source).select_related("frame__payload")
        assert places.count() == 3
        assert all(whole[place.start : place.end] == text(place.frame.payload) for place in places)
    kept = Frame.objects.get(title="Guide › Install")
    assert (kept.source, [place.source for place in places_of([kept.id])]) == (older, [newer, older])


def test_the_files_of_a_collection_are_counted_without_a_join_over_all_of_them(handbook: Collection) -> None:
    assert " JOIN " not in str(sources_of(handbook).query).partition('FROM "tm_source" ')[2]
    assert " GROUP BY " not in str(sources_of(handbook).query).partition('FROM "tm_source" ')[2]


def test_where_a_passage_stands_never_changes(handbook: Collection) -> None:
    now_put(handbook, guide())
    for statement in ("UPDATE tm_source_passage SET start = 0", "DELETE FROM tm_source_passage"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_a_pdf_says_on_which_page_a_passage_stands(handbook: Collection) -> None:
    file = HandedIn(
        name="p.pdf", data=pdf([["First page."], ["Second page."]]), title="Paper", uri="urn:paper"
    )
    now_put(handbook, file)
    assert [(frame.title, frame.uri, frame.metadata) for frame in current(handbook)] == [
        ("Paper, page 1", "urn:paper", {"page": 1}),
        ("Paper, page 2", "urn:paper", {"page": 2}),
    ]


def test_a_session_records_every_passage_with_its_place(project: Project, handbook: Collection) -> None:
    session = start_session(project, name="s", by="test", collection=handbook)
    done = now_put(handbook, guide(), session=session)
    assert done.sequences == [1, 2, 3]
    output = value(Action.objects.get(session=session, sequence=2).output)
    assert (output["frame"], output["version"], output["already_there"]) == (1, 1, False)
    start, end = output["source"]["start"], output["source"]["end"]
    assert GUIDE[start:end] == "## Install\n\nRun the installer twice."
    assert output["source"]["uri"] == "guide.md"


def test_lines_that_are_no_passages_refuse_the_whole_file(handbook: Collection) -> None:
    lines = b'{"text": "one"}\nnonsense\n{"title": ""}\n' + b'{"text": "%s"}' % (b"x" * (LARGEST_FRAME + 1))
    with pytest.raises(InvalidInput) as refused:
        prepare(HandedIn(name="a.jsonl", data=lines))
    assert [each["line"] for each in refused.value.facts["skipped"]] == [2, 3, 4]
    with pytest.raises(InvalidInput):
        prepare(HandedIn(name="a.jsonl", data=b'{"text": "one"}', replace=True))


def test_an_intake_is_put_in_batches_and_says_how_far_it_is(handbook: Collection) -> None:
    intake = hand_in(handbook, long_text(450), by="Ada")
    assert (intake.status, intake.total, Frame.objects.count()) == ("waiting", None, 0)
    work(intake.id)
    intake.refresh_from_db()
    assert (intake.status, intake.done, intake.total, intake.new) == ("done", 450, 450, 450)
    assert (intake.source, intake.error_code) == (Source.objects.get(), None)
    work(intake.id)
    assert Frame.objects.count() == 450


def test_a_worker_killed_half_way_is_followed_by_one_that_goes_on(
    project: Project, handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = start_session(project, name="s", by="test", collection=handbook)
    intake = hand_in(handbook, long_text(450), by="Ada", session=session)
    real, batches = working._put, []

    def dying(*given: Any) -> None:
        batches.append(given[3])
        if len(batches) == 2:
            raise SystemExit
        real(*given)

    monkeypatch.setattr(working, "_put", dying)
    with pytest.raises(SystemExit):
        work(intake.id)
    intake.refresh_from_db()
    assert (intake.status, intake.done, Frame.objects.count()) == ("running", BATCH, BATCH)
    work(intake.id)
    assert Frame.objects.count() == BATCH, "its lease still holds"
    assert due_for_ringing() == []
    lost(intake)
    assert due_for_ringing() == [intake.id]
    work(intake.id)
    intake.refresh_from_db()
    assert (intake.status, intake.done, intake.new, batches) == (
        "done",
        450,
        450,
        [0, BATCH, *range(BATCH, 450, BATCH)],
    )
    assert Action.objects.filter(session=session).count() == 450


def test_a_worker_that_slept_past_its_lease_writes_nothing(
    handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake = hand_in(handbook, guide(), by="Ada")
    real = working._put

    def slept(*given: Any) -> None:
        Intake.objects.filter(id=intake.id).update(lease_token=None)
        real(*given)

    monkeypatch.setattr(working, "_put", slept)
    work(intake.id)
    assert Frame.objects.count() == 0
    with pytest.raises(LeaseLost), transaction.atomic():
        working._write(working._Lease(intake_id=intake.id, token=intake.id), done=3)


def test_a_file_that_kills_its_workers_is_given_up(
    handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake = hand_in(handbook, guide(), by="Ada")

    def dying(*_: Any) -> None:
        raise SystemExit

    monkeypatch.setattr(working, "_put_all", dying)
    for _ in range(MOST_ATTEMPTS):
        with pytest.raises(SystemExit):
            work(intake.id)
        lost(intake)
    work(intake.id)
    intake.refresh_from_db()
    assert (intake.status, intake.error_code, intake.finished_at is None) == ("failed", "worker_lost", False)
    assert due_for_ringing(at_once=True) == []


def refused_by_the_database(*_: Any) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT 1 / 0")


def test_a_file_that_the_database_does_not_take_is_tried_again_and_says_why(
    handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake = hand_in(handbook, guide(), by="Ada")
    monkeypatch.setattr(working, "_put", refused_by_the_database)
    for _ in range(MOST_ATTEMPTS):
        with pytest.raises(DatabaseError):
            work(intake.id)
        lost(intake)
    work(intake.id)
    intake.refresh_from_db()
    assert (intake.status, intake.error_code) == ("failed", "not_kept")
    assert intake.error_message == (
        "The database did not take the passages: division by zero. The file was tried 3 times."
    )


def test_what_the_database_did_not_take_at_first_is_forgotten_once_it_does(
    handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    intake = hand_in(handbook, guide(), by="Ada")
    with monkeypatch.context() as broken:
        broken.setattr(working, "_put", refused_by_the_database)
        with pytest.raises(DatabaseError):
            work(intake.id)
    lost(intake)
    work(intake.id)
    intake.refresh_from_db()
    assert (intake.status, intake.error_code, intake.error_message) == ("done", None, None)


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("a.jsonl", b'{"text": "one"}\n{"text": 2}', "bad_lines"),
        ("a.pdf", b"%PDF-1.4 broken", "unreadable_document"),
        ("a.html", b"<script>only()</script>", "no_text"),
        ("a.txt", b"\xff", "not_text"),
    ],
)
def test_a_file_that_cannot_be_put_says_why_and_puts_nothing(
    handbook: Collection, name: str, data: bytes, code: str
) -> None:
    intake = hand_in(handbook, HandedIn(name=name, data=data), by="Ada")
    work(intake.id)
    intake.refresh_from_db()
    assert (intake.status, intake.error_code, Frame.objects.count()) == ("failed", code, 0)
    assert [each["line"] for each in intake.skipped] == ([2] if code == "bad_lines" else [])


def test_what_no_worker_could_put_is_not_taken_in(project: Project, handbook: Collection) -> None:
    with pytest.raises(InvalidInput):
        hand_in(handbook, HandedIn(name="a.txt", data=b""), by="Ada")
    with pytest.raises(TooLarge):
        hand_in(handbook, HandedIn(name="a.txt", data=b"x" * (LARGEST_FILE + 1)), by="Ada")
    with pytest.raises(InvalidInput):
        hand_in(handbook, HandedIn(name="a.pdf", data=b"no pdf"), by="Ada")
    session = start_session(project, name="s", by="test", collection=handbook)
    with pytest.raises(Conflict):
        hand_in(handbook, guide(), by="Ada", session=end_session(session.id))
    assert Intake.objects.count() == 0


def test_an_intake_whose_session_ends_or_goes_stops_there(project: Project, handbook: Collection) -> None:
    session = start_session(project, name="s", by="test", collection=handbook)
    intake, other = (hand_in(handbook, guide(), by="Ada", session=session) for _ in range(2))
    end_session(session.id)
    Intake.objects.filter(id=other.id).update(session=None)
    for each in (intake, other):
        work(each.id)
        each.refresh_from_db()
        assert (each.status, each.error_code) == ("failed", "session_ended")
    assert Frame.objects.count() == 0


def test_the_newer_of_two_files_of_one_uri_has_the_last_word(handbook: Collection) -> None:
    newer = GUIDE.replace("twice", "once")
    old = hand_in(handbook, guide(replace=True), by="Ada")
    new = hand_in(
        handbook, HandedIn(name="x.md", data=newer.encode(), uri="guide.md", replace=True), by="Ada"
    )
    other = hand_in(handbook, HandedIn(name="other.md", data=b"Another."), by="Ada")
    for each in (new, other, old):
        work(each.id)
    new.refresh_from_db()
    assert new.status == "waiting", "the older one comes first"
    assert Intake.objects.get(id=other.id).status == "done", "a file of another uri is not held"
    assert (next_after(old.id), next_after(new.id)) == ([new.id], [])
    work(new.id)
    new.refresh_from_db()
    assert (new.status, new.ended) == ("done", 1)
    texts = {text(frame.payload) for frame in current(handbook) if frame.uri == "guide.md"}
    assert {passage.text for passage in prepare(guide(newer)).frames} == texts


def test_a_file_that_was_begun_is_finished_before_another_of_its_uri(
    handbook: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (hand_in(handbook, guide(replace=True), by="Ada") for _ in range(2))
    Intake.objects.filter(id=second.id).update(status="running", attempts=1, lease_until=now() - timedelta(1))
    work(first.id)
    first.refresh_from_db()
    assert first.status == "waiting"
    work(second.id)
    work(first.id)
    assert set(Intake.objects.values_list("status", flat=True)) == {"done"}


def test_a_file_is_not_put_at_once_over_an_earlier_one_on_its_way(handbook: Collection) -> None:
    intake = hand_in(handbook, guide(replace=True), by="Ada")
    with pytest.raises(Conflict) as refused:
        now_put(handbook, guide("Newer.", replace=True))
    assert refused.value.code == "file_on_its_way"
    work(intake.id)
    assert now_put(handbook, guide("Newer.", replace=True)).ended == 3
    assert [text(frame.payload) for frame in current(handbook)] == ["Newer."]


def test_long_passages_make_small_batches(handbook: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "BATCH_CHARACTERS", 50)
    frames = [NewFrame(text="x" * 30) for _ in range(3)]
    assert [len(working._batch(frames, place)) for place in range(3)] == [1, 1, 1]


def test_a_worker_that_starts_takes_up_what_waits(handbook: Collection) -> None:
    intake = hand_in(handbook, guide(), by="Ada")
    assert due_for_ringing() == [], "its own bell has just rung"
    assert due_for_ringing(at_once=True) == [intake.id]


def test_a_frame_cannot_change_its_source(handbook: Collection) -> None:
    now_put(handbook, guide())
    for change in ({"source_start": 1}, {"source": None, "source_start": None, "source_end": None}):
        with pytest.raises(DatabaseError), transaction.atomic():
            Frame.objects.update(**change)
    for statement in ("UPDATE tm_source SET name = 'x'", "DELETE FROM tm_source"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_a_place_without_a_source_is_refused(handbook: Collection) -> None:
    now_put(handbook, guide())
    frame = current(handbook)[0]
    for places in ({"source_end": None}, {"source_start": -1}, {"source_end": 0}):
        copy = Frame.objects.get(id=frame.id)
        copy.pk, copy.version, copy.valid_until, copy.ended_by = None, 9, now(), "delete"
        for name, place in places.items():
            setattr(copy, name, place)
        with pytest.raises(IntegrityError), transaction.atomic():
            copy.save(force_insert=True)


def test_erasing_a_collection_takes_its_files_along(project: Project, handbook: Collection) -> None:
    now_put(handbook, guide())
    hand_in(handbook, long_text(3), by="Ada")
    assert erase_collection(handbook) == 3
    assert (Source.objects.count(), SourcePassage.objects.count(), Intake.objects.count()) == (0, 0, 0)
    assert Payload.objects.filter(project=project).count() == 0


def test_a_replacement_names_what_it_ended_and_what_of_it_had_been_edited_by_hand(
    handbook: Collection,
) -> None:
    first = now_put(handbook, guide())
    by_hand = NewFrame(number=1, text="Run the installer once.", title="Guide › Install", uri="guide.md")
    put(handbook, [by_hand], by="Zoë")
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


def test_a_file_that_a_worker_put_names_what_it_ended_too(handbook: Collection) -> None:
    now_put(handbook, guide())
    intake = hand_in(handbook, guide("# Guide\n\nHow it all began.\n", replace=True), by="Ada")
    work(intake.id)
    intake = intake_of(handbook.project, str(intake.id))
    assert [each.frame for each in ended_by(intake)] == [1, 2]
    assert ended_by(hand_in(handbook, guide(), by="Ada")) == []
