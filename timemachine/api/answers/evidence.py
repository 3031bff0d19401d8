"""What evidence answers: seals, their checks, the keys that sign, and who outside is told."""

from typing import Final, Literal, NotRequired

from timemachine.api.answers.shape import OF_SESSION, Answers, Document, Page


class Problem(Document):
    code: str
    index: int | None
    says: str
    session: NotRequired[str]


class SealCheck(Document):
    id: str
    requested_by: str | None
    requested_at: str
    finished_at: str | None
    records: int
    recorded_steps: int
    erased_fields: int
    result: Literal["intact", "altered"] | None
    problems: list[Problem]


class EarlierSeal(Document):
    generation: int
    size: int
    root: str
    sealed_at: str
    because: Literal["run_again", "erasure"]
    replaced_at: str | None
    log_entry: int | None
    replaced_by: str | None
    reason: str | None
    erased_fields: int | None


class ErasedOfSeal(Document):
    fields: int
    at: str | None
    since_check: bool


class Seal(Document):
    sealed: bool
    records: int
    sealed_records: int
    state: str | None
    sealed_at: str | None
    root: str | None
    key: str | None
    problem: str | None
    earlier: list[EarlierSeal]
    altered: bool
    erased: ErasedOfSeal
    check: SealCheck | None
    checking: SealCheck | None


class SigningKey(Document):
    fingerprint: str
    pem: str
    created_at: str
    created_by: str | None
    replaced_at: str | None
    replaced_by: str | None


class SigningKeys(Page):
    items: list[SigningKey]


class Anchor(Document):
    url: str
    set_by: str
    set_at: str
    size: int
    taken_at: str | None
    error: str | None
    failed_at: str | None


class Anchors(Document):
    witness: Anchor | None
    timestamp: Anchor | None
    witness_key: str


_SEALED: Final = (OF_SESSION, "/api/replays/{replay_id}", "/api/comparisons/{comparison_id}")
ANSWERS: Final[Answers] = {
    **{("get", f"{each}/seal", 200): Seal for each in _SEALED},
    **{("post", f"{each}/seal/check", 202): SealCheck for each in _SEALED},
    ("get", "/api/evidence/checks/{check_id}", 200): SealCheck,
    ("get", "/api/evidence/keys", 200): SigningKeys,
    ("post", "/api/evidence/keys", 201): SigningKey,
    ("get", "/api/evidence/anchors", 200): Anchors,
    ("patch", "/api/evidence/anchors", 200): Anchors,
}
