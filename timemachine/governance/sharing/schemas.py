"""Share links, their policy and their access log as the API takes and returns them."""

from dataclasses import asdict
from typing import Literal, cast

from pydantic import AwareDatetime

from timemachine.core.pure.clock import now, written
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.governance.sharing.log import LogCheck
from timemachine.governance.sharing.models import ShareLink, ShareOpening
from timemachine.governance.sharing.preview import Line, Preview
from timemachine.governance.sharing.pure.policy import Policy
from timemachine.text.redaction.schemas import ProfileVersion, RuleCount, counts_of

TargetType = Literal["session", "replay", "comparison"]
State = Literal["active", "expired", "revoked", "exhausted", "forbidden"]


class ShareIn(Strict):
    """A share link to create; `governance.sharing.pure.terms` checks its numbers."""

    target_type: TargetType
    target_id: str
    through_sequence: int | None = None
    expires_at: AwareDatetime | None = None
    passphrase: str | None = None
    max_opens: int | None = None
    evidence_only: bool = False
    redaction: str | None = None
    label: str = ""


class SharePolicyIn(Strict):
    """What to change in a project's policy for links; with `longest_days` null, a link may live as long as any."""

    forbidden: bool = False
    passphrase_required: bool = False
    profile_required: bool = False
    longest_days: int | None = None


class ShareOut(Schema):
    """A share link without its secret."""

    id: str
    target_type: TargetType
    target_id: str
    target_name: str
    through_sequence: int | None
    evidence_only: bool
    redaction: ProfileVersion | None
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
    state: State

    @classmethod
    def of(cls, link: ShareLink, *, forbidden: bool = False) -> "ShareOut":
        """Return the link; `forbidden` if the project's policy forbids links."""
        return cls.model_construct(
            id=str(link.id),
            target_type=cast("TargetType", link.target_type),
            target_id=str(link.target_id),
            target_name=link.name,
            through_sequence=link.through_sequence,
            evidence_only=link.evidence_only,
            redaction=_profile(link),
            label=link.label,
            created_by=link.created_by,
            created_at=written(link.created_at),
            expires_at=written(link.expires_at),
            revoked_at=written(link.revoked_at),
            revoked_by=link.revoked_by,
            max_opens=link.max_opens,
            opens=link.opens,
            last_open_at=written(link.last_open_at),
            passphrase=link.passphrase_hash is not None,
            state=cast("State", link.state(now(), forbidden=forbidden)),
        )


class ShareCreated(ShareOut):
    """A new share link. `url` holds its secret, which no other answer has."""

    url: str

    @classmethod
    def with_url(cls, link: ShareLink, url: str) -> "ShareCreated":
        """Return the new link with its address."""
        fields = dict(ShareOut.of(link))
        return cls.model_construct(id=fields.pop("id"), url=url, **fields)


class SharePage(Page[ShareOut]):
    """Share links, newest first."""


class SharedSessionOut(Schema):
    """A session as a link names it."""

    id: str
    name: str
    agent: str | None


class WithheldPlace(Schema):
    """A place where a link withholds something: the step, null for the session itself, the field, and the text around it."""

    session: str
    sequence: int | None
    field: str
    text: str

    @classmethod
    def of(cls, line: Line) -> "WithheldPlace":
        """Return the place."""
        return cls.model_construct(
            session=str(line.session.id), sequence=line.sequence, field=line.field, text=line.text
        )


class SharePreview(Schema):
    """What a link would show and withhold: of `steps` steps, the first `read` were read.

    `counts` is what the profile withholds, by rule. For a link without a profile, `found` is what the built-in profile would withhold.
    """

    target_type: TargetType
    target_id: str
    through_sequence: int | None
    evidence_only: bool
    redaction: ProfileVersion | None
    sessions: list[SharedSessionOut]
    steps: int
    read: int
    withheld: int
    counts: list[RuleCount]
    found: list[RuleCount]
    first: list[WithheldPlace]

    @classmethod
    def of(cls, found: Preview) -> "SharePreview":
        """Return the preview."""
        link = found.link
        return cls.model_construct(
            target_type=cast("TargetType", link.target_type),
            target_id=str(link.target_id),
            through_sequence=link.through_sequence,
            evidence_only=link.evidence_only,
            redaction=_profile(link),
            sessions=[
                SharedSessionOut.model_construct(id=str(each.id), name=each.name, agent=each.agent)
                for each in found.sessions
            ],
            steps=found.steps,
            read=found.read,
            withheld=found.total,
            counts=counts_of(found.tally),
            found=counts_of(found.found),
            first=[WithheldPlace.of(each) for each in found.lines],
        )


class SharePolicyOut(Schema):
    """Whether links are forbidden, need a passphrase or a profile, and for how many days one may live; null for the longest that any may."""

    forbidden: bool
    passphrase_required: bool
    profile_required: bool
    longest_days: int | None

    @classmethod
    def of(cls, policy: Policy) -> "SharePolicyOut":
        """Return the policy."""
        return cls.model_construct(**asdict(policy))


class LogLine(Schema):
    """A line of an access log; its hash covers all of it and the hash of the line before."""

    sequence: int
    at: str
    result: str
    by: str | None
    address: str | None
    browser: str | None
    facts: JsonObject | None
    previous_sha256: str
    sha256: str

    @classmethod
    def of(cls, line: ShareOpening) -> "LogLine":
        """Return the line."""
        return cls.model_construct(
            sequence=line.sequence,
            at=written(line.at),
            result=line.result,
            by=line.by,
            address=line.address,
            browser=line.browser,
            facts=line.facts,
            previous_sha256=line.previous_sha256,
            sha256=line.sha256,
        )


class LogPage(Page[LogLine]):
    """Lines of a log, newest first, and the check of the whole log."""

    log: LogCheck


def _profile(link: ShareLink) -> ProfileVersion | None:
    chosen = link.redaction
    return chosen and ProfileVersion.model_construct(name=chosen["name"], version=chosen["version"])
