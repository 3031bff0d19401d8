"""The words of a command and the URLs in them, without recognisable secrets.

A secret is recognised by its name (`TOKEN=…`, `--password …`, `Authorization: …`), by its position (curl's `-u` and `-H`), or as the user
of a URL. Other secrets look like any word, for example a password directly after `-p`.
"""

import re
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from timemachine.core.pure.secret_names import SECRET_NAME

WITHHELD: Final = "withheld"
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"]+")
_NAMED: Final = re.compile(r"([^=:\s]+)(?:=|:\s*)")
_GIVEN: Final = re.compile(r"(-u|-H|--user=|--proxy-user=|--header=)(.+)", re.DOTALL)
_USER: Final = frozenset({"-u", "--user", "--proxy-user"})
_HEADER: Final = frozenset({"-H", "--header"})
_HARMLESS: Final = re.compile(r"(accept|content)(-|$)|user-agent$|host$|range$", re.IGNORECASE)
_SCRIPT: Final = re.compile(r"-[A-Za-z]*c")
_WORD: Final = re.compile(r"""(?:[^\s'";|&()`]|"(?:\\.|[^"\\])*"|'[^']*')+""")
_QUOTED: Final = re.compile(r""""((?:\\.|[^"\\])*)"|'([^']*)'""")


def redacted_url(url: str) -> str:
    """A URL without its user and without query values whose names look like secrets."""
    try:
        parts = urlsplit(url)
        query = [
            (name, WITHHELD if SECRET_NAME.search(name) else value)
            for name, value in parse_qsl(parts.query, keep_blank_values=True)
        ]
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query=urlencode(query)).geturl()
    except ValueError:
        return "an invalid URL"


def without_secrets(words: list[str]) -> list[str]:
    """The words of a command without secrets, also inside the script for a shell."""
    befores = ["", *words]
    return [_shown(word, before) for word, before in zip(words, befores, strict=False)]


def without_secrets_of_shell(text: str) -> str:
    """A shell script without secrets; everything else stays as written."""
    matches = list(_WORD.finditer(text))
    words = [_QUOTED.sub(lambda found: found[1] or found[2] or "", each[0]) for each in matches]
    made, at = [], 0
    for match, word, shown in zip(matches, words, without_secrets(words), strict=True):
        quoted = f'"{shown}"' if re.search(r"\s", shown) else shown
        made += [text[at : match.start()], match[0] if shown == word else quoted]
        at = match.end()
    return "".join([*made, text[at:]])


def _shown(word: str, before: str) -> str:
    if _SCRIPT.fullmatch(before):
        return without_secrets_of_shell(word) if _is_many(word) else _alone(word)
    if before in _USER:
        return _user(word)
    if before in _HEADER:
        return _header(word)
    is_option_of_secret = before.startswith("-") and "=" not in before and SECRET_NAME.search(before)
    if is_option_of_secret and not word.startswith("-"):
        return WITHHELD
    given = _GIVEN.fullmatch(word)
    if given is None:
        return _alone(word)
    shown = _user(given[2]) if given[1] in ("-u", "--user=", "--proxy-user=") else _header(given[2])
    return given[1] + shown


def _alone(word: str) -> str:
    """A single word: a URL, a name with its value, or several words."""
    shown, at = "", 0
    for address in _ADDRESS.finditer(word):
        between = word[at : address.start()]
        end = _end_of_name(between)
        if end is not None:
            return f"{shown}{between[:end]}{WITHHELD}"
        shown, at = f"{shown}{between}{redacted_url(address[0])}", address.end()
    rest = word[at:]
    end = _end_of_name(rest)
    if end is not None:
        return f"{shown}{rest[:end]}{WITHHELD}" if end < len(rest) else shown + rest
    return without_secrets_of_shell(word) if _is_many(word) else shown + rest


def _end_of_name(text: str) -> int | None:
    """The position after the name of a secret and the separator."""
    ends = (each.end() for each in _NAMED.finditer(text) if SECRET_NAME.search(each[1]))
    return next(ends, None)


def _is_many(word: str) -> bool:
    return len(_WORD.findall(word)) > 1


def _user(word: str) -> str:
    name, colon, _ = word.partition(":")
    return f"{name}:{WITHHELD}" if colon and "://" not in word else _alone(word)


def _header(word: str) -> str:
    name, colon, _ = word.partition(":")
    return f"{name}: {WITHHELD}" if colon and not _HARMLESS.match(name) else _alone(word)
