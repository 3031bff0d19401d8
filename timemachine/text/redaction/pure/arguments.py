"""Passwords among the arguments of commands: by the option of the program that takes one.

What an option means differs by program: `-p` is a password for sshpass, a port for ssh, parents for mkdir. So each rule
names the programs whose manual says that this option takes a password. Options with a telling name (`--password`,
`--api-key`) count for every program. The forms of arguments: separated by white space, by `=`, attached (`-psecret`), and
as elements of a list (`"-p", "secret"`), also in JSON that was recorded as text.
"""

import re
from collections.abc import Callable
from typing import Final

from timemachine.text.redaction.pure.placeholders import (
    has_letters_and_digits,
    is_filled_in,
    is_no_prose,
    looks_made_up,
)

Rule = tuple[str, Callable[[str], bool]]

_GAP: Final = r"(?:[^\n|;&\\]|&[^&\s]|\\[^n\n]|\\\n|\\\\\\n|\"[^\"\n]*\"|'[^'\n]*')*?"
"""The arguments before the option: to the end of the command, which can go on after a backslash at the end of a line."""
_BARE: Final = r"[^\s\"'\\`|;&<>()]{1,200}"
VALUE: Final = rf"(?:\\*\"([^\"\\\n]{{1,200}})\\*\"|\\*'([^'\\\n]{{1,200}})\\*'|({_BARE}))"
"""A value with or without quotation marks, each form in a group of its own."""
_LISTED: Final = r"\\*[\"']\s*,\s*\\*[\"']([^\"'\\\n]{1,200})"
_AFTER: Final = rf"(?:(?:\s|\\\n|\\\\\\n)+{VALUE}|={VALUE}|{_LISTED})"
_BEGINS: Final = r"\\*[\s\"'`]"
_COLON: Final = rf"(?:(?:\s|\\\n)*\\*[\"']?|=\\*[\"']?|\\*[\"']\s*,\s*\\*[\"'])[^\s:\"'\\]+:(?:([^\"'\\\n]{{1,200}})[\"'\\]|({_BARE}))"


def _option(programs: str, options: str, value: str = _AFTER) -> str:
    return rf"(?:^|[^\w.-])(?:{programs})(?:\.exe)?\b{_GAP}{_BEGINS}(?:{options}){value}"


_MYSQL: Final = "mysql|mysql(?:dump|admin|import|show|check|binlog|pump|slap|sh)|mariadb(?:-[a-z]+)?|mycli|mydumper|xtrabackup"
_LOGINS: Final = "docker|podman|nerdctl|buildah|skopeo|oras|crane|regctl|helm|az|oc|cf|ibmcloud|argocd|tsh|snyk|ngrok|jf|jfrog|pachctl"
_DOCKER_PORT: Final = re.compile(r"[0-9.:\[\]]*:[0-9]+(?:/[a-z]+)?|33[0-9]{2}")
_LONG: Final = (
    r"(?:[a-z0-9]+[_-]){0,3}?(?:password|passwd|passphrase|passcode|pass|pwd|pw|token|secret|api[_-]?key|account[_-]?key|access[_-]?key|secret[_-]?key|auth[_-]?key"
    r"|private[_-]?key|master[_-]?key|signing[_-]?key|encryption[_-]?key|client[_-]?secret|credentials?|(?:src|dest)?(?:storepass|keypass)|bearer)"
)
_NOT_PRIVATE: Final = r"(?i)(?:max|min|num|eos|bos|pad|unk|mask|sep|cls|stop|start|end|special|next|continuation|page|new|starting)[_-]?tokens?"
_TELLING: Final = re.compile(r"(?i)pass(?:word|wd|phrase|code)?|pwd?|(?:src|dest)?(?:storepass|keypass)")


def _no_port(value: str) -> bool:
    return is_filled_in(value) and _DOCKER_PORT.fullmatch(value) is None


def _any(value: str) -> bool:
    return is_filled_in(value) and not value.startswith("-")


TRIGGER: Final = (
    r"(?i)\b(?:curl|wget|https?|xh|mysql|mariadb|mycli|mydumper|xtrabackup|sshpass|login|redis|valkey|mongo|twine|sqlcmd|bcp|osql|unzip|zip|7z|7za|rar"
    r"|mosquitto|ipmitool|ldap|openssl|keytool|jarsigner|smbclient|winexe|rpcclient|net|ab|htpasswd|rabbitmq|sqlplus|expdp|impdp|vault|cypher-shell|security"
    r"|ssh-keygen|lftp|echo|printf|aws_secret_access_key|passwd|kinit|nmcli|wpa_passphrase|influx|psexec|cmdkey|wmic|x?freerdp|rclone)"
    rf"|-{_LONG}\b|<<<|chpasswd"
)
"""What a text has somewhere if any of the rules can match."""
RULES: Final[tuple[Rule, ...]] = (
    (_option("curl", "-[a-zA-Z]*u|--user|--proxy-user|-U", _COLON), _any),
    (_option("curl", "--pass|--oauth2-bearer|--proxy-pass|--key-pass"), _any),
    (_option("curl", r"-b|--cookie", r"(?:\s+|=)[\"'\\]*[\w.-]+=([^\s\"'\\;]{6,200})"), looks_made_up),
    (_option("http|https|xh|ab|httpie", "-a|--auth|-A", _COLON), _any),
    (_option("wget|lftp", "-u", r"\s+[\"']?[^\s,]+,([^\s\"']{1,200})"), _any),
    (_option(_MYSQL, "-p", VALUE), _no_port),
    (rf"\bmysqladmin\b{_GAP}\s(?:password|flush-privileges\s+password)\s+{VALUE}", _any),
    (r"\bsshpass\s+-p\s*" + VALUE, _any),
    (r"\bsshpass\\*[\"']\s*,\s*\\*[\"']-p" + _LISTED, _any),
    (rf"\b(?:{_LOGINS})\b{_GAP}\blogin\b{_GAP}{_BEGINS}-p{_AFTER}", _any),
    (rf"\b(?:{_LOGINS})\b{_GAP}\blogin\b{_GAP}{_BEGINS}-p([^\s\"'\\]+)", _any),
    (
        r"\bvault(?:\s+|\\*[\"']\s*,\s*\\*[\"'])login(?:\s+|\\*[\"']\s*,\s*\\*[\"'])(?:-no-print\s+)?(?:token=)?([^\s\"'\\=-][^\s\"'\\=]{5,200})",
        _any,
    ),
    (
        _option(
            "mongo(?:sh|dump|restore|export|import|stat|top|files)?|twine|cypher-shell|neo4j-admin|rabbitmqadmin|psexec|clickhouse-client",
            "-p",
        ),
        _no_port,
    ),
    (_option("sqlcmd|bcp|osql|isql|unzip|zip|mosquitto_(?:pub|sub|rr)|ipmitool|ssh-keygen", "-P"), _any),
    (_option("ssh-keygen", "-N"), _any),
    (_option("7z|7za|7zz|7zr|rar|unrar", "-(?:hp|p)", VALUE), _any),
    (_option("redis-cli|redis-benchmark|valkey-cli|keydb-cli", "-a|--pass"), _any),
    (_option("ldap(?:search|modify|add|delete|passwd|whoami|compare|modrdn)", "-w|-s"), _any),
    (_option("openssl", "-k"), _any),
    (r"-pass(?:in|out)?(?:\s+|=|\\*[\"']\s*,\s*\\*[\"'])[\"'\\]*pass:([^\s\"'\\]{1,200})", _any),
    (
        _option(
            "keytool|jarsigner|apksigner|influx|ant|wsadmin(?:\\.sh)?|asadmin|java",
            "-(?:storepass|keypass|srcstorepass|deststorepass|password|pass)",
        ),
        _any,
    ),
    (
        _option(
            "smbclient|winexe|rpcclient|smbmap|smbget|net|wbinfo|mount\\.cifs",
            "-U",
            r"\s*[\"']?[^\s%\"']+%([^\s\"']{1,200})",
        ),
        _any,
    ),
    (_option("security", "-[pPwk]"), _any),
    (r"(?i)\bx?freerdp[0-9]?\b[^\n|;&]*?\s/p:[\"']?([^\s\"']+)", _any),
    (rf"\bcargo\s+login\s+(?:--registry(?:\s+|=)\S+\s+)?{VALUE}", _any),
    (r"--pass(?:word)?-command(?:\s+|=)\\*[\"']echo\s+([^\s\"'\\]{1,200})", _any),
    (r"\brclone\s[^\n|;&]*?\spass(?:word)?\s+" + VALUE, _any),
    (r"\bhtpasswd\s+-[A-Za-z]*b[A-Za-z]*\s+[^\s-]\S*\s+\S+\s+" + VALUE, _any),
    (r"\bhtpasswd\s+-(?:[A-Za-z]*n[A-Za-z]*b|[A-Za-z]*b[A-Za-z]*n)[A-Za-z]*\s+\S+\s+" + VALUE, _any),
    (rf"\brabbitmqctl\b{_GAP}\s(?:add_user|change_password|authenticate_user)\s+\S+\s+{VALUE}", _any),
    (r"\b(?:sqlplus|sqlldr|expdp|impdp|exp|imp|rman)\s(?:-\w+\s+)*[\"']?[\w$#.]+/([^\s@/\"']{1,200})", _any),
    (r"(?i)\bnet1?\s+use\b[^\n|;&]*?/user:\S+\s+([^\s/*\"'][^\s\"']*)", _any),
    (r"(?i)\bnet1?\s+use\s+(?:\S+\s+){1,2}?([^\s/*\"'\\:][^\s\"':]*)\s+/user:", _any),
    (r"(?i)\bnet1?\s+user\s+[^\s/]+\s+([^\s/*\"'][^\s\"']*)", _any),
    (r"(?i)\b(?:cmdkey|wmic)\b[^\n|;&]*?/pass(?:word)?:[\"']?([^\s\"']+)", _any),
    (r"\baws_secret_access_key(?:\s+|\\*[\"']\s*,\s*\\*[\"'])([A-Za-z0-9/+]{16,})", _any),
    (r"\b(?:nmcli\b[^\n|;&]*?\spassword|wpa_passphrase\s+(?:\"[^\"\n]*\"|\S+))\s+" + VALUE, _any),
    (
        (
            rf"\b(?:echo|printf)\s+(?:-[ne]+\s+|[\"']%s(?:\\n)?[\"']\s+)*{VALUE}\s*\|\s*[^\n|;]*?"
            r"(?:--password-stdin|--with-token|--pass-stdin|--passphrase-fd|\bsudo\s+(?:-[A-Za-z]+\s+)*-[A-Za-z]*S\b|\bkinit\b|\bpasswd\b|\bcryptsetup\b|\bvncpasswd\b)"
        ),
        _any,
    ),
    (
        r"\b(?:echo|printf)\s+(?:-[ne]+\s+)*[\"']?[\w.-]+:([^\s\"'\\]{1,200})[\"']?\s*\|\s*(?:sudo\s+)?chpasswd",
        _any,
    ),
    (
        rf"(?:--password-stdin|--with-token|--passphrase-fd\s+0|\bsudo\s+(?:-[A-Za-z]+\s+)*-[A-Za-z]*S\b|\bkinit\b){_GAP}<<<\s*{VALUE}",
        _any,
    ),
)
"""Expressions of values after the option of a program, and whether one is a password."""
LONG: Final = rf"(?i)(?:^|[\s\"'`\[(])(--?{_LONG}){_AFTER}"
"""An option with a telling name, in the first group, and its value."""


def is_value_of(option: str, value: str) -> bool:
    """Return whether an option with a telling name has a secret as its value."""
    name = option.lstrip("-")
    if re.fullmatch(_NOT_PRIVATE, name):
        return False
    if not option.startswith("--") and _TELLING.fullmatch(name) is None:
        return looks_made_up(value) and has_letters_and_digits(value)
    if value.startswith(("-", "/", "[", "|", ".")):
        return False
    telling = _TELLING.search(name) is not None
    if value == value.upper() and re.fullmatch("[A-Z_]+", value):
        return False
    return is_no_prose(value) if telling else looks_made_up(value) or (is_no_prose(value) and "-" in value)
