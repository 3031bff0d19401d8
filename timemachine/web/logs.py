"""What no log may hold: whoever reads a link or a key there could use it."""

import logging
import re

_SECRETS = (
    (re.compile(r"/(sign-in|share)/[^/\s?#'\"]+"), r"/\1/[secret]"),
    (re.compile(r"\b(tm[a-z]_[a-z0-9]+)_[A-Za-z0-9_-]{20,}"), r"\1_[secret]"),
)


class WithoutSecrets(logging.Filter):
    """Takes secrets out of every message on its way to a handler: of one-time links, share links and keys."""

    def filter(self, record: logging.LogRecord) -> bool:
        """The record stays; what was secret in its message does not."""
        record.msg, record.args = without_secrets(record.getMessage()), ()
        return True


def without_secrets(text: str) -> str:
    """The text with `[secret]` in the place of each; public ids stay, so that a line can still be traced to its row."""
    for pattern, harmless in _SECRETS:
        text = pattern.sub(harmless, text)
    return text
