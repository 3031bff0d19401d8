"""Passwords in configuration and in what programs print: YAML, XML, properties, SQL, connection strings, netrc, headers."""

from typing import Final

from timemachine.text.redaction.pure.arguments import VALUE, Rule
from timemachine.text.redaction.pure.placeholders import (
    has_letters_and_digits,
    is_filled_in,
    is_no_prose,
    looks_made_up,
)

_NAMES: Final = r"(?:password|passwd|passphrase|passcode|pwd)"
_KEY: Final = r"(?:api[_.-]?key|access[_.-]?key|secret[_.-]?key|private[_.-]?token|auth[_.-]?token|access[_.-]?token|client[_.-]?secret|secret|token)"
_LINE: Final = r"(?m)^(?:\s*[0-9]+(?:→|\t|:|-|\|)|[+-])?[\s-]*"
"""The begin of a line, also one with its number, and one of a difference."""
_ENDS: Final = r"[ \t]*(?:[#;][^\n]*)?\r?$"


_KEYS: Final = (
    "ENCRYPTION|DECRYPTION|SIGNING|MASTER|APP|HMAC|JWT|SESSION|COOKIE|SERVICE_ROLE|LICENSE|DEPLOY|ACCOUNT|STORAGE|SUBSCRIPTION|WEBHOOK|SHARED|AES"
    "|OPENAI|ANTHROPIC|GEMINI|MISTRAL|GROQ|XAI|COHERE|STRIPE|SENDGRID|MAILGUN|TWILIO|DATADOG|DD|ALGOLIA|SENTRY|POSTHOG|SUPABASE|CLOUDFLARE"
)
"""What a variable is a key of, unlike `SORT_KEY` and `PUBLIC_KEY`, which are no secrets."""
_IN_CODE: Final = (
    r"\b(?:\w*_)?(?:password|passwd|passphrase|pass|pwd|api_?key|secret(?:_?key)?|auth_?token|access_?token|client_?secret)|\b(?:val|var|let|const|String)\s+token"
    r"|\$\w*(?:password|passwd|pass|pwd)"
)
"""The names of variables, attributes and keys."""
_CALLS: Final = (
    "setenvironmentvariable|setdefault|define|env|getenv|environ\\.get|setenv|putenv|setproperty|setitem"
)
"""Functions whose first argument is a name and the second its value."""
_SPOKEN: Final = r"pass(?:word|phrase|code)|passwd|pwd|passwort|kennwort|mot de passe|contrase[ñn]a|senha|wachtwoord|hasło|парол[ья]"


def _of_sentence(value: str) -> bool:
    return is_no_prose(value) and has_letters_and_digits(value)


def _of_key(value: str) -> bool:
    return looks_made_up(value) and has_letters_and_digits(value)


def _of_variable(value: str) -> bool:
    return is_no_prose(value) and len(value) >= SHORTEST_OF_VARIABLE


def _of_power_shell(value: str) -> bool:
    return is_filled_in(value) and not value.startswith("-")


def _of_one_line(value: str) -> bool:
    return is_no_prose(value) and not value.endswith((",", "(", "{", "["))


SHORTEST_OF_VARIABLE: Final = 6
TRIGGER: Final = (
    r"(?i)pass|pwd|secret|token|api[_.-]?key|access[_.-]?key|apikey|auth|_key\b|credential|securestring|identified|machine\b|[?&]sig=|\bsig=|\$(?:1|2[aby]|5|6|y|apr1|argon2)"
    r"|jdbc:oracle|\.login\(|account\.key|x-[a-z-]*key|cookie|:[0-9*]+:[^\s:]+:[^\s:]+:|psk|npmauth|contrase|senha|wachtwoord|kennwort|hasło|парол|credential|log ?in|//[^\s/@]+/|//[^\s/:@]+:[^\s/@]+@/|\bkey\b"
)
"""What a text has somewhere if any of the rules can match."""
RULES: Final[tuple[Rule, ...]] = (
    # YAML, properties and INI files: a whole line
    (
        rf"(?i){_LINE}[\"']?[\w.-]*{_NAMES}[\"']?[ \t]*[:=][ \t]+\"([^\"\\\n]{{1,200}})\"{_ENDS}",
        is_filled_in,
    ),
    (rf"(?i){_LINE}[\"']?[\w.-]*{_NAMES}[\"']?[ \t]*[:=][ \t]+'([^'\\\n]{{1,200}})'{_ENDS}", is_filled_in),
    (
        rf"(?i){_LINE}[\"']?[\w.-]*{_NAMES}[\"']?[ \t]*[:=][ \t]*([^\s\"'`(){{}}\[\]<>,;|&]{{3,200}}){_ENDS}",
        _of_one_line,
    ),
    (
        rf"(?i){_LINE}(?:[\w-]+[._-])+pass[ \t]*[:=][ \t]*([^\s\"'`(){{}}\[\]<>,;|&]{{3,200}}){_ENDS}",
        _of_one_line,
    ),
    (
        rf"(?i){_LINE}pass:[ \t]+([^\s\"'`(){{}}\[\]<>,;|&]{{6,200}}){_ENDS}",
        _of_sentence,
    ),
    (
        rf"(?i){_LINE}(?:pass[ \t]*=|(?:requirepass|masterauth)[ \t]+)[ \t]*([^\s\"'`(){{}}\[\]<>,;|&:=]{{6,200}}){_ENDS}",
        _of_one_line,
    ),
    (
        rf"(?i){_LINE}[\"']?[\w.-]*{_KEY}[\"']?[ \t]*[:=][ \t]+[\"']?([^\s\"'`(){{}}\[\]<>,;|&]{{8,200}})[\"']?{_ENDS}",
        looks_made_up,
    ),
    (
        rf"(?i)\\+n[ -]*[\w.-]*{_NAMES}:[ \t]+\\*[\"']?([^\s\"'`(){{}}\[\]<>,;|&\\]{{3,200}})(?:\\|[\"'])",
        _of_one_line,
    ),
    (
        rf"(?i)\\+n[ -]*[\w.-]*{_KEY}:[ \t]+\\*[\"']?([^\s\"'`(){{}}\[\]<>,;|&\\]{{8,200}})(?:\\|[\"'])",
        looks_made_up,
    ),
    # sentences
    (
        rf"(?i)(?:{_SPOKEN})(?:\s+(?:is(?:\snow|\sset\sto)?|was|to|lautet|ist|est|es|é|to\sjest)\s*:?\s*|\s*:\s*|\s+)[\"'`]?([^\s\"'`<>(){{}}]{{8,100}})",
        _of_sentence,
    ),
    (
        rf"(?i)(?:{_SPOKEN})\s+(?:for|of|für|pour|para)\s[^.:\n]{{1,80}}?(?:\s(?:is|was|lautet|ist|est|es)\s*:?|:)\s*[\"'`]?([^\s\"'`<>(){{}}]{{8,100}})",
        _of_sentence,
    ),
    (
        r"(?i)\b(?:temporary|generated|initial|default)\s(?:\w+\s){0,2}password\b[^\n]{0,80}?:\s+([^\s\"'`]{8,100})",
        _of_sentence,
    ),
    (
        r"(?i)\b(?:credentials?|log ?in|login|logged in|sign in)\s*(?::|with|as|is|are)\s+[\w.@-]+\s*(?:/|:)\s*[\"'`]?([^\s\"'`<>(){}/:]{8,100})",
        _of_sentence,
    ),
    (
        rf"(?i)\b(?:user(?:name)?|login|account)\s*[:=]\s*\S+?,?\s+(?:and\s+)?{_NAMES}\s*[:=]\s*([^\s\"'`<>(){{}}\[\],;]{{4,200}})",
        _of_one_line,
    ),
    (
        r"(?i)\\*[\"'](?:user(?:name)?|login|email)\\*[\"']\s*:\s*\\*[\"'][^\"'\n]*[\"']\s*,\s*\\*[\"'](?:pass|pw)\\*[\"']\s*:\s*\\*[\"']([^\"'\\\n]{1,200})",
        is_filled_in,
    ),
    # variables of the environment
    (
        rf"\b[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE|_PASS|_PWD|_PW|SSHPASS|REDISCLI_AUTH)=(?:{VALUE})",
        is_no_prose,
    ),
    (rf"\b[A-Z0-9_]*(?:API_?KEY|SECRET(?:_KEY)?|TOKEN|ACCESS_KEY)=(?:{VALUE})", _of_variable),
    (rf"\b(?:[A-Z0-9_]+_)?(?:{_KEYS})_KEY(?:=|\s*[=:]\s+)(?:{VALUE})", _of_key),
    (rf"\b(?:setx|setenv|ENV|ARG)\s+(?:[A-Z0-9_]+_)?(?:{_KEYS})_KEY(?:=|\s+){VALUE}", _of_key),
    (
        rf"\b(?:ENV|ARG|set|SETX|setx|setenv)(?:\s+-[A-Za-z]+)*\s+[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE|_PASS|_PWD)\s+{VALUE}",
        is_no_prose,
    ),
    (
        rf"\b(?:ENV|ARG|set|SETX|setx|setenv)(?:\s+-[A-Za-z]+)*\s+[A-Z0-9_]*(?:API_?KEY|SECRET(?:_KEY)?|TOKEN|ACCESS_KEY)\s+{VALUE}",
        _of_variable,
    ),
    (
        r"(?i)\bvariable\s+\\*\"[^\"\n]*(?:password|passwd|secret|token|api_?key)[^\"\n]*\"\s*\{[^{}]*?\bdefault\s*=\s*\\*\"([^\"\n]{3,200}?)\\*\"",
        is_no_prose,
    ),
    (
        (
            r"(?i)\bname\\*[\"']?\s*[:=]\s*\\*[\"']?[\w.-]*(?:password|passwd|passphrase|secret|token|api[_-]?key)\\*[\"']?,?\s*(?:\\n\s*)?(?:-\s+)?"
            r"\\*[\"']?value\\*[\"']?\s*[:=]\s*\\*[\"']?([^\s\"'\\<>{}]{3,200})"
        ),
        is_no_prose,
    ),
    (rf"(?i){_LINE}[\"']?[\w.-]*{_NAMES}[\"']?:[ \t]+'((?:[^'\\\n]|''){{1,200}})'{_ENDS}", is_filled_in),
    (
        rf"(?i){_LINE}[\"']?[\w.-]*{_NAMES}[\"']?:[ \t]+[>|][-+]?[ \t]*\r?\n[ \t]+(\S[^\n]{{0,199}})",
        is_filled_in,
    ),
    (
        rf"(?i){_LINE}(?:auth|npmAuthToken):[ \t]+[\"']?([^\s\"'`(){{}}\[\]<>,;|&]{{8,200}})[\"']?{_ENDS}",
        _of_sentence,
    ),
    # XML
    (
        r"(?i)<(?:[\w-]+:)?[\w.-]*(?:password|passwd|passphrase|pwd|api-?key|secret(?:-?key)?|access-?key|access-?token|auth-?token)(?:\s[^<>\n]*)?>\s*(?:<!\[CDATA\[)?([^<>\s][^<>\n]{0,199}?)(?:\]\]>)?\s*</",
        is_no_prose,
    ),
    (
        r"(?i)<[\w:.-]+\s[^<>\n]*?\b(?:name|key|id)\s*=\s*[\"'][^\"'\n]*(?:password|passwd|pwd|api[_.-]?key|secret|auth[_.-]?token|access[_.-]?token)[\"'][^<>\n]*?\svalue\s*=\s*[\"']([^\"'\n]{2,200})",
        is_no_prose,
    ),
    (
        r"(?i)<[\w:.-]+\s[^<>\n]*?\b(?:name|key|id)\s*=\s*[\"'][^\"'\n]*(?:password|passwd|pwd|api[_.-]?key|secret|auth[_.-]?token|access[_.-]?token)[\"'][^<>\n/]*>\s*([^<>\s][^<>\n]{1,199}?)\s*</",
        is_no_prose,
    ),
    (
        r"(?i)<[\w:.-]+\s[^<>\n]*?\b(?:name|key|id)\s*=\s*[\"'][^\"'\n]*(?:password|passwd|pwd|api[_.-]?key|secret|auth[_.-]?token|access[_.-]?token)[\"'][^<>\n/]*>\s*<value>\s*([^<>\s][^<>\n]{1,199}?)\s*</",
        is_no_prose,
    ),
    (r"(?i)<(?:[\w-]+:)?(?:token|key)>\s*([A-Za-z0-9_./+=-]{8,200})\s*</", _of_sentence),
    # SQL
    (
        r"(?i)\bidentified\s+(?:with\s+[\w'\"]+\s+)?(?:by|as)\s+(?:password\s+)?\\*['\"]([^'\"\\\n]{1,200})",
        is_filled_in,
    ),
    (r"(?i)\b(?:user|role|login)\b[^\n;]*?\bpassword\s*=?\s*(?:N)?\\*'([^'\\\n]{1,200})", is_filled_in),
    (r"(?i)\bset\s+password\b[^\n;]*?=\s*(?:password\s*\(\s*)?\\*'([^'\\\n]{1,200})", is_filled_in),
    (
        rf"(?i)(?:^|[\s\"'=`,])[\w.-]*(?:{_NAMES}|_pass)=([^\s\"'`(){{}}\[\]<>,;|&\\]{{4,200}})(?:[\s\"'`,\\]|\z)",
        _of_one_line,
    ),
    (
        r"(?i)\binsert\s+into\s[^;()]*\([^()]*\b(?:password|passwd|pwd|secret|api_key)\s*\)\s*values\s*\([^()]*?\\*'([^'\\\n]{4,200})\\*'\s*\)",
        is_no_prose,
    ),
    (r"(?i)\bsecret\s+\\*'([^'\\\n]{8,200})\\*'", looks_made_up),
    # connection strings
    (r"(?i)\b(?:password|pwd)\s*=\s*\{([^{}\n]{1,200})\}\s*(?:;|[\"']|$)", is_filled_in),
    (
        r"(?i)(?:[;?&]|\b(?:host|dbname|user|port)=[^\s;]+\s)\s*(?:password|passwd|pwd|pass)\s*=\s*([^\s;&\"'<>\\]{1,200})",
        is_filled_in,
    ),
    (
        r"(?i)[?&;](?:access_token|api_?key|apikey|auth_?token|client_secret|secret|sig|signature|x-amz-signature|sharedaccesskey)=([A-Za-z0-9%._~+/=-]{6,500})",
        looks_made_up,
    ),
    (r"(?i)\bpassword=([^\s;&\"'<>\\]{1,200})\s+(?:dbname|host|user|port|sslmode)=", is_filled_in),
    (r"\bjdbc:oracle:\w+:[\w$#]+/([^\s@/\"']{1,200})@", is_filled_in),
    (r"(?:^|[\s\"'=])//[^\s/:@\"']+:([^\s/@\"']{1,200})@", is_filled_in),
    (r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://([A-Za-z0-9_-]{20,})@", looks_made_up),
    # files of credentials
    (
        r"(?i)\b(?:machine\s+\S+|default\s+login\s+\S+)\s+(?:login\s+\S+\s+)?(?:account\s+\S+\s+)?password\s+([^\s\"'\\]{1,200})",
        is_filled_in,
    ),
    (
        r"(?i)\bmachine(?:\s|\\n)+\S+(?:\s|\\n)+login(?:\s|\\n)+\S+?(?:\s|\\n)+password(?:\s|\\n)+([^\s\"'\\]{1,200})",
        is_filled_in,
    ),
    (
        r"(?m)^[^\s:/#\"'{}]+:(?:[0-9]{2,5}|\*):[^\s:/]+:[^\s:/]+:((?:[^\s:/\\]|\\.)(?:[^\s:\\]|\\.)*)$",
        is_filled_in,
    ),
    (r"(\$(?:1|2[aby]|5|6|y|apr1|argon2(?:id|i|d))\$[./A-Za-z0-9$=,+-]{16,})", lambda _: True),
    (r"(?i)\\*\"_?auth\\*\"\s*:\s*\\*\"([A-Za-z0-9+/_-]{8,}={0,2})", looks_made_up),
    (
        r"\b_(?:authToken|password|auth)(?:\s*=\s*|\s+|\\*[\"']\s*,\s*\\*[\"'])[\"']?([^\s\"'\\]{4,})",
        is_filled_in,
    ),
    # headers and calls
    (
        r"(?i)\b(?:x-[a-z-]*(?:key|token|secret|auth)|private-token|job-token|deploy-token|api-key|apikey|ocp-apim-subscription-key)\\*[\"']?\s*:\s*\\*[\"']?([^\s\"'\\,;]{4,500})",
        is_filled_in,
    ),
    (
        r"(?i)\b(?:set-)?cookie\\*[\"']?\s*:\s*\\*[\"']?(?:[^=;\s\"']+=[^;\s\"']*;\s*)*?[\w.-]*(?:sess|sid|auth|token|jwt|csrf)[\w.-]*=([^;\s\"'\\]{6,})",
        is_filled_in,
    ),
    (
        r"(?i)\bauth\s*=\s*(?:\w+\.)?(?:HTTP\w+Auth)?\(\s*[\"'][^\"'\n]*[\"']\s*,\s*[\"']([^\"'\n]{1,200})[\"']",
        is_filled_in,
    ),
    (r"(?i)\.login\(\s*[\"'][^\"'\n]*[\"']\s*,\s*[\"']([^\"'\n]{1,200})[\"']", is_filled_in),
    (r"\baccount\.key[\w.-]*\\*[\"']\s*,\s*\\*[\"']([A-Za-z0-9+/]{40,}={0,2})", is_filled_in),
    (r"(?i)ConvertTo-SecureString\s+(?:-(?:String|AsPlainText|Force)\s+)*" + VALUE, _of_power_shell),
    (
        rf"(?i)(?:{_IN_CODE})\\*[\"']?\]?\s*(?::\s*&?[\w<>?.]+\s*)?(?:=|:|=>|:=)\s*(?:[@$&]?N?)\\*[\"']([^\"'\\\n]{{3,200}})\\*[\"']",
        is_no_prose,
    ),
    (
        rf"(?i)\b(?:{_CALLS})\(\s*\\*[\"'][\w.:-]*(?:{_IN_CODE})\\*[\"']\s*,\s*\\*[\"']([^\"'\\\n]{{3,200}})\\*[\"']",
        is_no_prose,
    ),
)
"""Expressions of values after their name, and whether one is a password."""
