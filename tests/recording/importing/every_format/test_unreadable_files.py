"""Packed, truncated and unknown files: imported completely, or refused with the reason and without leaving anything."""

import gzip
import sys
from collections.abc import Callable

import pytest

from tests.recording.importing.every_format.test_laws import read_or_reason
from tests.recording.importing.sample_files import archive
from tests.recording.importing.samples import SAMPLES
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.importing.commands import import_file
from timemachine.recording.importing.pure.registry import FORMATS
from timemachine.recording.importing.worker import received
from timemachine.recording.sessions.models import Action, Session

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

NAMES = sorted(FORMATS)


def whole(data: bytes, size: int = 100) -> bytes:
    with received([data[at : at + size] for at in range(0, len(data), size)]) as content:
        return content[:]


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
@pytest.mark.parametrize("name", NAMES)
def test_a_packed_file_is_read_like_the_original_and_refused_if_cut_off(
    name: str, pack: Callable[[bytes], bytes]
) -> None:
    data = SAMPLES[name][0]
    assert whole(pack(data)) == data
    with pytest.raises(InvalidInput, match="truncated"):
        whole(pack(data)[:-3])


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (b"\n\n", "it is empty"),
        (b"\x00\x01\x02\xff" * 9, "not UTF-8 text"),
        (b"SQLite format 3\x00" + bytes(80), "SQLite database"),
        (b'{\n "title": "a",\n "text": ', "line 3"),
        (b'{"title": "a"', "line 1, character 14"),
        (archive({"a.txt": b"a", "b.txt": b"b"}), "'a.txt', 'b.txt'"),
        (archive({f"{number}.txt": b"a" for number in range(9)}), "and 4 more"),
        (archive({}), "no files"),
        (archive({"s.jsonl": SAMPLES["claude_code"][0]}), "Unpack it"),
        (b"Dear diary", "not a transcript"),
    ],
)
@pytest.mark.django_db
def test_an_unknown_file_is_refused_with_the_reason_and_all_that_can_be_read(
    project: Project, data: bytes, why: str
) -> None:
    with pytest.raises(InvalidInput, match=r"Known formats: agentos, .*who_and_when") as refused:
        import_file(project, data, by="test")
    assert why in refused.value.message


@pytest.mark.parametrize("left", [0.5, 0.98])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.django_db
def test_a_cut_off_file_is_imported_as_far_as_it_goes_or_not_at_all(
    project: Project, name: str, left: float
) -> None:
    data = SAMPLES[name][0][: int(len(SAMPLES[name][0]) * left)]
    if isinstance(read_or_reason(name, data), InvalidInput):
        with pytest.raises(InvalidInput):
            import_file(project, data, by="test", format_name=name)
        assert not Session.objects.exists()
    else:
        done = import_file(project, data, by="test", format_name=name)
        assert Action.objects.count() == sum(each.actions for each in done.sessions)
