"""Detecting the format of a file."""

import json
import tracemalloc
import zipfile
from io import BytesIO

import pytest

from tests.recording.importing.sample_files import read
from tests.recording.importing.samples import SAMPLES
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.pure import reader
from timemachine.recording.importing.pure.reader import opening_of
from timemachine.recording.importing.pure.registry import FORMATS, choose_format, detect_format

INSPECTED_BYTES = 32 * 1024


def zipped(*members: tuple[str, bytes]) -> bytes:
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in members:
            archive.writestr(name, data)
    return target.getvalue()


CLAUDE = b'{"type":"user","uuid":"u1","sessionId":"s1","message":{"role":"user","content":"Hello"}}\n'


def test_every_format_is_registered_under_its_name() -> None:
    assert "claude_code" in FORMATS
    assert all(name == each.name for name, each in FORMATS.items())
    assert len({each.title for each in FORMATS.values()}) == len(FORMATS)


@pytest.mark.parametrize(
    "data",
    [
        CLAUDE,
        b"half a line\n" + CLAUDE,
        b'{"type":"assistant","message":{"content":[]}}',
        b'{"type":"summary","summary":"Mend the parser","leafUuid":"u9"}',
        b'{"type":"a-type-of-next-year","sessionId":"s1"}',
        b'{"type":"system","subtype":"init","session_id":"s1"}',
    ],
)
def test_a_claude_code_session_is_recognised_by_its_lines(data: bytes) -> None:
    assert detect_format(data, "anything.txt") == "claude_code"


@pytest.mark.parametrize(
    "data",
    [
        b"just some notes",
        b'{"title":"A frame","text":"of a collection"}',
        b'{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta"}',
        b'{"type":"user"}',
        b'{"uuid":"u1","sessionId":"s1"}',
        b"[]\n" * 100 + CLAUDE,
    ],
)
def test_a_file_that_is_not_a_transcript_is_refused_with_what_was_expected(data: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"Known formats: .*claude_code, .*codex") as refusal:
        read(data, None, "notes.txt")

    assert refusal.value.code == "unknown_format"
    assert refusal.value.message.startswith("notes.txt is not a transcript")
    assert refusal.value.facts == {"known": list(FORMATS)}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (b" \n", "it is empty"),
        (b"\x89PNG\r\n\x1a\n", "it is not UTF-8 text"),
        ('{"a": 1}'.encode("utf-16"), "it is not UTF-8 text"),
        (b'{"trajectory": [], "trajectory": []}', "its JSON cannot be read: Duplicate JSON key"),
        (b'{"trajectory": [', "its JSON cannot be read"),
        (b"[" * 5_000 + b"]" * 5_000, "its JSON cannot be read: .*deep"),
        (zipped(("../../etc/x", b"1")), "has a path outside the archive"),
        (zipped(("events.jsonl", b"{}"))[:-30], "truncated"),
        (zipped(("notes.txt", b"x")), "Known formats: .*claude_code"),
    ],
)
def test_an_unreadable_file_is_refused_with_the_reason(data: bytes, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        detect_format(data, "it")


def test_a_file_without_a_name_is_called_this_file_in_a_refusal() -> None:
    with pytest.raises(InvalidInput, match=r"^This file is not a transcript"):
        detect_format(b"")


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        InvalidInput, match=r"Unknown format 'claude'. Known formats: .*claude_code"
    ) as refusal:
        read(CLAUDE, "claude")

    assert refusal.value.facts["known"] == list(FORMATS)


@pytest.mark.parametrize("name", ["claude_code", None, "", "auto"])
def test_a_file_is_read_in_the_named_or_the_recognised_format(name: str | None) -> None:
    assert [session.key for session in read(CLAUDE, name).sessions] == ["s1"]


def test_every_format_has_samples() -> None:
    assert SAMPLES.keys() == FORMATS.keys()


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, each in SAMPLES.items() for number in range(len(each))]
)
def test_a_file_is_recognised_only_by_its_own_format(name: str, number: int) -> None:
    opening = opening_of(SAMPLES[name][number])
    assert [each.name for each in FORMATS.values() if each.recognises(opening)] == [name]


def test_an_ambiguous_file_is_refused() -> None:
    both = SAMPLES["codex"][0] + SAMPLES["claude_code"][0]
    with pytest.raises(
        InvalidInput, match=r"more than one format. Choose one of: claude_code, codex\."
    ) as refusal:
        detect_format(both)
    assert refusal.value.facts == {"known": ["claude_code", "codex"]}


def test_a_wrongly_named_format_is_refused_with_the_right_one() -> None:
    with pytest.raises(InvalidInput, match="Leave the format out or use claude_code") as refusal:
        choose_format("codex", CLAUDE, "talk.jsonl")
    assert refusal.value.code == "unknown_format"


def test_only_the_beginning_of_a_large_file_is_used_to_recognise_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reader.LOOKED_AT == 1024 * 1024
    monkeypatch.setattr(reader, "LOOKED_AT", INSPECTED_BYTES)
    long = b'{"history":[],"trajectory":[' + b'{"action":"ls","thought":"' + b"x" * 3_000 + b'"},'
    data = long + b'{"thought":"y"},' * (200 * INSPECTED_BYTES // 16)
    assert len(data) > 200 * INSPECTED_BYTES
    tracemalloc.start()
    assert detect_format(data) == "swe_agent"
    assert tracemalloc.get_traced_memory()[1] < 32 * INSPECTED_BYTES
    tracemalloc.stop()
    assert len(json.dumps(opening_of(data).document)) < 2 * INSPECTED_BYTES
