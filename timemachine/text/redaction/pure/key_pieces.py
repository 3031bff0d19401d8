"""Private keys in pieces: without their begin or end, in lines with numbers, encoded again; and tokens of more vendors.

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
TRIGGER: Final = (
    "PRIVATE KEY|b3BlbnNzaC1rZXkt|MII[A-Z]|MHcCAQ|MIGkAgEB|MC4CAQAw|MIGHAgEA|LS0tLS1CRUdJTi|Private-Lines|ATATT3|PMAK-|sq0|EAA|figd_|pscale_|ops_ey"
    "|rnd_|webhook|sig=|ATCTT3|ATBB|phc_|phx_|fo1_|FlyV1|secret_|ntn_|pat[A-Za-z0-9]{14}\\.|EZ[AT]K|duffel_|lip_|CLOJARS|tk-us|rpa_|v1\\.0-|cfut_|Q~|pul-|dckr_oat|sgp_|xkeysib|xsmtpsib|AKC|nvapi|tvly-|fc-|e2b_|lsv2_|pcsk_|jina_|ABSK|bkua_"
)
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
    ("Atlassian token", r"\bAT[AC]TT3[A-Za-z0-9_=-]{20,}|\bATBB[A-Za-z0-9]{24,}"),
    ("Postman key", r"\bPMAK-[a-f0-9]{24}-[a-f0-9]{34}"),
    ("Square token", r"\bsq0[a-z]{3}-[A-Za-z0-9_-]{22,}|\bEAAA[A-Za-z0-9_-]{60}"),
    ("Facebook token", r"\bEAA[A-Za-z0-9]{28,}"),
    ("Figma token", r"\bfigd_[A-Za-z0-9_-]{30,}"),
    ("PlanetScale token", r"\bpscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.=-]{30,}"),
    ("1Password token", r"\bops_eyJ[A-Za-z0-9+/=_-]{40,}"),
    ("Render key", r"\brnd_[A-Za-z0-9]{24,}"),
    ("webhook address", r"\.webhook\.office\.com/webhookb2/([A-Za-z0-9@/_-]{40,})"),
    ("signature of an address", r"[?&;]sig=([A-Za-z0-9%+/_-]{30,}={0,2})"),
    ("PostHog key", r"\bph[cx]_[A-Za-z0-9]{36,}"),
    ("Fly.io token", r"\bfo1_[A-Za-z0-9_-]{40,}|\bFlyV1 (?:fm[12][a-z]?_[A-Za-z0-9+/=,_-]{40,})"),
    ("Notion token", r"\bsecret_[A-Za-z0-9]{43}\b|\bntn_[A-Za-z0-9]{40,}"),
    ("Airtable token", r"\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    ("EasyPost key", r"\bEZ[AT]K[A-Za-z0-9]{54}"),
    ("Duffel token", r"\bduffel_(?:test|live)_[A-Za-z0-9_=-]{40,}"),
    ("Clojars token", r"\bCLOJARS_[a-z0-9]{60}"),
    ("Brevo key", r"\bx(?:keysib|smtpsib)-[a-f0-9]{60,}-[A-Za-z0-9]{10,}"),
    ("Pulumi token", r"\bpul-[a-f0-9]{40}"),
    ("Docker token", r"\bdckr_oat_[A-Za-z0-9_-]{20,}"),
    ("Sourcegraph token", r"\bsgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}"),
    ("Artifactory key", r"\bAKCp[A-Za-z0-9]{65,}"),
    ("Azure client secret", r"\b[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}"),
    (
        "AI service key",
        r"\b(?:tvly-(?:dev-|prod-)?|fc-|e2b_|lsv2_(?:pt|sk)_|pcsk_|jina_|rpa_|ABSK|bkua_)[A-Za-z0-9_=+/-]{30,}",
    ),
)
"""The name of each form and its expression. If that has a group, only the group is withheld."""
