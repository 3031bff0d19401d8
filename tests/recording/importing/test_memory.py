"""Small files cannot exhaust memory: lines, records and values have limits with clear errors."""

import io
import json
import zipfile

import pytest

from tests.recording.importing.sample_files import lines
from timemachine.core.pure.errors import TooLarge
from timemachine.recording.importing.pure import contents, reader
from timemachine.recording.importing.pure.registry import FORMATS


@pytest.fixture(autouse=True)
def low(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "MOST_LINES", 3)
    monkeypatch.setattr(reader, "MOST_VALUES", 20)


@pytest.mark.parametrize("name", ["claude_code", "codex", "openai_chat", "langsmith", "timemachine"])
def test_more_lines_than_a_report_can_list_are_refused(name: str) -> None:
    with pytest.raises(TooLarge, match="has 4 lines or records; the maximum is 3"):
        FORMATS[name].read(lines({}, {}, {}, {}))


def test_more_records_than_a_report_can_list_are_refused() -> None:
    with pytest.raises(TooLarge, match="has 4 lines or records"):
        FORMATS["langsmith"].read(b"[1, 2, 3, 4]")


def test_more_values_than_fit_in_memory_are_refused_in_a_document_and_in_an_archive() -> None:
    with pytest.raises(TooLarge, match="JSON values; the maximum is 20"):
        FORMATS["swe_agent"].read(b"[[],[],[],[],[],[],[],[],[],[],[]" + b"," * 9)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(4):
            archive.writestr(f"samples/{number}.json", json.dumps({"messages": [[]] * 4}))
    with pytest.raises(TooLarge, match="JSON values"):
        FORMATS["inspect"].read(packed.getvalue())


@pytest.mark.parametrize("name", ["langsmith", "autogen"])
def test_a_document_with_too_many_values_is_not_taken_for_lines(name: str) -> None:
    messages = [{"source": "helper", "type": "TextMessage", "content": "Hi."}] * 9
    with pytest.raises(TooLarge, match=r"The file has \d+ JSON values; the maximum is 20\. Split it\."):
        FORMATS[name].read(json.dumps({"messages": messages}).encode())


def test_the_values_of_a_file_count_once_however_often_it_is_read() -> None:
    messages = [{"source": "helper", "type": "TextMessage", "content": "Hi."}] * 3
    (session,) = FORMATS["autogen"].read(json.dumps(messages).encode()).sessions
    assert len(session.actions) == 3
