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

GAP: Final = r"(?:[^\n|;&\\]|&[^&\s]|\\[^n\n]|\\\n|\\\\\\n|\"[^\"\n]*\"|'[^'\n]*')*?"
"""The arguments before the option: to the end of the command, which can go on after a backslash at the end of a line."""
_BARE: Final = r"[^\s\"'\\`|;&<>()]{1,200}"
VALUE: Final = rf"(?:\\*\"([^\"\\\n]{{1,200}})\\*\"|\\*'([^'\\\n]{{1,200}})\\*'|({_BARE}))"
"""A value with or without quotation marks, each form in a group of its own."""
_LISTED: Final = r"\\*[\"']\s*,\s*\\*[\"']([^\"'\\\n]{1,200})"
_AFTER: Final = rf"(?:(?:\s|\\\n|\\\\\\n)+{VALUE}|={VALUE}|{_LISTED})"
_BEGINS: Final = r"\\*[\s\"'`]"
_COLON: Final = rf"(?:(?:\s|\\\n)*\\*[\"']?|=\\*[\"']?|\\*[\"']\s*,\s*\\*[\"'])[^\s:\"'\\]+:(?:([^\"'\\\n]{{1,200}})[\"'\\]|({_BARE}))"


def _option(programs: str, options: str, value: str = _AFTER) -> str:
    return rf"(?:^|[^\w.-])(?:{programs})(?:\.exe)?\b{GAP}{_BEGINS}(?:{options}){value}"


_MYSQL: Final = "mysql|mysql(?:dump|admin|import|show|check|binlog|pump|slap|sh)|mariadb(?:-[a-z]+)?|mycli|mydumper|xtrabackup"
_LOGINS: Final = "docker|podman|nerdctl|buildah|skopeo|oras|crane|regctl|helm|az|oc|cf|ibmcloud|argocd|tsh|snyk|ngrok|jf|jfrog|pachctl"
_DOCKER_PORT: Final = re.compile(r"[0-9.:\[\]]*:[0-9]+(?:/[a-z]+)?|33[0-9]{2}")
_LONG: Final = (
    r"(?:[a-z0-9]+[_-]){0,3}?(?:password|passwd|passphrase|passcode|pass|pwd|pw|(?:access|auth|api|bearer|refresh|session)?token|secret|api[_-]?key|account[_-]?key|access[_-]?key|secret[_-]?key|auth[_-]?key"
    r"|private[_-]?key|master[_-]?key|signing[_-]?key|encryption[_-]?key|client[_-]?secret|credentials?|(?:src|dest)?(?:storepass|keypass)|requirepass|masterauth|bearer)"
)
_NOT_PRIVATE: Final = r"(?i)(?:max|min|num|eos|bos|pad|unk|mask|sep|cls|stop|start|end|special|next|continuation|page|new|starting)[_-]?tokens?"
_TELLING: Final = re.compile(r"(?i)pass(?:word|wd|phrase|code)?|pwd?|(?:src|dest)?(?:storepass|keypass)")


def _no_port(value: str) -> bool:
    return is_filled_in(value) and _DOCKER_PORT.fullmatch(value) is None


def is_given(value: str) -> bool:
    """Return whether the value in the position of a password is filled in and not an option."""
    return is_filled_in(value) and not value.startswith("-")


TRIGGER: Final = (
    r"(?i)\b(?:curl|wget|https?|xh|mysql|mariadb|mycli|mydumper|xtrabackup|sshpass|login|redis|valkey|mongo|twine|sqlcmd|bcp|osql|unzip|zip|7z|7za|rar"
    r"|mosquitto|ipmitool|ldap|openssl|keytool|jarsigner|smbclient|winexe|rpcclient|net|ab|htpasswd|rabbitmq|sqlplus|expdp|impdp|vault|cypher-shell|security"
    r"|ssh-keygen|lftp|echo|printf|aws_secret_access_key|aws_session_token|passwd|kinit|nmcli|wpa_passphrase|influx|psexec|cmdkey|wmic|netlify|crackmapexec|netexec|nxc|evil-winrm|hydra|medusa|rdesktop|poetry|ncftp|cqlsh|snowsql|altool|nuget|choco|mssql-cli|p4|x?freerdp|rclone)"
    rf"|-{_LONG}\b|<<<|chpasswd"
)
"""What a text has somewhere if any of the rules can match."""
RULES: Final[tuple[Rule, ...]] = (
    (_option("curl", "-[a-zA-Z]*u|--user|--proxy-user|-U", _COLON), is_given),
    (_option("curl", "--pass|--oauth2-bearer|--proxy-pass|--key-pass"), is_given),
    (_option("curl", r"-b|--cookie", r"(?:\s+|=)[\"'\\]*[\w.-]+=([^\s\"'\\;]{6,200})"), looks_made_up),
    (
        _option(
            "curl",
            "-E|--cert|--proxy-cert",
            r"(?:\s+|=)[\"']?[^\s:\"']+\.(?:pem|crt|cer|p12|pfx):([^\s\"'\\]{1,200})",
        ),
        is_given,
    ),
    (
        _option("curl", "-x|--proxy|--preproxy", r"(?:\s+|=)[\"']?[^\s:/@\"']+:([^\s:/@\"']{1,200})@"),
        is_given,
    ),
    (_option("http|https|xh|ab|httpie", "-a|--auth|-A", _COLON), is_given),
    (_option("wget|lftp", "-u", r"\s+[\"']?[^\s,]+,([^\s\"']{1,200})"), is_given),
    (_option(_MYSQL, "-p", VALUE), _no_port),
    (rf"\bmysqladmin\b{GAP}\s(?:password|flush-privileges\s+password)\s+{VALUE}", is_given),
    (r"\bsshpass\s+-p\s*" + VALUE, is_given),
    (r"\bsshpass\\*[\"']\s*,\s*\\*[\"'](?:arg[a-z]*\\*[\"']\s*:\s*\[\s*\\*[\"'])?-p" + _LISTED, is_given),
    (rf"\b(?:{_LOGINS})\b{GAP}\blogin\b{GAP}{_BEGINS}-p{_AFTER}", is_given),
    (rf"\b(?:{_LOGINS})\b{GAP}\blogin\b{GAP}{_BEGINS}-p([^\s\"'\\]+)", is_given),
    (
        r"\bvault(?:\s+|\\*[\"']\s*,\s*\\*[\"'])login(?:\s+|\\*[\"']\s*,\s*\\*[\"'])(?:-no-print\s+)?(?:token=)?([^\s\"'\\=-][^\s\"'\\=]{5,200})",
        is_given,
    ),
    (
        _option(
            "mongo(?:sh|dump|restore|export|import|stat|top|files)?|twine|poetry|ncftp(?:put|get|ls)?|cqlsh|snowsql|altool|nuget|choco|mycli|crackmapexec|netexec|nxc|evil-winrm|hydra|medusa|rdesktop|cypher-shell|neo4j-admin|rabbitmqadmin|psexec|clickhouse-client",
            "-p",
        ),
        _no_port,
    ),
    (
        _option(
            "sqlcmd|mssql-cli|bcp|osql|isql|unzip|zip|mosquitto_(?:pub|sub|rr)|ipmitool|ssh-keygen|p4", "-P"
        ),
        is_given,
    ),
    (_option("sqlcmd|bcp|osql|unzip|zip", "-P", VALUE), is_given),
    (_option("netlify", "--auth"), is_given),
    (_option("mongo(?:sh|dump|restore|export|import)?", "-p", VALUE), _no_port),
    (_option("ssh-keygen", "-N"), is_given),
    (_option("ssh-keygen", "-N", VALUE), is_given),
    (_option("7z|7za|7zz|7zr|rar|unrar", "-(?:hp|p)", VALUE), is_given),
    (_option("redis-cli|redis-benchmark|valkey-cli|keydb-cli", "-a|--pass"), is_given),
    (_option("ldap(?:search|modify|add|delete|passwd|whoami|compare|modrdn)", "-w"), is_given),
    (_option("ldappasswd", "-s|-a"), is_given),
    (_option("openssl", "-k"), is_given),
    (r"-pass(?:in|out)?(?:\s+|=|\\*[\"']\s*,\s*\\*[\"'])[\"'\\]*pass:([^\s\"'\\]{1,200})", is_given),
    (
        _option(
            "keytool|jarsigner|apksigner|influx|ant|wsadmin(?:\\.sh)?|asadmin|java",
            "-(?:storepass|keypass|srcstorepass|deststorepass|password|pass)",
        ),
        is_given,
    ),
    (
        _option(
            "smbclient|winexe|rpcclient|smbmap|smbget|net|wbinfo|mount\\.cifs",
            "-U",
            r"\s*[\"']?[^\s%\"']+%([^\s\"']{1,200})",
        ),
        is_given,
    ),
    (_option("security", "-[pPwk]"), is_given),
    (r"(?i)\bx?freerdp[0-9]?\b[^\n|;&]*?\s/p:[\"']?([^\s\"']+)", is_given),
    (rf"\bcargo\s+login\s+(?:--registry(?:\s+|=)\S+\s+)?{VALUE}", is_given),
    (r"--pass(?:word)?-command(?:\s+|=)\\*[\"']echo\s+([^\s\"'\\]{1,200})", is_given),
    (r"\brclone\s[^\n|;&]*?\spass(?:word)?\s+" + VALUE, is_given),
    (r"\bhtpasswd\s+-[A-Za-z]*b[A-Za-z]*\s+[^\s-]\S*\s+\S+\s+" + VALUE, is_given),
    (r"\bhtpasswd\s+-(?:[A-Za-z]*n[A-Za-z]*b|[A-Za-z]*b[A-Za-z]*n)[A-Za-z]*\s+\S+\s+" + VALUE, is_given),
    (rf"\brabbitmqctl\b{GAP}\s(?:add_user|change_password|authenticate_user)\s+\S+\s+{VALUE}", is_given),
    (
        r"\b(?:sqlplus|sqlldr|expdp|impdp|exp|imp|rman)\s(?:-\w+\s+)*[\"']?[\w$#.]+/([^\s@/\"']{1,200})",
        is_given,
    ),
    (r"\b(?:sqlplus|sqlldr)\s(?:-\w+\s+)*[\w$#.]+/\\*\"([^\"\\\n]{1,200})\\*\"@", is_given),
    (r"(?i)\bnet1?\s+use\b[^\n|;&]*?/user:\S+\s+([^\s/*\"'][^\s\"']*)", is_given),
    (r"(?i)\bnet1?\s+use\s+(?:\S+\s+){1,2}?([^\s/*\"'\\:][^\s\"':]*)\s+/user:", is_given),
    (r"(?i)\bnet1?\s+user\s+[^\s/]+\s+([^\s/*\"'][^\s\"']*)", is_given),
    (r"(?i)\b(?:cmdkey|wmic)\b[^\n|;&]*?/pass(?:word)?:[\"']?([^\s\"']+)", is_given),
    (
        r"\baws_(?:secret_access_key|session_token)(?:\s+|\\*[\"']\s*,\s*\\*[\"'])([A-Za-z0-9/+]{16,})",
        is_given,
    ),
    (r"\b(?:nmcli\b[^\n|;&]*?\spassword|wpa_passphrase\s+(?:\"[^\"\n]*\"|\S+))\s+" + VALUE, is_given),
    (
        (
            rf"\b(?:echo|printf)\s+(?:-[ne]+\s+|[\"']%s(?:\\n)?[\"']\s+)*{VALUE}\s*\|\s*[^\n|;]*?"
            r"(?:--password-stdin|--with-token|--pass-stdin|--passphrase-fd|\bsudo\s+(?:-[A-Za-z]+\s+)*-[A-Za-z]*S\b|\bkinit\b|\bpasswd\b|\bcryptsetup\b|\bvncpasswd\b)"
        ),
        is_given,
    ),
    (
        r"\b(?:echo|printf)\s+(?:-[ne]+\s+)*[\"']?[\w.-]+:([^\s\"'\\]{1,200})[\"']?\s*\|\s*(?:sudo\s+)?chpasswd",
        is_given,
    ),
    (
        rf"(?:--password-stdin|--with-token|--passphrase-fd\s+0|\bsudo\s+(?:-[A-Za-z]+\s+)*-[A-Za-z]*S\b|\bkinit\b){GAP}<<<\s*{VALUE}",
        is_given,
    ),
)
"""Expressions of values after the option of a program, and whether one is a password."""
LONG: Final = rf"(?i)(?:^|[\s\"'`\[(])(--?{_LONG}){_AFTER}"
"""An option with a telling name, in the first group, and its value."""


SHORTEST_PIN: Final = 4
"""How many digits are a password after `--pass`. Fewer are the number of a pass."""


def is_value_of(option: str, value: str) -> bool:
    """Return whether an option with a telling name has a secret as its value."""
    name = option.lstrip("-")
    if re.fullmatch(_NOT_PRIVATE, name):
        return False
    if not option.startswith("--") and _TELLING.fullmatch(name) is None:
        return looks_made_up(value) and has_letters_and_digits(value)
    if value.startswith(("-", "/", "[", "|", ".")):
        return False
    if name.lower() == "pass" and value.isdigit() and len(value) < SHORTEST_PIN:
        return False
    telling = _TELLING.search(name) is not None
    if value == value.upper() and re.fullmatch("[A-Z_]+", value):
        return False
    return is_no_prose(value) if telling else looks_made_up(value) or (is_no_prose(value) and "-" in value)
