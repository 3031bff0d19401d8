"""Names of users and hosts: in home paths, prompts, remote addresses and after their names."""

import re
from collections.abc import Iterator
from typing import Any, Final

from timemachine.text.redaction.pure.engine import compiled

USER: Final = "user name"
HOST: Final = "host name"
_NAME: Final = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}"
_HOST: Final = (
    r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?){0,5}"
)
_GENERIC: Final = frozenset(
    [
        "root",
        "runner",
        "user",
        "users",
        "username",
        "ubuntu",
        "debian",
        "node",
        "app",
        "www-data",
        "vscode",
        "codespace",
        "shared",
        "public",
        "default",
        "git",
        "localhost",
        "host",
        "hostname",
        "server",
        "client",
        "none",
        "null",
        "true",
        "false",
        "admin",
        "name",
        "the",
        "a",
        "an",
        "is",
        "and",
        "or",
    ]
)
SHORTEST: Final = 4
_BEFORE: Final = "(?:^|[\\s\"'`=\\[(])"
_VERSION: Final = re.compile(r"v?[0-9]+(?:\.[0-9]+){0,2}(?:[^0-9.]|$)|latest|next")
_GOES_ON: Final = tuple("/@_%")
_TRIGGER: Final = (
    r"(?i)@|/home/|users|documents and settings|-home-|/export/|logname|user|host|computername|login|machine|server|\.(?:local|lan|internal|intranet|corp|home)"
    r"|linux |-h\b|uid="
)
"""What a text has somewhere if any of the rules can match."""
RULES: Final = (
    (
        USER,
        rf"(?i)(?:/home/|/Users/|/export/home/|[A-Z]:(?:\\\\|\\|/)+(?:Users|Documents and Settings)(?:\\\\|\\|/)+)({_NAME})",
    ),
    (USER, r"(?:^|[\s/\"'])-(?:Users|home)-([A-Za-z0-9_]+)-"),
    (USER, rf"{_BEFORE}({_NAME})@{_HOST}"),
    (HOST, rf"{_BEFORE}{_NAME}@({_HOST})"),
    (USER, rf"\b(?:USER|LOGNAME|USERNAME|SUDO_USER)=[\"']?({_NAME})"),
    (HOST, rf"\b(?:HOSTNAME|HOST|COMPUTERNAME)=[\"']?({_HOST})"),
    (USER, rf"(?i)\\*\"(?:user_?name|login|os_?user|user)\\*\"\s*:\s*\\*\"({_NAME})\\*\""),
    (
        HOST,
        rf"(?i)\\*\"(?:host_?name|host|computer_?name|machine_?name|server)\\*\"\s*:\s*\\*\"({_HOST})\\*\"",
    ),
    (HOST, rf"(?i)\b({_HOST}\.(?:local|lan|internal|intranet|corp|home|localdomain))\b"),
    (HOST, rf"\bLinux ({_HOST}) [0-9]+\.[0-9]+"),
    (HOST, rf"(?:^|[\s\"'])(?:-h|--host(?:name)?)(?:\s+|=)[\"']?({_HOST})"),
    (HOST, rf"(?i)(?m)^\s*Host(?:Name)?\s+({_HOST})\s*$"),
    (USER, r"\buid=[0-9]+\(([^()\s]+)\)"),
)
"""What is found, and the expression with the name in its first group."""


def machines_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the spans of names of users and hosts. Names that every machine has (root, localhost) are not yielded."""
    if len(text) < SHORTEST or not compiled(_TRIGGER).search(text):
        return
    for what, expression in RULES:
        for match in compiled(expression).finditer(text):
            start, end = match.span(1)
            if _is_own(text[start:end]) and not _is_package(text, match):
                yield start, end, what


def _is_own(name: str) -> bool:
    return name.lower() not in _GENERIC and not name.isdigit()


def _is_package(text: str, match: Any) -> bool:
    """Return whether what has an @ in it is a version of a package (`react@18.2.0`) or goes on as an address does."""
    _, at, host = match.group().partition("@")
    return bool(at) and (_VERSION.match(host) is not None or text[match.end() : match.end() + 1] in _GOES_ON)
