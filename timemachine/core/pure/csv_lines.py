"""Lines of CSV files that spreadsheets open without running anything."""

import csv
import io
from collections.abc import Sequence
from typing import Any, Final

_BEGIN_FORMULAS: Final = frozenset("=+-@\t\r\n")


def csv_line(values: Sequence[Any]) -> str:
    """Return one line. A text that a spreadsheet would take for a formula begins with an apostrophe."""
    out = io.StringIO()
    csv.writer(out).writerow([_harmless(value) for value in values])
    return out.getvalue()


def _harmless(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in _BEGIN_FORMULAS:
        return f"'{value}"
    return value
