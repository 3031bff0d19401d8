"""Keep secrets out of logs: links and keys that a reader of the log could use. Refused requests are warnings."""

import logging
import re
from typing import Any

_SECRETS = (
    (re.compile(r"/(sign-in|share)/[^/\s?#'\"]+"), r"/\1/[secret]"),
    (re.compile(r"\b(tm[a-z]_[a-z0-9]+)_[A-Za-z0-9_-]{20,}"), r"\1_[secret]"),
)

_REFUSALS = (502, 503)

# From a quoted row or statement to where the traceback continues; on one line if someone logged the error's repr.
_ROWS = re.compile(
    r"^[ |+]*(?:DETAIL|CONTEXT|QUERY|LINE \d+):.*?(?=^[ |+]*(?:Traceback \(|The above exception|During handling)|\Z)"
    r"|\\n(?:DETAIL|CONTEXT|QUERY|LINE \d+):[^\n]*",
    re.DOTALL | re.MULTILINE,
)


class Line(logging.Formatter):
    """A log line with the traceback of an error, without secrets and without the rows that a database quotes in its errors."""

    def formatException(self, ei: Any) -> str:  # noqa: N802  # the name in the standard library
        """Return the traceback."""
        return without_secrets(_ROWS.sub("", super().formatException(ei)))


class WithoutSecrets(logging.Filter):
    """Removes secrets from every message: one-time links, share links and keys, and rows that a database quotes."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep the log record and remove secrets from its message."""
        record.msg, record.args = without_secrets(_ROWS.sub("", record.getMessage())), ()
        return True


class Refusals(logging.Filter):
    """Makes the log records of answered requests warnings that Django logs as errors because of their status: 502 if a model
    failed, 503 if its key is missing. Nothing has failed in the server; what fails there is logged with its traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep the log record, as a warning if it is about such an answer."""
        if getattr(record, "status_code", None) in _REFUSALS and not record.exc_info:
            record.levelno, record.levelname = logging.WARNING, logging.getLevelName(logging.WARNING)
        return True


def without_secrets(text: str) -> str:
    """Return the text with every secret replaced by `[secret]`; public ids stay, so that a line can be traced to its row."""
    for pattern, harmless in _SECRETS:
        text = pattern.sub(harmless, text)
    return text
