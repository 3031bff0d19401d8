"""Private keys in pieces: without their begin or end, in lines with numbers, encoded again.

The begins of keys are facts of their encodings: DER of RFC 8017, RFC 5915 and RFC 5958 and `openssh-key-v1`, each in base64.
"""

from typing import Final

_BETWEEN: Final = r"(?:\\+[rn]|[\s\"',+\\]|[0-9]+(?:→|\t|:))"
_BASE64: Final = r"[A-Za-z0-9+/]"
_END: Final = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_BEGINS: Final = (
    "b3BlbnNzaC1rZXktdjE",
    "MII[A-Z][A-Za-z0-9+/]{2}IBAAK[BC]",
    "MII[A-Z][A-Za-z0-9+/]{2}IBADANBgkqhki",
    "MII[A-Z][A-Za-z0-9+/]{4}BgkqhkiG9w0BBQ0w",
    "MHcCAQEEI",
    "MIGkAgEBBDA",
    "MC4CAQAwBQYDK2Vw",
    "MIGHAgEAMBMGByqGSM49",
    "PuTTY-User-Key-File-[23]",
)
TRIGGER: Final = "PRIVATE KEY|b3BlbnNzaC1rZXkt|MII[A-Z]|MHcCAQ|MIGkAgEB|MC4CAQAw|MIGHAgEA|PuTTY-User|LS0tLS1CRUdJTi|Private-Lines"
"""What a text has somewhere if any of the forms can match."""
FORMS: Final = (
    (
        "private key without its begin",
        rf"((?:{_BASE64}{{1,100}}={{0,2}}{_BETWEEN}+)*{_BASE64}{{4,100}}={{0,2}}{_BETWEEN}*{_END})",
    ),
    (
        "private key without its marks",
        rf"\b((?:{'|'.join(_BEGINS)}){_BASE64}{{8,}}={{0,2}}(?:{_BETWEEN}+{_BASE64}{{16,}}={{0,2}})*)",
    ),
    (
        "private key, encoded again",
        r"\bLS0tLS1CRUdJTi(?:BQUklWQVRFIEtF|BSU0EgUFJJVkFURS|BFQyBQUklWQVRF|BPUEVOU1NIIFBS|BEU0EgUFJJVkFU|BFTkNSWVBURUQg|BQR1AgUFJJVkFU)[A-Za-z0-9+/\s]*={0,2}",
    ),
    ("key of PuTTY", r"(?s)Private-Lines: [0-9]+(?:\\r|\\n|\s)+((?:[A-Za-z0-9+/=]{16,}(?:\\r|\\n|\s)*)+)"),
)
"""The name of each form and its expression. If that has a group, only the group is withheld."""
