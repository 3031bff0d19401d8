"""What share links and redaction profiles answer: what they show and withhold, and who opened them."""

from typing import Any, Final, Literal

from timemachine.api.answers.shape import Answers, Counted, Document, Page, ProfileNamed

type TargetType = Literal["session", "replay", "comparison"]


class Share(Document):
    id: str
    target_type: TargetType
    target_id: str
    target_name: str
    through_sequence: int | None
    evidence_only: bool
    redaction: ProfileNamed | None
    label: str
    created_by: str
    created_at: str
    expires_at: str
    revoked_at: str | None
    revoked_by: str | None
    max_opens: int | None
    opens: int
    last_open_at: str | None
    passphrase: bool
    state: Literal["active", "expired", "revoked", "exhausted", "forbidden"]


class ShareMade(Share):
    url: str


class SharePage(Page):
    items: list[Share]


class SharedSession(Document):
    id: str
    name: str
    agent: str | None


class WithheldPlace(Document):
    session: str
    sequence: int | None
    field: str
    text: str


class SharePreview(Document):
    target_type: TargetType
    target_id: str
    through_sequence: int | None
    evidence_only: bool
    redaction: ProfileNamed | None
    sessions: list[SharedSession]
    steps: int
    read: int
    withheld: int
    counts: list[Counted]
    found: list[Counted]
    first: list[WithheldPlace]


class SharePolicy(Document):
    forbidden: bool
    passphrase_required: bool
    profile_required: bool
    longest_days: int | None


class LogLine(Document):
    sequence: int
    at: str
    result: str
    by: str | None
    address: str | None
    browser: str | None
    facts: dict[str, Any] | None
    previous_sha256: str
    sha256: str


class LogBreak(Document):
    sequence: int
    why: str


class LogChecked(Document):
    lines: int
    sha256: str | None
    broken: LogBreak | None


class LogPage(Page):
    items: list[LogLine]
    log: LogChecked


class Pattern(Document):
    name: str
    pattern: str
    ignore_case: bool


class RedactionRules(Document):
    detect: list[str]
    phone_regions: list[str]
    patterns: list[Pattern]
    fields: list[str]


class Redaction(Document):
    id: str
    name: str
    version: int
    built_in: bool
    rules: RedactionRules
    created_by: str | None
    created_at: str | None
    retired_by: str | None
    retired_at: str | None


class Redactions(Page):
    items: list[Redaction]


class Finding(Document):
    start: int
    end: int
    rule: str
    what: str


class TextRedacted(Document):
    text: str
    findings: list[Finding]
    counts: list[Counted]


class StepRedacted(Document):
    """A step as somebody would read it: an action, in which withheld parts stand as marks."""

    action: dict[str, Any]
    touched: list[str]
    counts: list[Counted]


_POLICY: Final = "/api/shares/policy"
_PROFILE: Final = "/api/redactions/{redaction_id}"
ANSWERS: Final[Answers] = {
    ("post", "/api/shares", 201): ShareMade,
    ("post", "/api/shares/preview", 200): SharePreview,
    ("get", "/api/shares", 200): SharePage,
    ("get", _POLICY, 200): SharePolicy,
    ("patch", _POLICY, 200): SharePolicy,
    ("get", f"{_POLICY}/changes", 200): LogPage,
    ("delete", "/api/shares/{share_id}", 200): Share,
    ("get", "/api/shares/{share_id}/opens", 200): LogPage,
    ("post", "/api/redactions", 201): Redaction,
    ("get", "/api/redactions", 200): Redactions,
    ("post", "/api/redactions/test", 200): TextRedacted | StepRedacted,
    ("get", _PROFILE, 200): Redaction,
    ("patch", _PROFILE, 200): Redaction,
    ("delete", _PROFILE, 200): Redaction,
}
