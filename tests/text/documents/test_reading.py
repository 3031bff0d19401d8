"""Reading in a separate process: the text is the same as without one, and hostile files stop at the limits."""

import subprocess
from typing import Any, cast

import pytest

from tests.text.documents.files import bomb, pdf
from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.text.pure.documents import document as limits
from timemachine.text.pure.documents.formats import Format
from timemachine.text.pure.documents.markdown import read_markdown
from timemachine.text.pure.documents.passages import passages, split_document
from timemachine.text.pure.documents.plain_text import read_plain_text
from timemachine.text.pure.documents.reading import Limits, read

LIMITS = Limits(seconds=20, megabytes=768)


@pytest.mark.parametrize(
    ("data", "format_", "text"),
    [
        (b"plain", "text", "plain"),
        (pdf([["printed"]]), "pdf", "printed"),
    ],
)
def test_every_format_is_read_within_limits(data: bytes, format_: Format, text: str) -> None:
    assert read(data, format_, LIMITS).text == text


def test_a_file_without_text_is_refused() -> None:
    for data, format_ in ((b" \n", "text"), (b"<p> </p>", "html")):
        with pytest.raises(InvalidInput) as refused:
            read(data, cast("Format", format_), LIMITS)
        assert refused.value.code == "no_text"


def test_parts_left_out_of_a_page_are_reported_by_the_reading_process() -> None:
    assert read(b"<nav>Home</nav><p>A longer text", "html", LIMITS).left_out == ("navigation",)


def test_the_process_that_reads_a_file_has_no_secrets_of_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "sesame")
    started: list[dict[str, str]] = []
    run = subprocess.run

    def recording_run(*given: Any, **named: Any) -> Any:
        started.append(named["env"])
        return run(*given, **named)

    monkeypatch.setattr(subprocess, "run", recording_run)
    assert read(b"<p>x", "html", LIMITS).text == "x"
    (environment,) = started
    assert "SECRET_KEY" not in environment
    assert not {name for name in environment if "URL" in name or "KEY" in name or "TOKEN" in name}


def test_a_refusal_passes_through_the_reading_process_unchanged() -> None:
    with pytest.raises(InvalidInput) as refused:
        read(b"\xff\xfe\xff", "markdown", LIMITS)
    assert (refused.value.code, refused.value.facts["byte"]) == ("not_text", 3)


def test_a_file_over_the_limit_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timemachine.text.pure.documents.reading.LARGEST_FILE", 10)
    with pytest.raises(TooLarge):
        read(b"more than ten bytes", "text", LIMITS)
    assert limits.LARGEST_FILE == 32 * 1024 * 1024


def test_a_pdf_that_unpacks_to_hundreds_of_megabytes_is_refused_clearly() -> None:
    with pytest.raises(TooLarge):
        read(bomb(100), "pdf", Limits(seconds=20, megabytes=150))


def test_a_page_nested_endlessly_stops_at_the_time_limit() -> None:
    with pytest.raises(TooLarge) as refused:
        read(b"<div>" * 200_000 + b"deep", "html", Limits(seconds=1, megabytes=768))
    assert refused.value.facts["seconds"] == 1


def test_a_plain_text_of_endless_pieces_stops_at_the_time_limit() -> None:
    with pytest.raises(TooLarge) as refused:
        read(b"?! " * 8_000_000, "text", Limits(seconds=1, megabytes=2_000))
    assert refused.value.facts["seconds"] == 1


def test_a_plain_text_of_endless_pieces_stops_at_the_memory_limit() -> None:
    with pytest.raises(TooLarge):
        read(b"a\n\n" * 200_000, "text", Limits(seconds=60, megabytes=45))
    assert read(b"a\n\n" * 25_000, "text", Limits(seconds=60, megabytes=45)).text


def test_the_size_of_a_text_does_not_change_its_passages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timemachine.text.pure.documents.reading.SMALL_TEXT", 4_000)
    words = "\n\n".join(f"Paragraph {number}. It says: Zoë, 😀." for number in range(200)).encode()
    found = read(words, "text", LIMITS, name="a.txt")
    assert len(words) > 4_000
    assert found == split_document(read_plain_text(words), title="", name="a.txt")


@pytest.mark.parametrize(
    ("title", "name", "called"),
    [("Given", "a.md", "Given"), ("", "a.md", "Own"), ("\ud800\n", "", "\ud800\n")],
)
def test_a_file_has_the_given_title_or_its_own(title: str, name: str, called: str) -> None:
    found = read(b"# Own\n\nText.", "markdown", LIMITS, title=title, name=name)
    assert (found.title, found.passages[0].title.startswith(called)) == (called, True)


def test_a_file_with_too_many_passages_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("timemachine.text.pure.documents.passages.MOST_PASSAGES", 2)
    assert len(passages(read_markdown(b"# A\n\n# B"), "")) == 2
    with pytest.raises(TooLarge):
        passages(read_markdown(b"# A\n\n# B\n\n# C"), "")


def test_a_crash_of_the_reader_is_reported_as_an_unreadable_file() -> None:
    with pytest.raises(InvalidInput) as refused:
        read(b"{}", cast("Format", "papyrus"), LIMITS)
    assert refused.value.code == "unreadable_document"
