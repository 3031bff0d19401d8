"""A question before something that cannot be undone."""

import sys

from timemachine.cli.terminal import ask


def confirmed(question: str) -> bool:
    """Whether the next line of standard input says `y` or `yes`; an end of input is a no."""
    ask(f"{question} [y/N] ")
    answer = "" if sys.stdin is None else sys.stdin.buffer.readline().decode("utf-8", "replace")
    return answer.strip().lower() in ("y", "yes")
