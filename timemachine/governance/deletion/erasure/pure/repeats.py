"""What was erased of a step may stand elsewhere in its session, word for word: rules that find its sentences again. Pure."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from timemachine.text.pure.language.sentences import sentence_texts
from timemachine.text.redaction.pure.engine import readable
from timemachine.text.redaction.pure.literals import Wordings
from timemachine.text.redaction.pure.rules import Rules

NAME: Final = "repeated text"
_LONGEST: Final = 1_000


def gone(before: Any, after: Any) -> Iterator[str]:
    """The texts of a JSON value that are not in it any more as they were."""
    if before == after:
        return
    if isinstance(before, dict):
        inner = after if isinstance(after, dict) else {}
        for key, value in before.items():
            yield from gone(value, inner.get(key))
    elif isinstance(before, list):
        same = isinstance(after, list) and len(after) == len(before)
        for place, value in enumerate(before):
            yield from gone(value, after[place] if same else None)
    elif isinstance(before, str):
        yield before


def rules_for(texts: Iterable[str]) -> Rules | None:
    """Rules that find these texts, and each of their sentences, wherever they stand; None where all are too short to be looked for."""
    found = Wordings.of((piece for text in texts for piece in _pieces(text)), NAME)
    return Rules(texts=found) if found.by_begin else None


def _pieces(text: str) -> Iterator[str]:
    legible = readable(text)
    for each in (legible, *sentence_texts(legible)):
        stripped = each.strip()
        yield from (stripped[begin : begin + _LONGEST] for begin in range(0, len(stripped), _LONGEST))
