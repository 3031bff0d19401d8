"""Estimate how many tokens a model reads in a text, without its tokenizer and on the safe side."""

import json
import re
from typing import Any, Final

_RUNS: Final = re.compile(r"[a-z]+|[A-Z]+|[0-9]+|\s+|[^\x00-\x7f]+|.", re.DOTALL)
_WORD: Final = 12
"""Letters of the longest lower-case run that is taken for a word. Longer ones are ids and encoded data."""


def tokens(text: str) -> int:
    """Return an estimate that is almost always more than what a tokenizer of OpenAI or Anthropic counts.

    Bytes that are not ASCII count one each, which no byte-level tokenizer exceeds. docs/mcp.md has the measurements.
    """
    return sum(map(_tokens_of_run, _RUNS.findall(text)))


def _tokens_of_run(run: str) -> int:
    length, first = len(run), run[0]
    if not first.isascii():
        return len(run.encode("utf-8", "surrogatepass"))
    if "a" <= first <= "z":
        return _rounded_up(length * 2, 5) if length <= _WORD else _rounded_up(length * 5, 9)
    if first.isupper() or first.isdigit():
        return _rounded_up(length * 2, 3)
    if first.isspace():
        return 0 if run == " " else _rounded_up(length, 2)  # one space belongs to the word after it
    return length


def _rounded_up(dividend: int, divisor: int) -> int:
    return -(-dividend // divisor)


def written(document: Any) -> str:
    """Return the document as the compact JSON that a model is given."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def size(document: Any) -> int:
    """Return how many tokens the document takes."""
    return tokens(written(document))
