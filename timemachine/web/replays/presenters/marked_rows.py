"""A diff of two answers with the support of each sentence marked inside it."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.template import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

from timemachine.core.pure.safe_text import shown
from timemachine.replay.alignment.long_diffs import Row
from timemachine.text.pure.difference.text import DiffRow, Span, fold, text_diff
from timemachine.web.differences import ELEMENTS
from timemachine.web.redaction_marks import drawing
from timemachine.web.sessions.presenters.sentences import Sentence
from timemachine.web.sessions.presenters.steps import support_sign
from timemachine.web.template_library import register


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedSpan:
    """A part of one side of a row, with the sentence that it belongs to. `begins` and `ends`: it is its first and its last part.

    `is_target`: links to this sentence lead here, and not to the other side.
    """

    text: str
    mark: str
    sentence: Sentence | None = None
    begins: bool = False
    ends: bool = False
    is_target: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedRow:
    """A row of the diff: like `DiffRow`, with marked spans."""

    kind: str
    left: Sequence[MarkedSpan]
    right: Sequence[MarkedSpan]


def numbered_together(
    left: Sequence[Sentence], right: Sequence[Sentence]
) -> tuple[list[Sentence], list[Sentence], list[Sentence]]:
    """Return the sentences of two answers numbered together, and all of them once.

    A sentence that both answers have, with the same support, has the same number on both sides.
    """
    numbers: dict[str, int] = {}
    everything: list[Sentence] = []

    def numbered(each: Sentence) -> Sentence:
        if each.grounded is None:
            return each
        key = repr(replace(each, number=None, score=None, text=each.text.strip()))
        if key not in numbers:
            numbers[key] = len(numbers) + 1
            everything.append(replace(each, number=numbers[key]))
        return replace(each, number=numbers[key])

    return [numbered(each) for each in left], [numbered(each) for each in right], everything


def marked_rows(
    old: str, new: str, left: Sequence[Sentence], right: Sequence[Sentence], *, everything: bool
) -> Sequence[MarkedRow | Row]:
    """Return the rows of two texts with the sentences of both sides; with `everything` nothing is collapsed."""
    rows = text_diff(old, new).rows
    targets: set[int] = set()
    sides = [
        _marked([row.left for row in rows], left, targets),
        _marked([row.right for row in rows], right, targets),
    ]
    marked = [
        MarkedRow(kind=row.kind, left=one, right=other) for row, one, other in zip(rows, *sides, strict=True)
    ]
    if everything:
        return marked
    found: list[MarkedRow | Row] = []
    for each in fold(rows):
        if isinstance(each, DiffRow):
            found.append(marked.pop(0))
        else:
            del marked[: each.count]
            found.append(each)
    return found


def _marked(
    rows: Sequence[Sequence[Span]], sentences: Sequence[Sentence], targets: set[int]
) -> list[list[MarkedSpan]]:
    """Split the spans of one side where its sentences begin and end; the numbers of sentences are added to `targets`."""
    parts = deque((each, len(each.text)) for each in sentences if each.text)
    return [[piece for span in spans for piece in _split(span, parts, targets)] for spans in rows]


def _split(span: Span, parts: deque[tuple[Sentence, int]], targets: set[int]) -> Iterator[MarkedSpan]:
    """Return the pieces of a span; `parts` are the sentences that are left, each with its number of characters that are left."""
    text = span.text
    while text:
        sentence, left = parts.popleft() if parts else (None, len(text))
        piece, text = text[:left], text[left:]
        if sentence is not None and len(piece) < left:
            parts.appendleft((sentence, left - len(piece)))
        if sentence is None or sentence.number is None:
            yield MarkedSpan(text=piece, mark=span.mark)
            continue
        begins = left == len(sentence.text)
        yield MarkedSpan(
            text=piece,
            mark=span.mark,
            sentence=sentence,
            begins=begins,
            ends=len(piece) == left,
            is_target=begins and sentence.number not in targets,
        )
        targets.add(sentence.number)


@register.simple_tag(takes_context=True)
def diff_side(context: Context, spans: Sequence[Span | MarkedSpan]) -> SafeString:
    """Return one side of a row, without the line break at its start. The page's `side` begins the ids.

    This is not a template because white space between spans would be shown.
    """
    draw, side = drawing(context), context.get("side") or ""
    return SafeString(
        "".join(
            _drawn(span, side, draw(shown(span.text if nth else span.text.removeprefix("\n"))))
            for nth, span in enumerate(spans)
        )
    )


def _drawn(span: Span | MarkedSpan, side: str, text: SafeString) -> SafeString:
    if span.mark != "same":
        element = SafeString(ELEMENTS.get(span.mark, "span"))
        text = format_html('<{0} class="{1}">{2}</{0}>', element, span.mark, text)
    if isinstance(span, Span) or span.sentence is None:
        return text
    number = span.sentence.number
    return format_html(
        '<span class="sentence {}"{}{}>{}</span>{}',
        span.sentence.support,
        format_html(' id="{}said-{}"', side, number) if span.is_target else "",
        format_html(' data-number="{}"', number) if span.begins else "",
        text,
        support_sign(span.sentence, side) if span.ends else "",
    )
