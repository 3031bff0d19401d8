"""Check the prose for phrases that this project once used and that no native speaker would write.

    python -m tests.lint_words

prints each phrase with its place and a plain replacement, and exits with 1 if it found any. Code blocks and inline code of documents are not
checked. In Python files, comments, docstrings and other strings are.
"""

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
CHECKED: Final = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "Makefile",
    "docs",
    "templates",
    "timemachine",
    "clients",
)
"""Files, and folders in which every file of these kinds is checked: .md, .html, .py, .sql."""

PHRASES: Final = {
    # words for "after", "finished", "again"
    r"\bbehind (?:it|them|that|those|which|the|each|its|a|an|one)\b(?! (?:proxy|scenes))": "after",
    r"\b(?:is|are|was|were) over\b(?! \d| the limit| its| their)": "has finished",
    r"\banew\b": "again",
    r"\bfrom (?:then|now|there) on\b": "afterwards (or leave it out)",
    r"\bin (?:its|their) turn\b": "(leave it out)",
    r"(?<!nothing\s)\bby itself\b": "automatically",
    r"\bfor good\b": "permanently",
    # where things are
    r"\b(?:lies|lie|lay) (?:in|on|at|outside|within|below|elsewhere)\b": "is in, is stored in",
    r"\bstands? (?:in(?! for\b)|at|on|there|beside|under|as|behind)\b": "is in, appears in, remains",
    r"\bstood (?:in|at|on|there|beside)\b": "was in, was at",
    r"\bin (?:its|their) place stands?\b": "is replaced by",
    r"\bbeside (?:the|its|it|each|every|a|them|that)\b": "next to, in addition to",
    # who does it
    r"\b[Ww]hoever\b": "anyone who, or the role: an administrator, a visitor",
    r"(?:^|[.;:] )Who (?!is|uses|else|can|may|did|does|sees|made)[a-z]+s\b": "anyone who, users who",
    r"\bto (?:who|whom) [a-z]+s\b": "to anyone who",
    r"\b[Ss]omebody\b": "someone, or the role: an administrator, a reviewer",
    r"\b[Nn]obody (?:has|is|was|knows|asks)\b": "a passive: is not checked yet",
    # telling and saying
    r"\b(?:is|are|was|were|be) (?:told|said)\b(?! apart)": "is shown, is reported, is listed",
    r"\btells? (?:of|no|so)\b": "shows, reports",
    r"\bsays? so\b": "reports this, or say the thing itself",
    r"\bsays? of (?:it|each|such|them|which|every|a)\b": "shows for each",
    r"\bsays? by which\b": "shows which",
    r"\b[Tt]old again\b": "shown again",
    # denying and limiting
    r"(?<!there\s)\b(?:is|are) none\b(?! of)": "is not one, there are none",
    r"\bthere (?:that )?(?:is|are) not\b": "does not exist",
    r"\bshall(?: not)?\b": "must, should",
    r"\botherwise than\b": "differently from",
    r"\bany longer than\b": "longer than",
    r"\bso (?:many|much|long|old|far) (?:days|of|as|tokens|characters|times|words)\b": "this many, or name the number",
    r"\bas ever\b": "(leave it out)",
    r"\bcannot be as (?:it|they) (?:is|are)\b": "is not valid: say what is",
    # what becomes of what
    r"\b[Ww]hat became of\b": "what happened to",
    r"\b[Ww]hat came of\b": "the result of, how it ended",
    r"\bcomes? to (?:nothing|something|the same)\b": "results in, equals",
    r"\b(?:goes?|went|gone) with (?:it|them|the|its|their)\b": "is deleted together with",
    r"\bwent on from\b": "branched from",
    r"\bgoes on (?:from|with)\b": "continues",
    r"\b(?:is|are|be) held to\b": "is checked against",
    r"\bheld still\b": "still under legal hold",
    r"\b(?:is|are|was|were|been|be) (?:rung|bell)\b|\b[Rr]ings? (?:for|again|the)\b": "is queued",
    r"\b[Pp]uts? (?:(?:an?|the|it|them) (?:[a-z]+ )?)?aside\b": "dismissed",
    r"\b(?:is|are|be) asked for\b": "is requested, is required",
    r"\bat once\b(?! (?:per|by))": "immediately, or: at the same time",
    r"\bthereof\b|\btherein\b|\bthereby\b|\bwhereof\b": "of it, in it",
    r"\bin (?:one|other) words? than\b": "in other words",
    r"\bof several\b[^.|`]{0,60}\bone\b": "if there are several, …",
    r"\b[Dd]oors?\b|\b[Rr]ooms?\b|\b[Dd]oorbell\b": "interface, package, queue",
    r"\bweigh(?:s|ed)? (?:more|less) in\b": "counts for more",
    r"(?:^|[.:;] )Of (?:a|an|the|each|every|ended|what|several)\b": "For a session, … / In a session, …",
    r"\b[Nn]othing of (?:it|them|that|this|those)\b": "nothing in it",
    r"\bnot (?:told|meant|there) any ?more\b": "no longer shown, no longer exists",
    r"\bcall(?:ed)? off\b": "cancel",
    r"\b(?:is|are|was|were) looked (?:for|through)\b": "is searched",
    r"\bwhat (?:it|they|each|this) (?:comes?|came) to\b": "its result, its total",
    r"\b(?:is|are) under way\b": "is running",
    r"\bstill (?:records|runs|goes)\b": "is still recording, is still running",
    r"\bas its maker chooses\b": "optional",
    r"\bis (?:what it is|as it is)\b": "(say what it is)",
    # phrases from errors and summaries
    r"\b(?:is|are|was|were|not|no|wrote|be|still) whole\b(?! numbers?| seconds)": "complete, intact",
    r"\bnothing that (?:can|may) be\b": "cannot be …",
    r"\bfault of (?:ours|mine)\b": "internal error",
    r"\bno such address\b": "not found",
    r"\b(?:what|those|that|all) there (?:is|are)\b(?! (?:to|no|a)\b)": "(name them)",
    r"\banswered already\b": "already answered",
    r"\b[Ss]a(?:y|ys|id) (?:no|yes)\b": "accept, dismiss",
    r"\b[Ww]hat rules propose\b": "suggestions",
    r"\b[Ww]ho outside\b": "(name them)",
    r"\b[Aa]sk no (?:further|other|more)\b": "stop asking",
    r"\bin bulk off\b": "cancel a bulk deletion",
    r"\b[Mm]end(?:s|ed)?\b": "fix, repair",
    r"\btak(?:e|es|en|ing) (?:along|away)\b": "removed, downloaded",
    r"\bwithout end\b": "endless, forever",
    # phrases from pages
    r"\bthe last on\b": "most recently on",
    r"\b(?:takes?|took) the place of\b|\bin the place of\b": "replaces",
    r"\b(?:came|comes) again\b": "recurs",
    r"\b[Tt]he figures\b": "numbers, statistics, results",
    r"\bno way back\b": "cannot be undone",
    r"\b[Nn]obody any\b": "no one, or a passive",
    r"\bthere was before\b": "the original",
    r"\b[Ll]ook what\b": "preview",
    r"\blately\b": "recently",
    r"\b(?:at most|in|of|up to) so (?:many|much|long)\b": "this many, or name the number",
    r"\bwritten in another way\b": "formatted differently",
    r"\bworth telling\b": "worth an alert",
    r"\bgone already\b|\bstood (?:there )?already\b": "already deleted, already stored",
    r"\b(?:asked|done|repeated) again as it was\b": "repeated as recorded",
}
COMPILED: Final = [
    (re.compile(phrase.replace(" ", r"\s+"), re.MULTILINE), plain) for phrase, plain in PHRASES.items()
]
NOT_PROSE: Final = {
    "": re.compile(r"(?!)"),
    ".sql": re.compile(r"^(?![ ]*--)[^\n]*", re.MULTILINE),
    ".md": re.compile(r"```.*?```|`[^`\n]*`|\]\([^)\n]*\)|<!--.*?-->", re.DOTALL),
    ".html": re.compile(
        r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<(?:pre|code|script)\b.*?</(?:pre|code|script)>|<[^>]*>", re.DOTALL
    ),
}
KINDS: Final = {*NOT_PROSE, ".py"} - {""}
CODE: Final = re.compile(r"`[^`\n]*`")
QUOTES: Final = re.compile(r"""\A[a-zA-Z]*('{3}|"{3}|'|")|('{3}|"{3}|'|")\Z""")
LAYOUT: Final = {
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.FSTRING_START,
    tokenize.FSTRING_END,
}


OTHERS: Final = {
    "timemachine/management/demo/handbook.py",
    "timemachine/memory/transcripts/pure/summary_prompt.py",
    "timemachine/recording/answering/pure/prompt.py",
    "timemachine/replay/judging/pure/prompt.py",
    "timemachine/text/pure/language/words.py",
}
"""Files with texts that are data: recorded examples, prompts of models, word lists."""


def files() -> Iterator[Path]:
    """Yield every file that is checked."""
    for name in CHECKED:
        path = ROOT / name
        yield from (
            sorted(
                each
                for each in path.rglob("*")
                if each.suffix in KINDS
                and str(each.relative_to(ROOT)) not in OTHERS
                and "node_modules" not in each.parts
            )
            if path.is_dir()
            else [path]
        )


def blank(found: re.Match[str]) -> str:
    """Return the line breaks of what was matched, so that line numbers stay right."""
    return "`" + "\n" * found.group().count("\n")


def python_prose(source: str) -> str:
    """Return comments and the contents of strings, each on its own line; any other tokens are a backtick."""
    parts = [""]
    row = 1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.start[0] > row:
            parts.append("\n" * (token.start[0] - row))
            row = token.start[0]
        if token.type in LAYOUT:
            continue
        if token.type == tokenize.COMMENT:
            parts.append(token.string.lstrip("# "))
        elif token.type == tokenize.STRING:
            parts.append(CODE.sub("`", re.sub(r"\n[ ]+", "\n", QUOTES.sub("", token.string))))
        elif token.type == tokenize.FSTRING_MIDDLE:
            parts.append(token.string)
        elif parts[-1] != "`":
            parts.append("`")
        row = token.end[0]
    return "".join(parts)


def findings(text: str, suffix: str) -> list[tuple[int, str, str]]:
    """Return line number, phrase and replacement of every banned phrase in a text."""
    prose = python_prose(text) if suffix == ".py" else NOT_PROSE[suffix].sub(blank, text)
    return sorted(
        (prose.count("\n", 0, found.start()) + 1, " ".join(found.group().split()), plain)
        for pattern, plain in COMPILED
        for found in pattern.finditer(prose)
    )


def main() -> int:
    """Print every finding; return the exit code."""
    count = 0
    for path in files():
        for line, phrase, plain in findings(path.read_text(encoding="utf-8"), path.suffix):
            print(f"{path.relative_to(ROOT)}:{line}: “{phrase}”: write: {plain}")
            count += 1
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main())
