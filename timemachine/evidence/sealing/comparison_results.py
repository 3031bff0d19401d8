"""The results of a comparison, stored with the seal and compared with what its page shows now.

A later version may compute them in another form; those are sealed as well, after the earlier ones.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Final

from timemachine.core.pure.content import canonical_json
from timemachine.evidence.models import Seal, SealedResults
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.progress import progress_of
from timemachine.replay.comparison.pure import findings
from timemachine.replay.comparison.pure.findings import Findings
from timemachine.replay.comparison.results import current_results, stored_findings

FORM: Final = findings.FORM


def figures(found: Findings) -> bytes:
    """Return columns, pairs of columns and noise floors as the bytes that are committed to."""
    return canonical_json(
        {
            "columns": [each.model_dump() for each in found.columns],
            "pairs": [each.as_json() for each in found.pairs],
            "noise": [each.as_json() for each in found.noise],
        }
    )


def computed(comparison: Comparison) -> str:
    """Return the results of a finished comparison, computing them if necessary."""
    found = current_results(comparison, progress_of([comparison])[comparison.id]).findings
    if found is None:
        raise LookupError(f"nothing was computed of the comparison {comparison.pk}")
    return figures(found).decode("ascii")


def results_now(comparison: Comparison, forms: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the results in these forms: as the page shows them now, or else as stored with the seal."""
    newest = Seal.objects.filter(comparison=comparison).order_by("-generation").first()
    found = stored_findings(comparison, progress_of([comparison])[comparison.id])
    shown = None if found is None else figures(found)
    for each in SealedResults.objects.filter(seal=newest, form__in=forms):
        live = shown if each.form == FORM else None
        yield str(each.form), live or canonical_json(json.loads(each.content))
