"""Input of a command: files and standard input, read completely or not at all."""

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timemachine.cli.failure import Failure
from timemachine.cli.output.grounding import answer_and_context
from timemachine.cli.source import (
    MOST_FRAMES,
    batches,
    json_size,
    read_bytes,
    read_frames,
    read_lines,
    read_text,
)

if TYPE_CHECKING:
    from timemachine.client.generated import types


def file(folder: Path, data: bytes | str, name: str = "notes.jsonl") -> str:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return str(path)


def frames(*files: str, title: str | None = None, uri: str | None = None) -> "list[types.FrameIn]":
    return read_frames(files, title=title, uri=uri)


def test_each_line_is_a_frame_and_its_other_fields_are_metadata(tmp_path: Path) -> None:
    source = file(
        tmp_path,
        '{"text": "Prüfung", "title": "t", "uri": "u", "year": 2026, "who": ["a"]}\n\n{"text": "b", "title": null}\n',
    )
    assert frames(source) == [
        {"text": "Prüfung", "title": "t", "uri": "u", "metadata": {"year": 2026, "who": ["a"]}},
        {"text": "b", "metadata": {}},
    ]


def test_a_line_whose_text_is_empty_is_a_frame(tmp_path: Path) -> None:
    source = file(tmp_path, '{"text": "", "title": "", "id": 471}')
    assert frames(source) == [{"text": "", "title": "", "metadata": {"id": 471}}]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"text": "half', "This is not JSON"),
        ("[1]", "JSON object"),
        ('"text"', "JSON object"),
        ('{"title": "no text"}', "`text` is missing"),
        ('{"text": null}', "`text` is missing"),
        ('{"text": 3}', "`text` must be a string"),
        ('{"text": "a", "title": ["b"]}', "`title` must be a string"),
        ('{"text": "a", "n": NaN}', "NaN is not JSON"),
        ('{"text": "a", "text": "b"}', "Duplicate JSON key"),
        ("[" * 99_999, "nested deeper"),
    ],
)
def test_a_bad_line_refuses_the_file_with_its_line_number(line: str, says: str, tmp_path: Path) -> None:
    source = file(tmp_path, '{"text": "good"}\n\n' + line + "\n")
    with pytest.raises(Failure) as refused:
        frames(source)
    assert refused.value.message.startswith(f"{source}, line 3: ")
    assert refused.value.message.endswith("Nothing was sent.")
    assert says in refused.value.message


def test_only_line_breaks_end_a_line(tmp_path: Path) -> None:
    odd = {"text": "a\u2028b\u0085c\x0cd", "title": "\r"}
    source = file(tmp_path, json.dumps(odd, ensure_ascii=False) + "\r\n" + '{"text": "next"}')
    assert [frame["text"] for frame in frames(source)] == [odd["text"], "next"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"\xff\xfet\x00", "not UTF-8 text"),
        (b"caf\xe9", "not UTF-8 text (byte 4)"),
    ],
)
def test_input_that_is_not_text_is_refused(data: bytes, says: str, tmp_path: Path) -> None:
    source = file(tmp_path, data, "a.jsonl")
    for read in (read_lines, read_text):
        with pytest.raises(Failure) as refused:
            read(source)
        assert says in refused.value.message


@pytest.mark.parametrize(
    ("name", "says"),
    [("not-here", "No such file"), (".", "directory"), ("a\x00b", "not a file name"), ("", "directory")],
)
def test_an_unreadable_file_is_named(name: str, says: str) -> None:
    with pytest.raises(Failure, match=says):
        read_bytes(name)


def test_standard_input_is_read_as_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("später".encode()), encoding="ascii"))
    assert read_text("-") == "später"
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(Failure, match="Standard input is empty"):
        read_text("-")


@given(st.lists(st.integers(min_value=1, max_value=50_000), min_size=1, max_size=40), st.integers(0, 500))
def test_batches_keep_every_frame_in_order_and_fit_into_a_request(sizes: list[int], more: int) -> None:
    given_frames = [{"text": "x" * size} for size in (*sizes, *([1] * more))]
    parts = list(batches(given_frames, json_size))
    assert [frame for part in parts for frame in part] == given_frames
    assert all(0 < len(part) <= MOST_FRAMES for part in parts)


def test_a_frame_larger_than_a_batch_is_sent_alone() -> None:
    large = {"text": "x" * (5 * 1024 * 1024)}
    assert [len(part) for part in batches([{"text": "a"}, large, {"text": "b"}], json_size)] == [1, 1, 1]


@pytest.mark.parametrize(
    "written",
    [
        '{"answer": "a"}',
        '{"context": ["c"]}',
        '{"answer": 1, "context": []}',
        '{"answer": "a", "context": "c"}',
        '{"answer": "a", "context": [1]}',
    ],
)
def test_a_line_to_ground_has_an_answer_and_a_list_of_texts(written: str, tmp_path: Path) -> None:
    (line,) = read_lines(file(tmp_path, written))
    with pytest.raises(Failure, match="line 1"):
        answer_and_context(line)


def test_other_fields_of_a_line_to_ground_are_ignored(tmp_path: Path) -> None:
    (line,) = read_lines(file(tmp_path, '{"id": 7, "answer": "a", "context": ["b"]}'))
    assert answer_and_context(line) == {"answer": "a", "context": ["b"]}
