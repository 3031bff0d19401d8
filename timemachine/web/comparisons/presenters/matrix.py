"""The matrix of a comparison: asks as rows, the recording and the variants as columns."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.http import QueryDict

from timemachine.core.pure.ids import uuid_of
from timemachine.core.pure.numbers import counted, whole_number
from timemachine.core.pure.verdicts import VERDICTS, listed_times
from timemachine.governance.deletion.erasure.queries import erased_answers, erased_recordings
from timemachine.governance.sharing.read_models.comparisons import SharedOpinion, SharedRemarks
from timemachine.replay.comparison.models import CellOpinion, Comparison
from timemachine.replay.comparison.pure.cells import LACKING, NOISE, Ask, Cell
from timemachine.replay.comparison.pure.findings import Findings
from timemachine.replay.comparison.pure.judge_prompt import UNDECIDED
from timemachine.replay.comparison.pure.metrics import GROUNDING, VariantTotals
from timemachine.replay.comparison.pure.variants import RECORDING, Variant, names
from timemachine.replay.comparison.queries import AnnotatedAsks, annotated, variants_of
from timemachine.replay.runs.answer_lines import NO_LINES, AnswerLines
from timemachine.replay.runs.pure.statuses import OPEN_STEP_STATUSES
from timemachine.text.pure.difference.excerpt import excerpt
from timemachine.text.pure.difference.text import Span
from timemachine.web.template_library import register

CELLS_OF_A_PAGE: Final = 72
BAR_WIDTH: Final = 40
MOST_DIFFERENT: Final = "different"
_DISTANCE: Final[Mapping[str, int]] = {name: place for place, name in enumerate(VERDICTS, 1)}
_AS_FAR_AS: Final = {"shortened": "omits", "opposite": "polarity_differs"}
"""The verdicts to which answers with other numbers are equal in distance."""
ERASED: Final = "erased"
JUDGE_WORDS: Final = {
    "waiting": "is waiting",
    "asking": "is being asked",
    "done": "gave no verdict",
    "failed": "failed",
    "lost": "was being asked when the worker stopped",
    "cancelled": "was not asked",
}
PREFERENCE_WORDS: Final = {
    "better": "the new answer is better",
    "worse": "the new answer is worse",
    "neither": "neither is better",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskFilter:
    """The filter of the asks and the base column, as given in the URL."""

    changed: bool = False
    verdict: str = ""
    lacking: str = ""
    session: UUID | None = None
    against: int = RECORDING
    after: int = 0
    sort: str = ""

    def fits(self, ask: Ask) -> bool:
        """Return whether the ask matches."""
        if self.session not in {None, ask.session}:
            return False
        if self.lacking and self.lacking not in ask.lacking:
            return False
        return (not self.changed or ask.changed) and (not self.verdict or ask.has(self.verdict))


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One answer in a cell of the table, its verdict as text, and which `facts` differ. If it was erased, `then` is the verdict before."""

    cell: Cell
    word: str
    name: str
    marks: Sequence[Any]
    opinions: Sequence[Any]
    facts: str = ""
    excerpt: Sequence[Span] = ()
    then: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedAnswers:
    """The erased answers: recorded asks by session and sequence, and replay steps by row."""

    recorded: Collection[tuple[UUID, int]]
    answers: Collection[int]

    def affects(self, ask: Ask, cell: Cell) -> bool:
        """Return whether a verdict refers to an erased answer."""
        return not cell.missing and (
            (ask.session, ask.sequence) in self.recorded or cell.step in self.answers
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownCell:
    """A cell: its runs, and the mean of each known value; None is unknown. The grounding of `low` of the runs is LOW."""

    column: str
    runs: Sequence[Run]
    grounding: float | None
    low: int
    cost_usd: float | None
    latency_ms: float | None
    has_figures: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of the matrix: its name, how often it has each verdict, and how often LOW grounding."""

    number: int
    name: str
    verdicts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The rows of one page, and the cursor of the next."""

    columns: Sequence[Column]
    rows: Sequence[tuple[Ask, Sequence[ShownCell]]]
    fitting: int
    next: int | None
    verdicts: Mapping[str, int]
    lacking: Mapping[str, int]


def ask_filter(query: QueryDict, arms: int) -> AskFilter:
    """Return the filter in the URL; unknown values are ignored."""
    against = whole_number(query.get("against", "")) or RECORDING
    return AskFilter(
        changed=query.get("show") == "changed",
        verdict=query.get("verdict", "") if query.get("verdict", "") in VERDICTS else "",
        lacking=query.get("lacking", "") if query.get("lacking", "") in LACKING else "",
        session=uuid_of(query.get("session", "")),
        against=against if against <= arms else RECORDING,
        after=whole_number(query.get("after", "")) or 0,
        sort=MOST_DIFFERENT if query.get("sort", "") == MOST_DIFFERENT else "",
    )


def matrix(
    shown: Findings,
    titles: Sequence[str],
    ask_filter: AskFilter,
    saying: Callable[[Sequence[Ask]], AnnotatedAsks | SharedRemarks] = annotated,
) -> Matrix:
    """Return a page of matching asks with ratings, judge verdicts and erasures. Two queries in addition to those of `saying`."""
    fitting = [ask for ask in shown.asks if ask_filter.fits(ask)]
    if ask_filter.sort == MOST_DIFFERENT:
        fitting.sort(key=_difference, reverse=True)
    count = max(CELLS_OF_A_PAGE // len(titles), 10)
    remarks = saying(fitting[ask_filter.after : ask_filter.after + count])
    erased = _erased_answers(remarks.asks)
    rows = [
        (ask, [_cell(ask, arm, titles[arm], (remarks, erased)) for arm in range(len(titles))])
        for ask in remarks.asks
    ]
    end = ask_filter.after + len(remarks.asks)
    return Matrix(
        columns=[
            Column(number=each.arm, name=titles[each.arm], verdicts=_totals(each, shown.asks))
            for each in shown.columns
        ],
        rows=rows,
        fitting=len(fitting),
        next=end if end < len(fitting) else None,
        verdicts=_verdicts(shown.asks),
        lacking=_lacking(shown.asks),
    )


def _totals(column: VariantTotals, asks: Sequence[Ask]) -> str:
    """Return how often a column has each verdict, and how many of its answers have LOW grounding."""
    cells = [cell for ask in asks for cell in ask.cells(column.arm)]
    changes = Counter(cell.numbers for cell in cells)
    verdicts = listed_times(column.verdicts, opposite=changes["opposite"], shortened=changes["shortened"])
    low = sum(map(_is_low, cells))
    return "; ".join(filter(None, (verdicts, f"LOW grounding in {counted(low, 'answer')}" if low else "")))


def _is_low(cell: Cell) -> bool:
    return GROUNDING.read(cell).value is not None and cell.label == "LOW"


def _difference(ask: Ask) -> tuple[int, float, int]:
    """Return how far the variants are from the recording: the farthest verdict (`VERDICTS` begins with the closest), then what all
    groundings lack, then all verdicts."""
    runs = [cell for (_, repeat), cell in ask.runs.items() if repeat != NOISE]
    distances = [_DISTANCE.get(_AS_FAR_AS.get(cell.numbers or "") or cell.verdict or "", 0) for cell in runs]
    lacking = sum(1 - cell.grounding for cell in runs if cell.grounding is not None)
    return max(distances, default=0), lacking, sum(distances)


def column_names(arms: Sequence[Variant], recorded: Sequence[str | None] = ()) -> list[str]:
    """Return the names of all columns, starting with the recording and its models."""
    return [_recording(recorded), *(f"{number} {name}" for number, name in enumerate(names(arms), 1))]


def _recording(models: Sequence[str | None]) -> str:
    known = [each for each in models if each is not None]
    if len(models) > 1:
        also = " and unrecorded ones" if len(known) < len(models) else ""
        return f"Recording ({counted(len(known), 'model')}{also})"
    return " ".join(["Recording", *known])


@register.simple_tag
def compared_models(comparison: Comparison) -> list[str]:
    """Return the names of the variants of a comparison."""
    return names(variants_of(comparison))


@register.filter
def opinion_words(opinion: CellOpinion | SharedOpinion) -> str:
    """Return a judge model's verdict in a few words; without a verdict, the status of the judgement."""
    if opinion.relation is None:
        return JUDGE_WORDS[opinion.state]
    relation = "undecided about the meaning" if opinion.relation == UNDECIDED else opinion.relation
    return f"{relation}, {PREFERENCE_WORDS.get(opinion.preference or '', 'undecided about which is better')}"


@register.filter
def bar_width(score: float | None) -> float:
    """Return the length of the bar of a score from 0 to 1, in SVG units."""
    return round(BAR_WIDTH * min(max(score or 0, 0), 1), 1)


def _erased_answers(asks: Sequence[Ask]) -> ErasedAnswers:
    """Return which of these asks have erased answers; a verdict is lost with either of its answers."""
    cells = {cell.step for ask in asks for cell in ask.runs.values() if cell.step}
    return ErasedAnswers(
        recorded=erased_recordings({(ask.session, ask.sequence) for ask in asks}),
        answers=erased_answers(list(cells)),
    )


def _cell(
    ask: Ask, arm: int, column: str, found: tuple[AnnotatedAsks | SharedRemarks, ErasedAnswers]
) -> ShownCell:
    cells, (remarks, erased) = ask.cells(arm), found
    return ShownCell(
        column=column,
        runs=[_run(cell, ask, remarks, erased=erased.affects(ask, cell)) for cell in cells],
        grounding=_mean([GROUNDING.read(cell).value for cell in cells]),
        low=sum(map(_is_low, cells)),
        cost_usd=_mean([cell.cost_usd for cell in cells if not cell.missing]),
        latency_ms=_mean([cell.latency_ms for cell in cells if not cell.missing]),
        has_figures=any(not cell.missing for cell in cells),
    )


def _run(cell: Cell, ask: Ask, remarks: AnnotatedAsks | SharedRemarks, *, erased: bool) -> Run:
    word = _word(cell)
    return Run(
        cell=cell,
        word=ERASED if erased else word,
        name=ERASED if erased else cell.verdict or _class(cell),
        then=word if erased else None,
        marks=remarks.marks.get(cell.step or 0, ()),
        opinions=remarks.opinions.get(cell.step or 0, ()),
        facts="" if erased else remarks.lines.get(cell.step or 0, NO_LINES).facts,
        excerpt=() if erased else _excerpt(cell, ask, remarks.lines),
    )


def _excerpt(cell: Cell, ask: Ask, lines: Mapping[int, AnswerLines]) -> Sequence[Span]:
    """Return the beginning of an answer, or the part around its first difference from the recorded one."""
    if cell.arm == RECORDING:
        known = (lines.get(each.step or 0, NO_LINES).recorded for each in ask.runs.values())
        return excerpt(next((each for each in known if each), None), None)
    found = lines.get(cell.step or 0, NO_LINES)
    return excerpt(found.new, found.recorded)


def _word(cell: Cell) -> str:
    if cell.arm == RECORDING:
        return cell.missing or ("refused" if cell.refused else "recorded")
    return cell.in_words or cell.missing or cell.status


def _class(cell: Cell) -> str:
    if cell.status in OPEN_STEP_STATUSES:
        return "waits"
    return "missing" if cell.missing else "recorded"


def _mean(values: Sequence[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return sum(known) / len(known) if known else None


def _lacking(asks: Sequence[Ask]) -> dict[str, int]:
    """Return the number of asks without an answer, for each reason."""
    counts = Counter(reason for ask in asks for reason in ask.lacking)
    return {reason: counts[reason] for reason in LACKING if counts[reason]}


def _verdicts(asks: Sequence[Ask]) -> dict[str, int]:
    """Return the number of asks with each verdict, in the order of the verdicts."""
    counts: Counter[str] = Counter()
    for ask in asks:
        runs = [cell for (_, repeat), cell in ask.runs.items() if repeat != NOISE]
        counts.update({cell.verdict for cell in runs if cell.verdict})
    return {name: counts[name] for name in VERDICTS if counts[name]}
