"""Check module, class, function and setting names for words that this project once used in a sense of its own.

    python -m tests.lint_names

prints each name with its place and a plain replacement, and exits with 1 if it found any. Names that the field uses with these words
(`NotFound`, `term_weight`) are allowed.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent

WORDS: Final = {
    "arm": "variant",
    "arms": "variants",
    "aside": "process pool, dismiss",
    "bell": "queue",
    "door": "interface",
    "forgetting": "deletion, retention",
    "furniture": "page chrome",
    "house": "codebase",
    "leg": "retriever, candidate source",
    "legs": "retrievers, candidate sources",
    "purse": "budget",
    "ring": "enqueue",
    "room": "package, space",
    "rung": "enqueued",
    "said": "text, message, statement",
    "sketch": "index row",
    "storey": "layer",
    "telling": "rendering, distinguishing",
    "told": "rendered, formatted, shown",
    "twins": "duplicates",
    "veil": "redactor",
    "weighing": "significance",
}
"""Words that no name contains."""
NO_NOUNS: Final = {
    "again": "retry",
    "asked": "question, query, options",
    "away": "unavailable",
    "found": "match, hit, result",
    "gone": "deletions",
    "kept": "stored, cached",
    "left": "remaining",
    "nothing": "empty, explanation",
    "together": "batch, sum",
    "wanted": "query, filter, request",
    "weight": "significance",
}
"""Words that no module or class name has, and that are not a whole function name."""
FIELD_TERMS: Final = {"NotFound", "not_found"}
_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")


def findings(source: str, module: str) -> Iterator[tuple[int, str, str]]:
    """Yield line number, name and replacement of every name in a module that has one of the words."""
    yield from ((1, module, plain) for plain in _replacements(module, is_noun=True))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            is_noun = isinstance(node, ast.ClassDef)
            yield from (
                (node.lineno, node.name, plain) for plain in _replacements(node.name, is_noun=is_noun)
            )


def settings(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield the same for the settings that a module assigns."""
    for node in ast.parse(source).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = [each.id for each in targets if isinstance(each, ast.Name) and each.id.isupper()]
        yield from ((node.lineno, name, plain) for name in names for plain in _replacements(name))


def _replacements(name: str, *, is_noun: bool = False) -> Iterator[str]:
    parts = [] if name in FIELD_TERMS else [part.lower() for part in _PARTS.findall(name)]
    yield from (WORDS[part] for part in parts if part in WORDS)
    if is_noun or len(parts) == 1:
        yield from (NO_NOUNS[part] for part in parts if part in NO_NOUNS)


def main() -> int:
    """Print every finding; return the exit code."""
    count = 0
    for path in sorted((ROOT / "timemachine").rglob("*.py")):
        if "generated" in path.parts:
            continue
        source = path.read_text(encoding="utf-8")
        names = [*findings(source, path.stem), *(settings(source) if "config" in path.parts else ())]
        for line, name, plain in names:
            print(f"{path.relative_to(ROOT)}:{line}: {name}: use: {plain}")
            count += 1
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main())
