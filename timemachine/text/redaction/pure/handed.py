"""Passwords that commands hand on: to a store of secrets, to a configuration, to a prompt, to a server that is already open."""

from typing import Final

from timemachine.text.redaction.pure.arguments import GAP, VALUE, Rule, is_given
from timemachine.text.redaction.pure.placeholders import has_letters_and_digits, is_no_prose, looks_made_up

_STORES: Final = (
    r"(?:gh|glab)\s+(?:secret|variable)\s+set|(?:wrangler|fly|flyctl)\s+secrets?\s+(?:put|set|import)|vercel\s+(?:env|secrets)\s+add"
    r"|gcloud\s+secrets\s+(?:create|versions\s+add)|(?:docker|podman)\s+secret\s+create|kubeseal|vault\s+kv\s+put|pass\s+insert|ansible-vault\s+encrypt_string"
    r"|cryptsetup|gpg\b[^\n|;]*?--passphrase-fd|secret-tool\s+store"
)
"""Commands that read a secret from standard input."""
_PROMPTS: Final = r"(?:sudo\s+)?(?:passwd|smbpasswd|su|cryptsetup|vncpasswd|kinit)\b"


def _is_community(value: str) -> bool:
    return is_given(value) and value not in ("public", "private")


def _is_mixed(value: str) -> bool:
    return is_no_prose(value) and has_letters_and_digits(value)


TRIGGER: Final = r"(?i)secret|<<<|<\(|cryptsetup|ansible-vault|vercel|pass|config\b|unseal|openssl|schtasks|signtool|snmp|pdftk|qpdf|isql|smbclient|impacket|exec\.py|secretsdump|mssqlclient|conda\b|mount|\bauth\b|ftp\b|\|\s*(?:sudo\s+)?su\b|psk|\.login="
"""What a text has somewhere if any of the rules can match."""
RULES: Final[tuple[Rule, ...]] = (
    # stores of secrets
    (rf"\b(?:echo|printf)\s+(?:-[ne]+\s+|[\"']%s(?:\\n)?[\"']\s+)*{VALUE}\s*\|\s*(?:{_STORES})", is_given),
    (rf"\b(?:{_STORES})[^\n|;<]*<<<\s*{VALUE}", is_given),
    (
        rf"\b(?:gh|glab)\s+(?:secret|variable)\s+set\b{GAP}\s(?:--body|-b|--value|-v)(?:\s+|=){VALUE}",
        is_given,
    ),
    (rf"\baws\s+secretsmanager\b{GAP}\s--secret-string(?:\s+|=){VALUE}", is_given),
    (rf"\baws\s+ssm\s+put-parameter\b{GAP}\bSecureString\b{GAP}\s--value(?:\s+|=){VALUE}", is_given),
    (rf"\baws\s+ssm\s+put-parameter\b{GAP}\s--value(?:\s+|=){VALUE}{GAP}\sSecureString\b", is_given),
    (rf"\baz\s+keyvault\s+secret\s+set\b{GAP}\s--value(?:\s+|=){VALUE}", is_given),
    (rf"\bansible-vault\s+encrypt_string\s+(?:--?[\w-]+\s+\S+\s+)*?{VALUE}", is_given),
    (rf"\b(?:wrangler|fly|flyctl)\s+secrets?\s+set\s+(?:-\S+\s+)*\w+={VALUE}", is_given),
    (rf"\bvault\s+operator\s+unseal\s+{VALUE}", is_given),
    # configuration
    (rf"\bpulumi\s+config\s+set\b{GAP}\s--secret\s+[\w:.-]+\s+{VALUE}", is_given),
    (rf"\bpulumi\s+config\s+set\s+[\w:.-]+\s+{VALUE}\s+--secret\b", is_given),
    (rf"\bdotnet\s+user-secrets\s+set\s+(?:\"[^\"\n]+\"|\S+)\s+{VALUE}", is_given),
    (
        rf"\b(?:poetry|composer)\s+config\s+(?:-\S+\s+)*(?:http-basic\.\S+\s+\S+|(?:pypi-token|github-oauth|gitlab-token|gitlab-oauth|bearer)\.\S+)\s+{VALUE}",
        is_given,
    ),
    (r"\bbundle\s+config\s+(?:set\s+)?(?:-\S+\s+)*[\w.-]+\s+[^\s:/]+:([^\s\"'/]{1,200})", is_given),
    (r"\byarn\s+config\s+set\s+npmAuthToken\s+" + VALUE, is_given),
    (r"-Dsonar\.(?:login|token)=([^\s\"'\\]{8,200})", looks_made_up),
    (r"(?i)\bpsk(?:\s*=\s*|\s+)[\"'\\]*([^\s\"'\\]{8,63})", is_no_prose),
    # programs whose password is no value of an option
    (rf"\bopenssl\s+passwd\s+(?:-(?:[156]|apr1|crypt|noverify|quiet)\s+|-salt\s+\S+\s+)*{VALUE}", is_given),
    (rf"\bopenssl\b{GAP}\s-(?:hmac|macopt\s+(?:hex)?key:)\s*{VALUE}", is_given),
    (r"(?i)\bschtasks\b[^\n|;&]*?\s/rp\s+[\"']?([^\s\"'*]+)", is_given),
    (r"(?i)\bsigntool\b[^\n|;&]*?\s/p\s+[\"']?([^\s\"']+)", is_given),
    (rf"\bsnmp[a-z]+\b{GAP}\s-A\s*{VALUE}", is_given),
    (rf"\bsnmp[a-z]+\b{GAP}\s-X\s*{VALUE}", is_given),
    (rf"\bsnmp[a-z]+\b{GAP}\s-c\s*{VALUE}", _is_community),
    (rf"\bpdftk\b{GAP}\s(?:user_pw|owner_pw|input_pw)\s+(?:\w=)?{VALUE}", is_given),
    (r"\bqpdf\b[^\n|;&]*?\s--encrypt\s+([^\s\"'-][^\s\"']*)\s", is_given),
    (r"\bqpdf\b[^\n|;&]*?\s--encrypt\s+\S+\s+([^\s\"'-][^\s\"']*)\s+(?:40|128|256)\b", is_given),
    (r"\bsmbclient\s+[\"']?//[^\s\"']+[\"']?\s+([^\s\"'\\-][^\s\"']*)", is_given),
    (
        r"\b(?:impacket-\w+|(?:psexec|wmiexec|smbexec|atexec|secretsdump|mssqlclient)\.py)\s[^\n|;&]*?[\w.-]+:([^\s@\"']{1,200})@",
        is_given,
    ),
    (r"\bconda\b[^\n|;&]*?/t/([A-Za-z0-9_-]{8,200})/", is_given),
    (r"\bmount(?:\.cifs)?\b[^\n|;&]*?[\s,]pass=([^\s,\"']{1,200})", is_given),
    (rf"\bisql\s+(?:-\w+\s+)*\w+\s+\w+\s+{VALUE}", is_given),
    # prompts
    (rf"\b(?:echo|printf)\s+(?:-[ne]+\s+)*[\"']([^\"'\n]{{1,200}})[\"']\s*\|\s*{_PROMPTS}", is_given),
    (rf"\b(?:echo|printf)\s+(?:-[ne]+\s+)*{VALUE}\s*\|\s*{_PROMPTS}", is_given),
    (rf"\b{_PROMPTS}[^\n|;<]*<<<\s*{VALUE}", is_given),
    (rf"(?:pass|pw|secret|token)[\w-]*(?:\s+|=)<\(\s*(?:echo|printf)\s+(?:-n\s+)?{VALUE}", is_given),
    (
        r"(?i)expect\s+\{?\\*[\"'][^\"'\n]*(?:assword|assphrase)[^\"'\n]*\\*[\"']\}?[;\s]*(?:\\n\s*)?send\s+(?:--\s+)?\\*[\"']([^\"'\\\n]{1,200})",
        is_given,
    ),
    # servers that are already open
    (r"(?m)^\s*(?:[\w.:\[\]-]+>\s*)?AUTH\s+(?:[\w.-]+\s+)?([^\s\"']{4,200})\s*$", _is_mixed),
    (rf"\b(?:redis|valkey)-cli\b{GAP}\s(?:AUTH|auth)\s+{VALUE}", is_given),
    (r"(?i)\bconfig\s+set\s+(?:requirepass|masterauth)\s+[\"']?([^\s\"']{1,200})", is_given),
    (r"(?i)\bacl\s+setuser\s[^\n]*?\s>([^\s\"']{1,200})", is_given),
    (r"\bdb\.auth\(\s*[\"'][^\"'\n]*[\"']\s*,\s*[\"']([^\"'\n]{1,200})[\"']", is_given),
    (r"\bftp\b[^\n]*<<[^\n]*\n(?:[^\n]*\n){0,3}?\s*(?:quote\s+)?user\s+\S+\s+([^\s\"']{1,200})", is_given),
)
"""Expressions of the values, and whether one is a password."""
