"""Share links, their policy and their access log as the API takes and returns them."""

from typing import Literal

from pydantic import AwareDatetime, StrictBool

from timemachine.core.pure.clock import now
from timemachine.core.pure.json_types import JsonObject
from timemachine.core.pure.numbers import counted
from timemachine.core.pure.schemas import Page, Schema, Strict
from timemachine.governance.sharing.log import LogCheck
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.preview import Line, Preview
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
    evidence_only: StrictBool = False
    redaction: str | None = None
    label: str = ""


class SharePolicyIn(Strict):
    """What to change in a project's policy for links; with `longest_days` null, the general maximum applies."""

    forbidden: StrictBool = False
    passphrase_required: StrictBool = False
    profile_required: StrictBool = False
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
        return cls.from_attributes(
            link,
            target_name=link.name,
            redaction=_profile(link),
            passphrase=link.passphrase_hash is not None,
            state=link.state(now(), forbidden=forbidden),
        )


class ShareWarning(Schema):
    """What a link without a profile shows although the built-in profile would withhold it: how often, never the values.

    `matches` is null if the search failed. Of `steps` steps, the first `read` were searched.
    """

    message: str
    matches: int | None
    found: list[RuleCount]
    steps: int | None
    read: int | None

    @classmethod
    def of(cls, found: Preview | None) -> "ShareWarning | None":
        """Return the warning, None if everything was searched and nothing was found."""
        if found is None:
            message = (
                "The search failed, so it is unknown what the built-in profile would withhold from this link."
            )
            return cls(message=message, matches=None, found=[], steps=None, read=None)
        partly = not found.link.evidence_only and found.read < found.steps
        if not partly and not found.readable_matches:
            return None
        some = f"the first {found.read:,} of {found.steps:,} steps; the others were not searched"
        if found.readable_matches:
            matches = counted(found.readable_matches, "place")
            where = f" in {some}" if partly else ""
            message = (
                f"Anyone with the link can read {matches} that the built-in profile would withhold{where}."
            )
        else:
            message = f"The built-in profile would withhold nothing in {some}."
        return cls(
            message=message,
            matches=found.readable_matches,
            found=counts_of(found.found),
            steps=found.steps,
            read=found.read,
        )


class ShareCreated(ShareOut):
    """A new share link. `url` contains its secret, which no other response has.

    `warning` is null if the link has a profile, and if the built-in profile finds nothing in what it shows. `note` names the
    branch of a continuation, whose steps a link to the continuation does not show; null for any other link.
    """

    url: str
    warning: ShareWarning | None
    note: str | None

    @classmethod
    def with_url(cls, link: ShareLink, url: str, warning: ShareWarning | None) -> "ShareCreated":
        """Return the new link with its address."""
        fields = dict(ShareOut.of(link))
        return cls.model_construct(
            id=fields.pop("id"), url=url, warning=warning, note=_branch_note(link), **fields
        )


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
        return cls.from_attributes(line, session=line.session.id)


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
        return cls.from_attributes(
            link,
            redaction=_profile(link),
            sessions=found.sessions,
            steps=found.steps,
            read=found.read,
            withheld=found.total,
            counts=counts_of(found.tally),
            found=counts_of(found.found),
            first=[WithheldPlace.of(each) for each in found.lines],
        )


class SharePolicyOut(Schema):
    """Whether links are forbidden, need a passphrase or a profile, and the longest lifetime in days; null for the general maximum."""

    forbidden: bool
    passphrase_required: bool
    profile_required: bool
    longest_days: int | None


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


class LogPage(Page[LogLine]):
    """Lines of a log, newest first, and the check of the complete log."""

    log: LogCheck


def _branch_note(link: ShareLink) -> str | None:
    """Return which session to share instead, or as well, if the link shows a continuation."""
    if link.replay is None or link.replay.branch is None:
        return None
    key = link.replay.branch.key
    return (
        "This link shows the model call that was continued, the first new answer and how the run ended. "
        f"Its other steps are in the session {key}; share that session to show them."
    )


def _profile(link: ShareLink) -> ProfileVersion | None:
    chosen = link.redaction
    return chosen and ProfileVersion.model_construct(name=chosen["name"], version=chosen["version"])
