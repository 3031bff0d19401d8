"""What differs between two texts: word by word as `git diff --word-diff` writes it, line by line where they are long. Pure."""

import difflib
import re
from collections.abc import Iterator

MOST_WORDS = 2_000  # of both texts together; above, comparing words takes seconds
_WORD = re.compile(r"\S+\s*|\s+")


def difference(old: str, new: str) -> Iterator[str]:
    """Lines in which `[-…-]` was taken away and `{+…+}` came; for long texts the lines of a unified diff; none where they are equal."""
    if old == new:
        return iter(())
    old_words, new_words = _WORD.findall(old), _WORD.findall(new)
    if len(old_words) + len(new_words) > MOST_WORDS:
        lines = difflib.unified_diff(old.splitlines(), new.splitlines(), "original", "new", n=1, lineterm="")
        return iter(lines)
    return iter(_by_words(old_words, new_words).splitlines())


def _by_words(old: list[str], new: list[str]) -> str:
    parts: list[str] = []
    for kind, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            parts.extend(new[k:m])
        else:
            parts.append(_marked("[-", "".join(old[i:j]), "-]") + _marked("{+", "".join(new[k:m]), "+}"))
    return "".join(parts)


def _marked(opening: str, text: str, closing: str) -> str:
    """The text between marks, the space after it outside of them."""
    if not text:
        return ""
    kept = text.rstrip()
    if not kept:
        return f"{opening}{text}{closing}"
    return f"{opening}{kept}{closing}{text[len(kept) :]}"
