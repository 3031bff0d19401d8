"""Diffs of long values: requested by a page, computed by a worker, stored for a week."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import F, QuerySet

from timemachine.core.leases import MOST_ATTEMPTS, Lease, holding, mark_enqueued
from timemachine.core.pure.clock import now
from timemachine.core.pure.content import content_of, sha256_hex
from timemachine.core.pure.errors import NotFound
from timemachine.replay.alignment.details import StepDetail, detail_of, structure, written
from timemachine.replay.alignment.models import LongDiff
from timemachine.replay.alignment.runs import run_of
from timemachine.text.pure.difference.changes import (
    ChangeRow,
    Changes,
    Distinctions,
    changes_of,
    find_distinctions,
)
from timemachine.text.pure.difference.text import DiffRow, Folded, Span, fold, text_diff

# From this many characters in both texts, a worker computes the diff. Below, it takes some 100 ms with numbers and names.
LONG: Final = 60_000
_STORED_FOR: Final = timedelta(days=7)

Row = DiffRow | Folded


@dataclass(frozen=True, slots=True, kw_only=True)
class LongRows:
    """The state of a long diff: the rows of a text or the changes of JSON; both are None until it is computed.

    `distinctions` are the numbers and names of only one side. `given_up` if a worker failed too often.
    """

    id: UUID
    rows: Sequence[Row] | None
    changes: Changes | None
    distinctions: Sequence[Distinctions]
    given_up: bool


def is_long(left: str, right: str) -> bool:
    """Return whether the diff of two texts, or of two values written as JSON, needs a worker."""
    return left != right and len(left) + len(right) > LONG


def long_rows(left: StepDetail, right: StepDetail, value: str) -> LongRows:
    """Return the diff of one value of two steps. If it was not made yet, it is stored as a request for the caller to enqueue."""
    found, _ = LongDiff.objects.get_or_create(
        left_run=left.run.id,
        right_run=right.run.id,
        left_sequence=left.sequence,
        right_sequence=right.sequence,
        value=value,
        sha256=_sha256(left, right, value),
        defaults={
            "project_id": left.run.session.project_id,
            "left_session": left.run.session,
            "right_session": right.run.session,
        },
    )
    stored = found.rows
    distinctions = [Distinctions(**each) for each in found.distinctions or ()]
    return LongRows(
        id=found.id,
        rows=[_read(row) for row in stored] if isinstance(stored, list) else None,
        changes=_read_changes(stored, distinctions) if isinstance(stored, dict) else None,
        distinctions=distinctions,
        given_up=stored is None and found.attempts >= MOST_ATTEMPTS,
    )


def make(long_diff_id: UUID) -> None:
    """Compute a diff that is not computed yet. Safe to run twice; does nothing if a session was erased in the meantime."""
    with holding(_open().filter(id=long_diff_id), attempts=F("attempts") + 1) as lease:
        if lease is not None:
            _make(lease)


def _make(lease: Lease[LongDiff]) -> None:
    row = lease.row("project")
    try:
        left = detail_of(run_of(row.project, str(row.left_run)), row.left_sequence)
        right = detail_of(run_of(row.project, str(row.right_run)), row.right_sequence)
    except NotFound:
        return
    rows, distinctions = _made(*(getattr(side, row.value) for side in (left, right)))
    same = lease.held().filter(sha256=_sha256(left, right, row.value))
    same.update(rows=rows, distinctions=[asdict(each) for each in distinctions])


def _made(left: Any, right: Any) -> tuple[Any, Sequence[Distinctions]]:
    """Return the diff as it is stored, JSON by its structure, and the numbers and names that distinguish the sides."""
    one, other = structure(left), structure(right)
    if one is not None and other is not None:
        found = changes_of(one, other)
        changes = [
            [each.path, each.op, _written_spans(each.left), _written_spans(each.right)] for each in found.rows
        ]
        return {"changes": changes, "more": found.more}, found.distinctions
    texts = written(left) or "", written(right) or ""
    return [_written(each) for each in fold(text_diff(*texts).rows)], find_distinctions(*texts)


def overdue() -> QuerySet[LongDiff]:
    """Return the diffs that are not computed yet, and drop those older than a week."""
    LongDiff.objects.filter(created_at__lt=now() - _STORED_FOR).delete()
    return _open()


def is_due(long_diff_id: UUID) -> bool:
    """Return whether to enqueue a worker. Of many waiting pages, one does."""
    return bool(mark_enqueued(_open().filter(id=long_diff_id)))


def _open() -> QuerySet[LongDiff]:
    return LongDiff.objects.filter(rows__isnull=True, attempts__lt=MOST_ATTEMPTS)


def _sha256(left: StepDetail, right: StepDetail, value: str) -> str:
    sides = [content_of(getattr(side, value)).sha256 for side in (left, right)]
    return sha256_hex("".join(sides).encode())


def _written(row: Row) -> Any:
    if isinstance(row, Folded):
        return {"folded": row.count, "start": row.start}
    return [row.kind, _written_spans(row.left), _written_spans(row.right)]


def _written_spans(spans: Sequence[Span]) -> Any:
    return [[span.mark, span.text] for span in spans]


def _read(stored: Any) -> Row:
    if isinstance(stored, dict):
        return Folded(count=stored["folded"], start=stored["start"])
    kind, left, right = stored
    return DiffRow(kind, _read_spans(left), _read_spans(right))


def _read_changes(stored: Any, distinctions: Sequence[Distinctions]) -> Changes:
    rows = [
        ChangeRow(path, op, _read_spans(left), _read_spans(right))
        for path, op, left, right in stored["changes"]
    ]
    return Changes(rows=rows, more=stored["more"], distinctions=distinctions)


def _read_spans(stored: Any) -> tuple[Span, ...]:
    return tuple(Span(text, mark) for mark, text in stored)
