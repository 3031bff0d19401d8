"""File contents on disk and in parts: read like contents in memory, and released."""

import pytest
from django.db import InternalError, ProgrammingError, transaction
from pytest_django.fixtures import Settings

from tests.recording.importing.sample_files import lines
from tests.recording.importing.transcript_samples import CODEX_RECORDS
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput, TooLarge
from timemachine.recording.importing import worker
from timemachine.recording.importing.models import FilePart
from timemachine.recording.importing.pure.contents import count_in, raw_lines
from timemachine.recording.importing.pure.registry import choose_format
from timemachine.recording.importing.worker import IN_MEMORY, hand_in, received, work
from timemachine.recording.sessions.models import Action


def test_a_file_on_disk_reads_like_one_in_memory() -> None:
    parts = [b"a\n", b"x" * IN_MEMORY, b"\nb\n", b"c"]
    with received(parts) as there:
        assert not isinstance(there, bytes)
        assert (there[:3], len(there)) == (b"a\nx", IN_MEMORY + 6)
        assert (count_in(there, b"\n"), count_in(b"".join(parts), b"\n")) == (3, 3)
        assert list(raw_lines(there)) == list(raw_lines(b"".join(parts)))


def test_a_large_file_on_disk_is_recognised_by_its_beginning() -> None:
    with received([lines(*CODEX_RECORDS), b"\n", b" " * IN_MEMORY]) as there:
        assert choose_format(None, there) == "codex"
    with received([b" " * (IN_MEMORY + 1)]) as there, pytest.raises(InvalidInput, match="megabyte is blank"):
        choose_format(None, there)


@pytest.mark.django_db
def test_the_parts_of_a_file_are_deleted_at_the_end_of_its_import(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "PART_BYTES", 100)
    file = lines(*CODEX_RECORDS)
    found = hand_in(project, file, by="Ada")
    assert b"".join(bytes(part.data) for part in found.parts.order_by("number")) == file
    work(found.id)
    found.refresh_from_db()
    assert (found.status, Action.objects.count(), FilePart.objects.count()) == ("done", 11, 0)
    with pytest.raises((InternalError, ProgrammingError), match="takes no more parts"), transaction.atomic():
        FilePart.objects.create(file_import=found, number=1, data=b"x")


def test_a_file_over_the_limit_is_refused_wherever_it_comes_from(settings: Settings) -> None:
    settings.MAX_IMPORT_BYTES = 10
    with pytest.raises(TooLarge), received([b"x" * 11]):
        pass
