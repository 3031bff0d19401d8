"""Names of users and hosts: in home paths, prompts, remote addresses and after their names."""

from collections.abc import Iterator
from typing import Final

from timemachine.text.redaction.pure.engine import compiled

USER: Final = "user name"
HOST: Final = "host name"
_NAME: Final = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}"
_HOST: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?){0,5}"
_GENERIC: Final = frozenset(
    "root runner user users username ubuntu debian node app www-data vscode codespace shared public default git localhost host hostname server "
    "client none null true false admin name the a an is and or".split()
)
RULES: Final = (
    (USER, rf"(?i)(?:/home/|/Users/|/export/home/|[A-Z]:(?:\\\\|\\|/)+(?:Users|Documents and Settings)(?:\\\\|\\|/)+)({_NAME})"),
    (USER, rf"(?:^|[\s/\"'])-(?:Users|home)-([A-Za-z0-9_]+)-"),
    (USER, rf"(?:^|[\s\"'`=\[(])({_NAME})@{_HOST}(?:[:~$#\s\"'`\])]|\z)"),
    (HOST, rf"(?:^|[\s\"'`=\[(]){_NAME}@({_HOST})(?:[:~$#\s\"'`\])]|\z)"),
    (USER, rf"\b(?:USER|LOGNAME|USERNAME|SUDO_USER)=[\"']?({_NAME})"),
    (HOST, rf"\b(?:HOSTNAME|HOST|COMPUTERNAME)=[\"']?({_HOST})"),
    (USER, rf"(?i)\\*\"(?:user_?name|login|os_?user|user)\\*\"\s*:\s*\\*\"({_NAME})\\*\""),
    (HOST, rf"(?i)\\*\"(?:host_?name|host|computer_?name|machine_?name|server)\\*\"\s*:\s*\\*\"({_HOST})\\*\""),
    (HOST, rf"(?i)\b({_HOST}\.(?:local|lan|internal|intranet|corp|home|localdomain))\b"),
    (HOST, rf"\bLinux ({_HOST}) [0-9]+\.[0-9]+"),
    (HOST, rf"(?:^|[\s\"'])(?:-h|--host(?:name)?)(?:\s+|=)[\"']?({_HOST})"),
    (HOST, rf"(?i)(?m)^\s*Host(?:Name)?\s+({_HOST})\s*$"),
    (USER, r"\buid=[0-9]+\(([^()\s]+)\)"),
)
"""What is found, and the expression with the name in its first group."""


def machines_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the spans of names of users and hosts. Names that every machine has (root, localhost) are not yielded."""
    for what, expression in RULES:
        for match in compiled(expression).finditer(text):
            start, end = match.span(1)
            if text[start:end].lower() not in _GENERIC and not text[start:end].isdigit():
                yield start, end, what
