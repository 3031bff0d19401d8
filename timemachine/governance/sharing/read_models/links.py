"""The link itself and its session as a visitor sees them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from timemachine.core.pure.numbers import counted
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.read_models import shown_of
from timemachine.governance.sharing.redactor import Redactor
from timemachine.recording.sessions.models import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedProfile:
    """The redaction profile by which a link withholds: what its detectors match, and how many rules of its own it has.

    `version` is None for the built-in one. `phone_regions` are those whose national numbers are matched too.
    """

    name: str | None
    version: int | None
    detect: Sequence[str]
    phone_regions: Sequence[str]
    own_rules: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMatches:
    """How often the profile of a link matched when the link was created: `counts` of what, and `where` that was searched, in words."""

    counts: Mapping[str, int]
    where: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedLink:
    """What a link shows, who shares it, and until when. If the link withholds `created_by`, an e-mail address, it is the person's name.

    `through_sequence` is the last step that it shows; None for a comparison. `models` is how many models a
    comparison has and `replay_kind` the kind of a replay; None for other links.
    """

    public_id: str
    name: str
    project_name: str
    target_type: str
    target_id: UUID | None
    through_sequence: int | None
    models: int | None
    replay_kind: str | None
    evidence_only: bool
    redaction: SharedProfile | None
    withheld: SharedMatches | None
    created_by: str
    created_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedSession:
    """A session's name, agent and start. Neither its user nor a count that goes beyond the link."""

    id: UUID
    name: str
    agent: str | None
    began_at: datetime | None


def shared_link(link: ShareLink, redactor: Redactor, *, creator: str | None) -> SharedLink:
    """Return the link, named after what it shows. `creator` is the name of the person who created it, if known."""
    profile = link.redaction
    return shown_of(
        SharedLink,
        link,
        name=link.name if link.session is None else shared_session(link.session, redactor).name,
        project_name=link.project.name,
        models=None if link.comparison is None else len(link.comparison.arms),
        replay_kind=None if link.replay is None else link.replay.kind,
        redaction=profile and _shared_profile(profile),
        withheld=link.withheld and _shared_matches(link.withheld),
        created_by=_named(link.created_by, creator, redactor),
    )


def _named(email: str, name: str | None, redactor: Redactor) -> str:
    """Return who created a link: the e-mail address or, if that is withheld, the name, redacted too."""
    shown = redactor.text(email)
    return shown if shown == email else redactor.text(name or "") or shown


def _shared_profile(profile: Mapping[str, Any]) -> SharedProfile:
    rules = profile.get("rules", {})
    return SharedProfile(
        name=profile.get("name"),
        version=profile.get("version"),
        detect=rules.get("detect", ()),
        phone_regions=rules.get("phone_regions", ()),
        own_rules=len(rules.get("patterns", ())) + len(rules.get("fields", ())),
    )


def _shared_matches(stored: Mapping[str, Any]) -> SharedMatches:
    counts: Counter[str] = Counter()
    for each in stored["counts"]:
        counts[each["what"]] += each["count"]
    places = [
        (stored["read"], stored["steps"], "recorded step"),
        (stored["answers_read"], stored["answers"], "new answer"),
    ]
    where = " and ".join(_searched(*each) for each in places if each[1])
    return SharedMatches(counts=dict(counts.most_common()), where=where)


def _searched(read: int, of: int, noun: str) -> str:
    if not read:
        return f"none of {counted(of, noun)}"
    return counted(of, noun) if read == of else f"the first {read:,} of {counted(of, noun)}"


def shared_session(session: Session, redactor: Redactor) -> SharedSession:
    """Return the session with its name and agent redacted."""
    named = redactor.session({"name": session.name, "agent": session.agent})
    return shown_of(SharedSession, session, name=named["name"], agent=named["agent"])


def session_name(name: str, redactor: Redactor) -> str:
    """Return the redacted name of a session of which nothing else is read."""
    return str(redactor.session({"name": name})["name"])
