"""What the URL of a timeline says: a step, a tab, a filter, a view, and how much is visible."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from timemachine.core.pure.errors import InvalidInput
from timemachine.recording.timeline.pure.aggregation import GROUPS
from timemachine.recording.timeline.pure.filter import EVERYTHING, Filter, parse
from timemachine.recording.timeline.pure.picture import AxisName
from timemachine.recording.timeline.rows import View
from timemachine.recording.timeline.step import FIRST_BYTES, MORE_BYTES

VIEWS: Final = ("timeline", "table", "compact", "raw")
TABS: Final = ("action", "state", "diff", "context", "raw")


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlState:
    """The state in the URL: a step, a tab, a pinned step, a filter, expanded rows, and page cursors."""

    step: int | None
    step_written: str
    tab: str
    pin: str
    line: int
    shown: Filter
    written: str
    wrong_filter: InvalidInput | None
    unfolded: frozenset[int]
    near: int | None
    row: int | None
    before: int | None
    after: int | None
    more: bool
    raw: bool
    view: str
    unknown_names: str
    totals: str | None
    replay: str
    axis: AxisName

    @property
    def seen(self) -> View:
        """Return which part of the timeline is visible."""
        return View(shown=self.shown, unfolded=self.unfolded)

    @property
    def first_bytes(self) -> int:
        """Return how many bytes of each payload are shown."""
        return MORE_BYTES if self.more else FIRST_BYTES

    @property
    def preserved(self) -> dict[str, str | int | None]:
        """Return the parts of the query that links on the page keep."""
        return {
            "step": self.step,
            "tab": self.tab if self.tab != TABS[0] else None,
            "pin": self.pin or None,
            "filter": str(self.shown) or None,
            "open": ",".join(str(number) for number in sorted(self.unfolded)) or None,
            "view": self.view if self.view != VIEWS[0] else None,
            "totals": self.totals,
            "replay": self.replay or None,
            "raw": 1 if self.raw else None,
            "axis": self.axis if self.axis != "steps" else None,
        }


def url_state(query: Mapping[str, str]) -> UrlState:
    """Return the state in a query; unknown values are replaced by their defaults."""
    written, tab, view = (query.get(name, "").strip() for name in ("filter", "tab", "view"))
    shown, wrong = parsed_filter(written)
    totals = query.get("totals", "")
    return UrlState(
        step=whole(query.get("step", "")),
        step_written=query.get("step", "").strip(),
        tab=tab if tab in TABS else TABS[0],
        pin=query.get("pin", "").strip(),
        line=whole(query.get("line", "")) or 0,
        shown=shown,
        written=written,
        wrong_filter=wrong,
        unfolded=frozenset(
            number for each in query.get("open", "").split(",") if (number := whole(each)) is not None
        ),
        near=whole(query.get("near", "")),
        row=whole(query.get("row", "")),
        before=whole(query.get("before", "")),
        after=whole(query.get("after", "")),
        more=query.get("more") == "1",
        raw=query.get("raw") == "1",
        view=view if view in VIEWS else VIEWS[0],
        unknown_names=_unknown_names(tab, view),
        totals=totals if totals in GROUPS else None,
        replay=query.get("replay", "").strip()[:40],
        axis=axis_in(query),
    )


def axis_in(query: Mapping[str, str]) -> AxisName:
    """Return the axis of the picture in a query."""
    return "time" if query.get("axis") == "time" else "steps"


def parsed_filter(written: str) -> tuple[Filter, InvalidInput | None]:
    """Return the filter; for an invalid one the filter that matches everything, and the error."""
    try:
        return parse(written), None
    except InvalidInput as wrong:
        return EVERYTHING, wrong


def whole(text: str) -> int | None:
    """Return a whole number, limited to what the database can store; None for any other text."""
    digits = text.strip()[:19]
    return min(int(digits), 2**63 - 1) if digits.isascii() and digits.isdigit() else None


def _unknown_names(tab: str, view: str) -> str:
    """Return the messages for an unknown view and an unknown tab; empty if both are known."""
    messages = []
    if view and view not in VIEWS:
        known = f"Available views: {', '.join(VIEWS)}. This is the timeline."
        messages.append(f"There is no view “{view[:40]}”. {known}")
    if tab and tab not in TABS:
        known = f"Available tabs: {', '.join(TABS)}. This is the first."
        messages.append(f"There is no tab “{tab[:40]}”. {known}")
    return " ".join(messages)
