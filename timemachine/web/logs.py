"""What no log may hold: whoever reads a link or a key there could use it."""

import logging
import re
from typing import Any

_SECRETS = (
    (re.compile(r"/(sign-in|share)/[^/\s?#'\"]+"), r"/\1/[secret]"),
    (re.compile(r"\b(tm[a-z]_[a-z0-9]+)_[A-Za-z0-9_-]{20,}"), r"\1_[secret]"),
)


# From where a database quotes a row or a statement to where a traceback goes on; on one line where somebody wrote the error's repr.
_ROWS = re.compile(
    r"^[ |+]*(?:DETAIL|CONTEXT|QUERY|LINE \d+):.*?(?=^[ |+]*(?:Traceback \(|The above exception|During handling)|\Z)"
    r"|\\n(?:DETAIL|CONTEXT|QUERY|LINE \d+):[^\n]*",
    re.DOTALL | re.MULTILINE,
)


class Line(logging.Formatter):
    """A line with the traceback of what went wrong, without secrets, and without the rows that a database quotes in its errors."""

    def formatException(self, ei: Any) -> str:  # noqa: N802  # the name in the standard library
        """The traceback."""
        return without_secrets(_ROWS.sub("", super().formatException(ei)))


class WithoutSecrets(logging.Filter):
    """Takes secrets out of every message on its way to a handler: of one-time links, share links and keys; and rows that a database quotes."""

    def filter(self, record: logging.LogRecord) -> bool:
        """The record stays; what was secret in its message does not."""
        record.msg, record.args = without_secrets(_ROWS.sub("", record.getMessage())), ()
        return True


def without_secrets(text: str) -> str:
    """The text with `[secret]` in the place of each; public ids stay, so that a line can still be traced to its row."""
    for pattern, harmless in _SECRETS:
        text = pattern.sub(harmless, text)
    return text
