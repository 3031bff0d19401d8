"""Which records of a comparison a link shows: its cells, the figures of exactly these cells, and what was said of them before the link was created."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from timemachine.evidence.sealing.comparison_records import CELL, MARK, OPINION, RESULTS, name_of
from timemachine.evidence.sealing.comparison_results import FORM
from timemachine.evidence.sealing.comparison_subject import comparison_subject
from timemachine.governance.sharing.boundaries import counted_steps
from timemachine.governance.sharing.models import ShareLink
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.queries import marks_of, opinions_of


def shown_records(link: ShareLink, comparison: Comparison) -> AbstractSet[str]:
    """The names of the records. The sealed figures are left out where answers came after the link was created: they are of more answers than it shows."""
    steps = list(counted_steps(link).values_list("id", flat=True))
    shown = {name_of(CELL, step) for step in steps}
    rows = comparison_subject(comparison).rows
    whole = all(row in shown for row in rows if row.startswith(f"{CELL} "))
    figures = {row for row in rows if row.startswith(f"{RESULTS} ")} | {name_of(RESULTS, FORM)}
    return shown | (figures if whole else set()) | set(_remarks(link, steps))


def _remarks(link: ShareLink, steps: list[int]) -> Iterator[str]:
    end = link.created_at
    for marks in marks_of(steps).values():
        yield from (name_of(MARK, each.id) for each in marks if each.created_at <= end)
    for opinions in opinions_of(steps).values():
        yield from (
            name_of(OPINION, each.id)
            for each in opinions
            if each.finished_at is not None and each.finished_at <= end
        )
