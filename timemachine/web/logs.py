"""The lines of the log: as text or JSON, with the id of the request, and without secrets. Refused requests are warnings."""

import json
import logging
import re
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest

from timemachine.core.pure.log_context import current
from timemachine.core.routes import route_of
from timemachine.core.tracing import trace_id

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


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


class Line(logging.Formatter):
    """A log line with the traceback of an error, without secrets and without the rows that a database quotes in its errors.

    Control characters of a message are escaped, so that no part of it looks like a line of its own.
    """

    def formatException(self, ei: Any) -> str:  # noqa: N802  # the name in the standard library
        """Return the traceback."""
        return without_secrets(_ROWS.sub("", super().formatException(ei)))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802  # the name in the standard library
        """Return the line, with the id of the request at its end."""
        work = current()
        suffix = f" [request {without_secrets(work.request_id)}]" if work.request_id else ""
        return _CONTROL.sub(_escaped, super().formatMessage(record) + suffix)


class JsonLine(Line):
    """A log line as a JSON object: `time`, `level`, `logger`, `message`, and where they apply `request_id`, `job`, `trace_id`, `error`
    (a traceback) and the facts of a request.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the object in one line."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: without_secrets(value) for name, value in asdict(current()).items() if value}
        trace = trace_id()
        if trace:
            line["trace_id"] = trace
        line |= getattr(record, "facts", {})
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class WithoutSecrets(logging.Filter):
    """Removes from every message: one-time links, share links and keys, rows that a database quotes, and the URL of a request,
    which can contain names; its pattern takes its place.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep the log record and remove secrets from its message."""
        request = getattr(record, "request", None)
        if isinstance(request, HttpRequest) and isinstance(record.args, tuple):
            # Django escapes it
            paths = (request.path, request.path.encode("unicode_escape").decode("ascii"))
            record.args = tuple(route_of(request) if each in paths else each for each in record.args)
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


def _escaped(character: re.Match[str]) -> str:
    return character[0].encode("unicode_escape").decode("ascii")
