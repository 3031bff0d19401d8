"""Contents are stored once, whatever else has the same bytes."""

import pytest

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.commands import FEW, store
from timemachine.core.pure.content import content_of, file_content

pytestmark = pytest.mark.django_db


def test_a_content_is_stored_beside_one_with_the_same_bytes_and_another_type(project: Project) -> None:
    known = [content_of(f"word {n}") for n in range(FEW)]
    store(project.id, [*known, file_content(b"word 0")])
    new = content_of("a new word")
    found = store(project.id, [*known, new])
    assert set(found) == {*known, new}
    assert len(set(found.values())) == FEW + 1
