"""The differences between two texts: by word in the format of `git diff --word-diff`, by line if they are long. Pure."""

import difflib
import re
from collections.abc import Iterator, Sequence

MOST_WORDS = 2_000  # of both texts; comparing more takes seconds
_WORD_AND_SPACE = re.compile(r"(\S*)(\s*)")

type Word = tuple[str, str]  # with the space after it


def difference(old: str, new: str) -> Iterator[str]:
    """Lines with `[-removed-]` and `{+added+}` words, or for long texts a unified diff; none if the texts are equal."""
    if old == new:
        return iter(())
    before, after = _words(old), _words(new)
    if len(before) + len(after) > MOST_WORDS:
        return difflib.unified_diff(old.split("\n"), new.split("\n"), "original", "new", n=1, lineterm="")
    return iter(_marked(before, after).split("\n"))


def _words(text: str) -> list[Word]:
    return [(match[1], match[2]) for match in _WORD_AND_SPACE.finditer(text) if match[0]]


def _marked(old: Sequence[Word], new: Sequence[Word]) -> str:
    """The new text with marks. Space counts only if nothing else differs."""
    words_before, words_after = [word for word, _ in old], [word for word, _ in new]
    if words_before == words_after:
        return "".join(_space_marked(before, after) for before, after in zip(old, new, strict=True))
    parts: list[str] = []
    matcher = difflib.SequenceMatcher(None, words_before, words_after, autojunk=False)
    for kind, i, j, k, m in matcher.get_opcodes():
        removed, added = _text(old[i:j]), _text(new[k:m])
        parts.append(_same(removed, added) if kind == "equal" else _replaced(removed, added))
    return "".join(parts)


def _same(before: str, after: str) -> str:
    """The new text, with the space that ended the old one: a removal can follow."""
    return after if after[-1:].isspace() else after + before[len(before.rstrip()) :]


def _replaced(removed: str, added: str) -> str:
    """Both between marks, with the space at the end outside of them."""
    if not (removed + added).strip():
        return _marked_change(removed, added)
    last = added or removed
    return _marked_change(removed.rstrip(), added.rstrip()) + last[len(last.rstrip()) :]


def _space_marked(before: Word, after: Word) -> str:
    return after[0] + (after[1] if before == after else _marked_change(before[1], after[1]))


def _marked_change(removed: str, added: str) -> str:
    return (f"[-{removed}-]" if removed else "") + (f"{{+{added}+}}" if added else "")


def _text(words: Sequence[Word]) -> str:
    return "".join(word + space for word, space in words)
