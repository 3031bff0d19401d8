"""Secrets in a text: keys and tokens by their vendors' prefixes, private keys, passwords after their names.

The prefixes are those that vendors document for secret scanners. Secrets without one are found by what precedes them
(`password=`, `Authorization:`, `user:…@host`) or because they look random, which errs in both directions.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Final

from timemachine.text.redaction.pure.engine import compiled, spans
from timemachine.text.redaction.pure.placeholders import is_filled_in, is_harmless

LEAST_ENTROPY: Final = 3.0
"""The least bits per character of a bare value after the name of a secret. Short English words have fewer."""
RANDOM_ENTROPY: Final = 4.0
"""Bits per character above which a long value after any name counts as random. Hexadecimal hashes have at most 4."""
_NAMED_BY: Final = (
    "password|passwd|passphrase|passcode|pwd|secret|api[_.-]?key|access[_.-]?key|private[_.-]?key|account[_.-]?key"
    "|auth[_.-]?token|access[_.-]?token|refresh[_.-]?token|session[_.-]?token|bearer[_.-]?token|token|credentials?"
)
_ASSIGNED: Final = (
    rf"(?i)(?:{_NAMED_BY})(?:[_.-][a-z0-9_.-]{{1,20}})?\\?[\"']?\s{{0,3}}(?:=>|:=|=|:)\s{{0,3}}"
)

_SCHEMES: Final = "basic|bearer|token|digest|negotiate|apikey"

_IN_ADDRESS: Final = "password in an address"
FORMS: Final = (
    ("Time Machine API key", r"tmk_[a-z0-9]{6,16}_[A-Za-z0-9_-]{20,}"),
    ("Time Machine share link", r"tms_[a-z0-9]{6,16}_[A-Za-z0-9_-]{20,}"),
    ("AWS access key id", r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA)[A-Z0-9]{16}"),
    ("GitHub token", r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{22,}"),
    ("GitLab token", r"\bgl[a-z]{2,5}-[A-Za-z0-9_.-]{20,}"),
    ("Slack token", r"\bxox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|\bxapp-[0-9]-[A-Za-z0-9-]{10,}"),
    (
        "webhook address",
        (
            r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_/+-]{20,}"
            r"|discord(?:app)?\.com/api/webhooks/[0-9]+/[A-Za-z0-9_-]{20,}"
        ),
    ),
    ("Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{10,}"),
    ("OpenAI key", r"\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}"),
    (
        "model provider's key",
        r"\b(?:gsk_|xai-|pplx-|hf_|r8_|nvapi-|fw_|tgp_v1_)[A-Za-z0-9_-]{20,}",
    ),
    ("Google key", r"\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,}"),
    ("Stripe key", r"\b[srp]k_(?:live|test)_[A-Za-z0-9]{10,}|\bwhsec_[A-Za-z0-9+/=]{20,}"),
    (
        "package registry token",
        r"\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}|\bdckr_pat_[A-Za-z0-9_-]{20,}|\brubygems_[a-f0-9]{40,}",
    ),
    (
        "mail service key",
        r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|\bkey-[0-9a-f]{32}\b|\b[0-9a-f]{32}-us[0-9]{1,2}\b",
    ),
    ("Twilio key", r"\bSK[0-9a-f]{32}\b"),
    ("Telegram bot token", r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{30,}"),
    (
        "cloud service token",
        (
            r"\bdo[opr]_v1_[a-f0-9]{40,}|\bdapi[a-f0-9]{32}|\bhv[sbr]\.[A-Za-z0-9_-]{20,}|\bshp[a-z]{2}_[a-fA-F0-9]{32}"
            r"|\bgl(?:sa|c)_[A-Za-z0-9_=+/-]{30,}|\bsntry[su]_[A-Za-z0-9_=+/-]{30,}|\blin_api_[A-Za-z0-9]{30,}"
            r"|\bsbp_[a-f0-9]{40}|\bNRAK-[A-Z0-9]{27}|\bdp\.[a-z]{2,4}\.[A-Za-z0-9]{40,}"
        ),
    ),
    ("age secret key", r"AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    (
        "private key",
        (
            r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?"
            r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\z)"
        ),
    ),
    ("JSON web token", r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*){0,3}"),
    ("bearer token", r"(?i)\bbearer\s+([A-Za-z0-9._~+/-]{16,}=*)"),
    (
        "authorization header",
        rf"(?i)\bauthorization\\?[\"']?\s*[:=]\s*\\?[\"']?(?:(?:{_SCHEMES})\s+)?([A-Za-z0-9._~+/=:-]{{8,}})",
    ),
    (
        _IN_ADDRESS,
        r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@?#\"'<>]{0,200}:([^\s/?#\"'<>]{1,200})@",
    ),
)
"""The name of each secret and its expression. If that has a group, only the group is withheld."""
_RANDOM: Final = r"\b[A-Za-z_][A-Za-z0-9_]{0,60}\s?[=:]\s?\\?[\"']?([A-Za-z0-9+/_-]{32,}={0,2})"
_PLACEHOLDER: Final = re.compile(
    r"(?i)(?:[*x.•_-]+|none|null|nil|true|false|undefined|required|optional|redacted|changeme"
    r"|(?:<|\$|\{|%|os\.|env\.|process\.|getenv|config\.|settings\.|self\.|secrets\.|vault:|\[withheld).*)",
    re.DOTALL,
)
_NAMES_OF_SECRETS: Final = re.compile(
    r"password|passwd|passphrase|passcode|pwd|secret|secretkey|apikey|accesskey|privatekey|accountkey|accesstoken|authtoken"
    r"|refreshtoken|idtoken|sessiontoken|bearertoken|authorization|cookie|credentials?"
)
_WORDS: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])")


def secrets_in(text: str, *, careful: bool = False) -> Iterator[tuple[int, int, str]]:
    """Yield the spans of secrets with their names. They may overlap. `text` must be readable for the engine.

    With `careful`, what is found only by the name before it must not be code, a placeholder or a word of a sentence.
    """
    if not compiled(_ANY).search(text):
        return
    for what, expression in FORMS:
        for start, end in spans(compiled(expression), text):
            if not (careful and what == _IN_ADDRESS and not is_filled_in(text[start:end])):
                yield start, end, what
    for what, expression, is_one in _GUESSED:
        for start, end in spans(compiled(expression), text):
            if is_one(text[start:end]) and not (careful and is_harmless(text, start, end)):
                yield start, end, what


def names_a_secret(key: str) -> bool:
    """Return whether a value under this key is a secret: `password`, `clientSecret`, `X-Api-Key`, `session_token`."""
    words = [word.lower() for word in _WORDS.findall(key)]
    if not words:
        return False
    last = "".join(words[-2:])
    return words[-1] == "token" or any(
        _NAMES_OF_SECRETS.fullmatch(name) for name in (words[-1], last, "".join(words))
    )


def entropy(text: str) -> float:
    """Return the Shannon entropy of the text in bits per character."""
    size = len(text)
    return -sum(number / size * math.log2(number / size) for number in Counter(text).values())


def _is_filled_in(value: str) -> bool:
    return _PLACEHOLDER.fullmatch(value) is None


def _looks_secret(value: str) -> bool:
    kinds = sum(map(bool, (re.search(kind, value) for kind in ("[a-z]", "[A-Z]", "[0-9]", "[^A-Za-z0-9]"))))
    uneven = entropy(value) >= LEAST_ENTROPY or re.search("[0-9]", value) is not None
    return _is_filled_in(value) and kinds > 1 and uneven


def _looks_random(value: str) -> bool:
    kinds = all(re.search(kind, value) for kind in ("[a-z]", "[A-Z]", "[0-9]"))
    return kinds and entropy(value) > RANDOM_ENTROPY


_GUESSED: Final[tuple[tuple[str, str, Callable[[str], bool]], ...]] = (
    ("password or token", _ASSIGNED + r"\\?\"([^\"\\\n]{4,500})", _is_filled_in),
    ("password or token", _ASSIGNED + r"\\?'([^'\\\n]{4,500})", _is_filled_in),
    ("password or token", _ASSIGNED + r"([^\s\"'\\,;<>(){}\[\]&|]{6,500})", _looks_secret),
    ("random value", _RANDOM, _looks_random),
)
_ANY: Final = "|".join(f"(?:{each[1]})" for each in (*FORMS, *_GUESSED))
