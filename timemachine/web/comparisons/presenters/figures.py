"""The results of a comparison for its page: the matrix, the charts, and the statistics of each two columns."""

from collections.abc import Callable, Sequence
from typing import Any

from timemachine.governance.sharing.read_models.comparisons import SharedRemarks
from timemachine.replay.comparison.pure.cells import Ask
from timemachine.replay.comparison.pure.findings import Findings
from timemachine.replay.comparison.pure.metrics import MEASURES
from timemachine.replay.comparison.pure.variants import RECORDING, Variant
from timemachine.replay.comparison.queries import AnnotatedAsks, annotated
from timemachine.replay.comparison.result_schemas import METHOD
from timemachine.web.comparisons.presenters.charts import charts
from timemachine.web.comparisons.presenters.findings import shown_pair
from timemachine.web.comparisons.presenters.matrix import AskFilter, column_names, matrix


def figures(
    shown: Findings,
    arms: Sequence[Variant],
    asked: AskFilter,
    saying: Callable[[Sequence[Ask]], AnnotatedAsks | SharedRemarks] = annotated,
) -> dict[str, Any]:
    """Return the results under their template names; `saying` loads ratings and judge verdicts of the visible asks."""
    names = column_names(arms)
    rows = matrix(shown, arms, asked, saying)
    return {
        "ask_count": len(shown.asks),
        "matrix": rows,
        "names": names,
        "charts": charts(rows.columns),
        "pairs": [shown_pair(each, names) for each in shown.against(asked.against)],
        "noise": [shown_pair(each, names) for each in shown.noise],
        "method": METHOD,
        "measures": MEASURES,
        "recording": RECORDING,
    }
