"""Whether a value that has the position of a password can be one: not the name of a variable, a hint, a type, a path or code."""

import re
from typing import Final

_NAME: Final = r"(?:pass(?:word|wd|phrase|code)?|pwd?|secrets?|tokens?|(?:api|access|auth|secret|private)?[_.-]?keys?|credentials?|auth)"
_HINT: Final = re.compile(
    rf"""(?ix)
    [*x•.…_?#-]+ | \(?(?:hidden|redacted|masked|none|null|nil|n/a|true|false|yes|no|on|off|undefined|required|optional|empty|prompt)\)?
    | change[_-]?me | example | dummy | test | (?:str|string|text|bytes|int|integer|number|bool|boolean|any|object|varchar|[A-Z][A-Za-z]*Str)\b[!?\[\]]*.*
    | (?:[$<{{%\[!&(]|~/|\$\{{|%\().*
    | (?:os|env|process|config|settings|self|this|args|opts|options|params|props|ctx|vault|secrets|vars?|data|local|module|req|request|
        form|user|values|z|joi|models|serializers|forms|yup)\.[a-z_(].*
    | .*\$\{{.* | .*\{{\{{.* | @[\w./~-]+ | (?:[a-z]:)?[./\\~][^\s]*[/\\][^\s]* | /[\w./-]* | (?:env|file|fd|stdin|id|src|arn|ref|op|sops|ssm|vault):.* | (?:id|type|from|src)=.*
    | https?://[^\s@]* | [\^~]?[0-9]+\.[0-9]+(?:\.[0-9]+)+ | (?:Read|Get|New|Import|Invoke|ConvertTo|ConvertFrom)-[A-Z]\w+
    | (?:your|my|the|a|some|new|old|enter|insert|put|set|with|and|or|is|for|in|to|of|via|using|from|has|are|must|can|field|value|reset)
    | (?:your|my|the|some|enter|insert)[_ -].* | (?:[a-z]+[_.-])*{_NAME}(?:[_.-](?:here|value|name|file|hash|field|input|string|stdin|\d))*[,;.:!?]?
    """,
    re.DOTALL,
)
_NAMED: Final = re.compile(
    r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z]+[A-Z]?\w*(?:Password|Passwd|Token|Secret|Key)"
)
_CALL: Final = re.compile(r"[A-Za-z_][\w.]*(?:\(|\[)")
_DOTTED: Final = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_WORD: Final = re.compile("[A-Za-z]+")
_PLAIN_NAME: Final = re.compile(rf"(?i)(?:[a-z][a-z_.-]*)?{_NAME}")
_COMMON: Final = frozenset(
    [
        "the",
        "and",
        "for",
        "not",
        "with",
        "that",
        "this",
        "from",
        "are",
        "was",
        "were",
        "will",
        "has",
        "have",
        "had",
        "can",
        "may",
        "must",
        "should",
        "would",
        "could",
        "been",
        "being",
        "its",
        "than",
        "then",
        "when",
        "where",
        "which",
        "who",
        "why",
        "how",
        "all",
        "any",
        "each",
        "more",
        "most",
        "other",
        "some",
        "such",
        "only",
        "own",
        "same",
        "too",
        "very",
        "just",
        "also",
        "into",
        "over",
        "after",
        "before",
        "under",
        "again",
        "further",
        "here",
        "there",
        "these",
        "those",
        "both",
        "few",
        "what",
        "does",
        "did",
        "doing",
        "out",
        "off",
        "via",
        "per",
        "about",
        "against",
        "between",
        "through",
        "during",
        "above",
        "below",
        "down",
        "identifier",
        "expired",
        "invalid",
        "missing",
        "incorrect",
        "rotated",
        "refresh",
        "bearer",
        "basic",
        "digest",
        "stored",
        "hashed",
        "encrypted",
        "failed",
        "mismatch",
        "rejected",
        "refused",
        "denied",
        "changed",
        "updated",
        "removed",
        "generated",
        "created",
        "unknown",
        "protected",
        "authentication",
        "authenticator",
        "manager",
        "hint",
        "label",
        "reset",
        "passwort",
        "contraseña",
        "mot",
        "wachtwoord",
        "senha",
    ]
)


def is_filled_in(value: str) -> bool:
    """Return whether the value can be a password: it is not a placeholder, a variable, a path or a reference."""
    plain = value.strip()
    return bool(plain) and _HINT.fullmatch(plain) is None and _NAMED.fullmatch(plain) is None


def is_code(text: str, start: int, end: int) -> bool:
    """Return whether an unquoted value is an expression of a program: a call, an index, or a name with dots."""
    value = text[start:end]
    if text[start - 1 : start] in ("'", '"'):
        return False
    following = text[end : end + 1]
    return (
        (following in ("(", "[") and value[-1:].isidentifier())
        or value.startswith(
            (":", "LS0tLS1CRUdJTiBDRVJU", "LS0tLS1CRUdJTiBQVUJM")
        )  # certificates and public keys, encoded again
        or _CALL.match(value) is not None
        or _DOTTED.fullmatch(value.rstrip(",;")) is not None
        or _PLAIN_NAME.fullmatch(value.rstrip(",;.!?")) is not None
    )


def is_no_prose(value: str) -> bool:
    """Return whether the value is filled in and not a word that a sentence has after the name of a secret."""
    return is_filled_in(value) and value.rstrip(",.;:!?").lower() not in _COMMON


def is_harmless(text: str, start: int, end: int) -> bool:
    """Return whether a value that has the position of a password is something else."""
    return not is_no_prose(text[start:end]) or is_code(text, start, end)


def looks_made_up(value: str) -> bool:
    """Return whether the value is filled in and long, or has a digit, or two kinds of letters: no plain short word."""
    return is_no_prose(value) and (len(value) >= LONG or _WORD.fullmatch(value) is None)


def has_letters_and_digits(value: str) -> bool:
    """Return whether the value has eight or more characters, among them letters and digits."""
    return (
        len(value) >= SHORTEST_MIXED
        and re.search("[A-Za-z]", value) is not None
        and re.search("[0-9]", value) is not None
    )


SHORTEST_MIXED: Final = 8
LONG: Final = 12
"""How many letters a lower-case value needs to count as a key or token."""
