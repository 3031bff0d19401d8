"""What the figures of a comparison show, as it is sealed: kept with the seal, and compared with what its page would show now.

A later version of the program may compute other figures of the same cells. Those are sealed as well, behind the ones before.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from timemachine.core.pure.content import canonical_json
from timemachine.evidence.models import Seal, SealedResults
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.progress import progress_of
from timemachine.replay.comparison.pure import findings_text
from timemachine.replay.comparison.pure.findings import Findings
from timemachine.replay.comparison.results import kept_of, whole

FORM: Final = findings_text.FORM


def figures(found: Findings) -> bytes:
    """Columns, each two of them against each other, and each arm against itself, as they are committed to."""
    return canonical_json(
        {
            "columns": [asdict(each) for each in found.columns],
            "pairs": [asdict(each) for each in found.pairs],
            "noise": [asdict(each) for each in found.noise],
        }
    )


def computed(comparison: Comparison) -> str:
    """The figures of a comparison that is over, computed where nobody has."""
    found = whole(comparison, progress_of([comparison])[comparison.id]).findings
    if found is None:
        raise LookupError(f"nothing was computed of the comparison {comparison.pk}")
    return figures(found).decode("ascii")


def results_now(comparison: Comparison, forms: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The figures in each of these forms: those that the page shows where it shows that form, else those that were kept with the seal."""
    newest = Seal.objects.filter(comparison=comparison).order_by("-generation").first()
    shown = _shown(comparison)
    for each in SealedResults.objects.filter(seal=newest, form__in=forms):
        live = shown if each.form == FORM else None
        yield str(each.form), live or canonical_json(json.loads(each.content))


def _shown(comparison: Comparison) -> bytes | None:
    found: Any = kept_of(comparison, progress_of([comparison])[comparison.id])
    return None if found is None else figures(found)
