"""What differs between two texts: word by word as `git diff --word-diff` writes it, line by line where they are long. Pure."""

import difflib
import re
from collections.abc import Iterator, Sequence

MOST_WORDS = 2_000  # of both texts together; above, comparing words takes seconds
_WORD_AND_SPACE = re.compile(r"(\S*)(\s*)")

type Word = tuple[str, str]  # and the space behind it


def difference(old: str, new: str) -> Iterator[str]:
    """Lines in which `[-…-]` went and `{+…+}` came; for long texts a unified diff of their lines; none where they are equal."""
    if old == new:
        return iter(())
    before, after = _words(old), _words(new)
    if len(before) + len(after) > MOST_WORDS:
        return difflib.unified_diff(old.split("\n"), new.split("\n"), "original", "new", n=1, lineterm="")
    return iter(_marked(before, after).split("\n"))


def _words(text: str) -> list[Word]:
    return [(match[1], match[2]) for match in _WORD_AND_SPACE.finditer(text) if match[0]]


def _marked(old: Sequence[Word], new: Sequence[Word]) -> str:
    """The new text with marks. Space is looked at only where nothing else differs: then it is all that does."""
    words_before, words_after = [word for word, _ in old], [word for word, _ in new]
    if words_before == words_after:
        return "".join(_space_marked(before, after) for before, after in zip(old, new, strict=True))
    parts: list[str] = []
    matcher = difflib.SequenceMatcher(None, words_before, words_after, autojunk=False)
    for kind, i, j, k, m in matcher.get_opcodes():
        gone, come = _text(old[i:j]), _text(new[k:m])
        parts.append(_kept(gone, come) if kind == "equal" else _replaced(gone, come))
    return "".join(parts)


def _kept(before: str, after: str) -> str:
    """The text as it is now, with a space at its end where there was one: what went may follow."""
    return after if after[-1:].isspace() else after + before[len(before.rstrip()) :]


def _replaced(gone: str, come: str) -> str:
    """Both between marks, the space at the end outside of them."""
    if not (gone + come).strip():
        return _between("[-", gone, "-]") + _between("{+", come, "+}")
    kept = come.rstrip() if come else gone.rstrip()
    space = (come or gone)[len(kept) :]
    return f"{_between('[-', gone.rstrip(), '-]')}{_between('{+', come.rstrip(), '+}')}{space}"


def _space_marked(before: Word, after: Word) -> str:
    same = after[0] + after[1]
    return (
        same
        if before == after
        else f"{after[0]}{_between('[-', before[1], '-]')}{_between('{+', after[1], '+}')}"
    )


def _between(opening: str, text: str, closing: str) -> str:
    return f"{opening}{text}{closing}" if text else ""


def _text(words: Sequence[Word]) -> str:
    return "".join(word + space for word, space in words)
