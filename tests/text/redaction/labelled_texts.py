"""Texts with labelled secrets, and similar ones without: how many of them rules find.

`python -m tests.text.redaction.labelled_texts` prints the figures and every text that is wrong.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from timemachine.text.redaction.pure.profile import RULES
from timemachine.text.redaction.pure.rules import Rules
from timemachine.text.redaction.pure.values import redact_value

FOLDER: Final = Path(__file__).parent / "labelled"
_MARKED: Final = re.compile("«(.*?)»", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The secrets that were missed, of `secrets`, and the texts in which something harmless was withheld, of `plain`."""

    secrets: int
    missed: Sequence[str]
    plain: int
    alarms: Sequence[str]

    @property
    def recall(self) -> float:
        """Return the share of the secrets that were found."""
        return 1 - len(self.missed) / self.secrets

    @property
    def false_alarms(self) -> float:
        """Return the share of the texts without secrets in which something was withheld."""
        return len(self.alarms) / self.plain


def figures(rules: Rules, prefix: str = "") -> Figures:
    """Return what these rules find in the labelled texts, as texts and, where they are JSON, as values.

    The files whose names begin with `unseen_` were written by an author who did not know the rules.
    """
    labelled, plain = list(_lines(f"{prefix}secrets.txt")), list(_lines(f"{prefix}plain.txt"))
    missed = [text for text in labelled if any(_reads(value, text, rules) for value in _values(text))]
    alarms = [text for text in plain if any(redact_value(each, rules).touched for each in _values(text))]
    return Figures(secrets=len(labelled), missed=missed, plain=len(plain), alarms=alarms)


def _lines(name: str) -> Iterator[str]:
    for line in (FOLDER / name).read_text("utf-8").splitlines():
        if not line.startswith("#"):
            yield line.replace("⏎", "\n")


def _values(text: str) -> Iterator[Any]:
    plain = _MARKED.sub(r"\1", text)
    yield plain
    if text[0] in '[{"':
        try:
            yield json.loads(plain)
        except ValueError:
            return


def _reads(value: Any, text: str, rules: Rules) -> bool:
    """Return whether one of the marked secrets can still be read, or the text around it is no longer there."""
    shown = json.dumps(redact_value(value, rules).value, ensure_ascii=False)
    secrets = _MARKED.findall(text)
    lines = [line for secret in secrets for line in secret.splitlines()]
    legible = any(line in shown or json.dumps(line)[1:-1] in shown for line in lines)
    return legible or not _around(shown, text)


def _around(shown: str, text: str) -> bool:
    """Return whether the first word of the text, if it is one, is still there."""
    word = re.match(r"[a-z]+(?= )", text)
    return word is None or word[0] in shown


if __name__ == "__main__":
    for begin in ("", "unseen_", "review_", "later_"):
        found = figures(RULES if len(sys.argv) == 1 else Rules(detect=tuple(sys.argv[1:])), begin)
        for kind, texts in (("missed", found.missed), ("false alarm", found.alarms)):
            for each in texts:
                print(f"{kind}: {each!r}")
        print(
            f"{begin}recall {found.recall:.1%} of {found.secrets}, false alarms {found.false_alarms:.1%} of {found.plain}"
        )
