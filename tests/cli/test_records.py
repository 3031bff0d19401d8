"""`put`, and the errors of `put`, `find`, `ask` and `ground`, against a real server."""

import json

import pytest

from tests.cli.terminal import Here, Terminal
from tests.text.documents.files import pdf
from timemachine.core.payloads.queries import text
from timemachine.knowledge.commands import NewFrame, put_frames
from timemachine.knowledge.models import Frame
from timemachine.recording.intake import commands as intakes
from timemachine.recording.sessions.models import Action

HANDBOOK = "\n".join(
    json.dumps(line, ensure_ascii=False)
    for line in [
        {
            "title": "Refunds",
            "uri": "handbook/1",
            "text": "Refunds are paid within 14 days of the return.",
            "year": 2026,
        },
        {"title": "Shipping", "text": "Parcels leave the warehouse in Köln every weekday at noon."},
        {"title": "Guarantee", "text": "The guarantee covers defects for three years."},
    ]
)

REFUSED: list[tuple[tuple[str, ...], bytes | None, str]] = [
    (("put", "handbook", "-"), b"", "Standard input is empty"),
    (("put", "handbook"), b" \n", "Standard input is empty"),
    (("put", "handbook", "-"), b"\xff\xfe", "not UTF-8 text"),
    (
        ("put", "handbook", "not-here.txt"),
        None,
        "not-here.txt (No such file or directory)",
    ),
    (("put", "a/b", "-"), b"text", "There is no collection 'a/b': names and IDs cannot contain a slash."),
    (("put", "a?b", "-"), b"text", "is not a valid collection name"),
    (("put", "handbook", "-", "--session", "nobody"), b"text", "There is no session 'nobody'"),
    (("find", "nothing", "--query", "q"), None, "nothing"),
    (("find", "handbook", "--query", "q", "--top-k", "0"), None, "top_k"),
    (("find", "handbook", "--query", "q", "--as-of", "yesterday"), None, "`as_of` cannot be 'yesterday'"),
    (("find", "handbook", "--query", "q", "--session", "nobody"), None, "There is no session 'nobody'"),
    (("ask", "handbook", "--question", "q", "--use-model", "nobody:x"), None, "nobody"),
    (("ask", "handbook", "--question", "q", "--use-model", "openai:gpt-5"), None, "key"),
    (("ask", "nothing", "--question", "q"), None, "nothing"),
    (("ground", "not-here.jsonl"), None, "Cannot read"),
]


def handbook(tm: Here) -> str:
    """A collection with three passages."""
    assert tm.run("put", "handbook", tm.file("handbook.jsonl", HANDBOOK)).code == 0
    return "handbook"


def test_a_jsonl_file_becomes_a_frame_for_each_line(tm: Here) -> None:
    ran = tm.run("put", "handbook", tm.file("handbook.jsonl", HANDBOOK))
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "#0 version 1: Refunds",
        "#1 version 1: Shipping",
        "#2 version 1: Guarantee",
        "3 new frames in handbook, 0 already stored.",
    ]
    stored = Frame.objects.order_by("number")
    assert [(frame.title, frame.uri, frame.metadata) for frame in stored][:2] == [
        ("Refunds", "handbook/1", {"year": 2026}),
        ("Shipping", "", {}),
    ]


def test_putting_the_same_file_again_adds_nothing(tm: Here) -> None:
    collection = handbook(tm)
    with tm.unchanged():
        repeated = tm.json("put", collection, str(tm.folder / "handbook.jsonl"))
    assert [frame["already_there"] for frame in repeated["frames"]] == [True, True, True]


def test_standard_input_becomes_one_frame_and_a_file_becomes_passages(tm: Here) -> None:
    note = "Erste Zeile\r\nzweite  Zeile 🔍\n"
    source = tm.file("Notiz.txt", note)
    assert tm.run("put", "notes", source).code == 0
    assert (
        tm.run("put", "notes", "-", "--title", "Eingabe", "--uri", "stdin:1", given=note.encode()).code == 0
    )
    assert tm.run("put", "notes", given="and without a dash").code == 0
    stored = [(frame.title, frame.uri, text(frame.payload)) for frame in Frame.objects.order_by("number")]
    assert stored == [
        ("Notiz.txt", source, note.strip()),
        ("Eingabe", "stdin:1", note),
        ("", "", "and without a dash"),
    ]


def test_standard_input_with_a_nul_character_is_stored_unchanged(tm: Here) -> None:
    assert tm.run("put", "notes", "-", given=b"before\x00after").code == 0
    assert text(Frame.objects.get().payload) == "before\x00after"


def test_files_are_put_in_order_and_split_at_their_headings(tm: Here) -> None:
    guide = tm.file("guide.md", "# Guide\n\nBegin.\n\n## Install\n\nRun it.\n")
    page = tm.file("page.html", "<title>Page</title><p>Words of it.")
    ran = tm.run("put", "docs", guide, tm.file("one.jsonl", '{"text": "a line", "title": "L"}'), page)
    assert ran.out.splitlines() == [
        "#0 version 1: Guide",
        "#1 version 1: Guide › Install",
        "#2 version 1: L",
        "#3 version 1: Page",
        "4 new frames in docs, 0 already stored.",
    ]
    repeated = tm.json("put", "docs", guide, page)
    assert [frame["already_there"] for frame in repeated["frames"]] == [True, True, True]
    assert [file["report"]["new"] for file in repeated["files"]] == [0, 0]


def test_putting_a_file_again_replaces_its_passages(tm: Here) -> None:
    guide = tm.file("guide.md", "# Guide\n\nBegin.\n\n## Install\n\nRun it.\n")
    tm.run("put", "docs", guide)
    tm.file("guide.md", "# Guide\n\nBegin.\n\n## Install\n\nRun it twice.\n")
    ran = tm.run("put", "docs", guide, "--replace")
    assert ran.out.splitlines()[-1] == "1 new frame in docs, 1 already stored, 1 ended."
    assert Frame.objects.filter(valid_until=None).count() == 2


def test_putting_a_file_again_lists_the_manually_edited_passages(tm: Here) -> None:
    guide = tm.file("guide.md", "# Guide\n\nBegin.\n\n## Install\n\nRun it.\n")
    tm.run("put", "docs", guide)
    old = Frame.objects.get(number=1)
    by_hand = NewFrame(number=1, title=old.title, uri=old.uri, text="Run it twice.")
    put_frames(old.collection, [by_hand], by="Zoë")
    ran = tm.run("put", "docs", guide)
    assert ran.out.splitlines()[-3:] == [
        "1 new frame in docs, 1 already stored.",
        "edited manually #1: Guide › Install, alongside its old text in #2",
        "1 passage was edited manually, and the file added the old text again. Delete the wrong frame, "
        "or put the file again with --replace to end the edited ones.",
    ]
    report = tm.json("put", "docs", guide)["files"][0]["report"]
    assert (report["new"], report["edited"]) == (0, 1)
    assert report["edited_frames"] == [{"frame": 1, "beside": 2, "title": "Guide › Install"}]
    assert "edited manually" in tm.run("put", "docs", guide, "--replace").out
    assert "edited manually" not in tm.run("put", "docs", guide).out


def test_the_command_waits_until_a_worker_has_put_a_pdf(tm: Here, worker: None) -> None:
    source = tm.file(
        "rules.pdf", pdf([["Invoices are kept for ten years."], ["A second page."]], title="Rules")
    )
    put = tm.json("put", "docs", source, "--title", "The rules")
    assert put["files"][0]["report"]["new"] == 2
    passages = [(each["frame"], each["title"], each["page"], each["already_there"]) for each in put["frames"]]
    assert passages == [(0, "The rules, page 1", 1, False), (1, "The rules, page 2", 2, False)]
    assert tm.run("put", "docs", source).out.splitlines() == [
        "#2 version 1: Rules, page 1",
        "#3 version 1: Rules, page 2",
        "2 new frames in docs, 0 already stored.",
    ]
    assert "#2 version 1, already stored: Rules, page 1" in tm.run("put", "docs", source).out
    assert [(frame.title, frame.metadata) for frame in Frame.objects.order_by("number")][:2] == [
        ("The rules, page 1", {"page": 1}),
        ("The rules, page 2", {"page": 2}),
    ]


def test_a_file_that_cannot_be_put_gets_a_one_line_error(tm: Here, worker: None) -> None:
    for name, data, says in (
        ("photo.png", b"\x89PNG\r\n\x1a\n\x00", "This is an image (PNG), not text."),
        ("secret.pdf", pdf([["x"]], encrypted=True), "encrypted"),
        ("named.pdf", b"no PDF", "not a PDF"),
        ("empty.md", b" \n", "is empty"),
    ):
        ran = tm.run("put", "docs", tm.file(name, data))
        assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
        assert name in ran.err
        assert says in ran.err


def test_a_put_in_a_session_is_recorded_in_it(tm: Here) -> None:
    tm.json("session", "start", "notes", "--name", "n", "--key", "s1")
    ran = tm.run("put", "notes", tm.file("two.jsonl", '{"text": "a"}\n{"text": "b"}'), "--session", "s1")
    assert ran.out.endswith("Recorded as steps 1 to 2 of s1.\n")
    assert list(Action.objects.values_list("kind", flat=True)) == ["put", "put"]


def test_frames_beyond_the_limit_of_a_request_are_all_put_in_order(tm: Here) -> None:
    lines = "\n".join(json.dumps({"text": f"passage {number}"}) for number in range(210))
    source = tm.file("many.jsonl", lines)
    put = tm.json("put", "many", source)
    assert [frame["frame"] for frame in put["frames"]] == list(range(210))
    assert Frame.objects.count() == 210
    repeated = tm.run("put", "many", source).out.splitlines()
    assert repeated[19:] == [
        "#19 version 1, already stored",
        "… and 190 more",
        "0 new frames in many, 210 already stored.",
    ]


def test_only_the_first_frames_of_a_large_file_are_printed(
    tm: Here, worker: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intakes, "AT_ONCE_BYTES", 10_000)
    source = tm.file("large.md", "".join(f"# Part {n}\n\n{'word ' * 210}\n\n" for n in range(25)))
    lines = tm.run("put", "docs", source).out.splitlines()
    assert lines[:2] == ["#0 version 1: Part 0", "#1 version 1: Part 0 › Part 1"]
    assert lines[20:] == ["… and 5 more", "25 new frames in docs, 0 already stored."]
    frames = tm.json("put", "docs", source)["frames"]
    assert [(each["frame"], each["already_there"]) for each in frames] == [(n, True) for n in range(25)]


def test_an_error_is_one_line_and_changes_nothing(tm: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    handbook(tm)
    for words, given, says in REFUSED:
        assert says in tm.refused(*words, given=given)
    words, given, says = REFUSED[0]
    assert says in tm.refused(*words, "--json", given=given)


def test_a_truncated_json_line_refuses_the_file_with_its_line_number(tm: Here) -> None:
    source = tm.file("half.jsonl", '{"text": "good"}\n{"text": "half')
    assert f"{source}, line 2: This is not JSON" in tm.refused("put", "handbook", source)
    assert f"{source}, line 2: This is not JSON" in tm.refused(
        "ground", tm.file("half.jsonl", '{"answer":"a","context":[]}\n{"ans')
    )


@pytest.mark.parametrize(
    "words",
    [
        ("put",),
        ("put", "c", "a.txt", "b.txt", "--title", "t"),
        ("put", "c", "a.jsonl", "--uri", "u"),
        ("put", "c", "-", "--replace"),
        ("find", "c"),
        ("find", "c", "--query", "q", "--mode", "guess"),
        ("find", "c", "--query", "q", "--top-k", "many"),
        ("ask", "c"),
        ("ground",),
        ("ground", "a.jsonl", "--nonsense"),
        ("nonsense",),
    ],
)
def test_wrong_usage_exits_with_2(words: tuple[str, ...], terminal: Terminal) -> None:
    ran = terminal.run(*words)
    assert (ran.code, ran.out) == (2, "")
    assert "Usage: " in ran.err
