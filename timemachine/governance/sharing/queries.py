"""What we ask of sharing: owners from their project, visitors from what their link or cookie proves."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Count, Exists, F, Max, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput, NotFound
from timemachine.core.pure.ids import same_secret, secret_hash, uuid_of
from timemachine.core.pure.postgres_text import is_plain
from timemachine.governance.sharing import log
from timemachine.governance.sharing.models import (
    COMPARISON,
    REPLAY,
    SESSION,
    ShareGrant,
    ShareLink,
    ShareOpening,
    SharePolicy,
)
from timemachine.governance.sharing.pure.policy import OPEN, Policy
from timemachine.governance.sharing.pure.refusal import link_not_valid
from timemachine.governance.sharing.pure.token import parse_token
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import session_of
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.queries import comparison_of
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.queries import replay_of

type Shareable = Session | Replay | Comparison

_HASH_OF_NO_LINK = secret_hash("")
_ROOM = Q(max_opens=None) | Q(opens__lt=F("max_opens"))


def links_of(project: Project) -> QuerySet[ShareLink]:
    """The project's links, also those that do not work any more, the newest first."""
    links = ShareLink.objects.filter(project=project).select_related("session", "replay", "comparison")
    return links.order_by("-created_at", "-id")


def links_called(project_id: UUID, public_ids: Iterable[str]) -> dict[str, UUID]:
    """The ids of the project's links by their public ids. One query."""
    found = ShareLink.objects.filter(project=project_id, public_id__in=list(public_ids))
    return dict(found.values_list("public_id", "id"))


def links_after(links: QuerySet[ShareLink], last: ShareLink) -> QuerySet[ShareLink]:
    """Those of the links that come after that one in their list."""
    older = Q(created_at__lt=last.created_at) | Q(created_at=last.created_at, id__lt=last.id)
    return links.filter(older)


def with_latest_openings(links: QuerySet[ShareLink], most: int) -> QuerySet[ShareLink]:
    """The links with the newest tries to open them, at most so many each, as `latest_openings`. One more query."""
    newest = ShareOpening.objects.filter(by=None).order_by("-sequence")[:most]
    return links.prefetch_related(Prefetch("openings", newest, to_attr="latest_openings"))


def with_readers(links: QuerySet[ShareLink]) -> QuerySet[ShareLink]:
    """The links with how many visitors have each open at this moment, as `readers`, and until when the last of them may, as `read_until`."""
    living = ShareGrant.objects.filter(link=OuterRef("pk"), expires_at__gt=now()).order_by()
    of_link = living.values("link")
    return links.annotate(
        readers=Coalesce(Subquery(of_link.annotate(many=Count("pk")).values("many")), 0),
        read_until=Subquery(of_link.annotate(last=Max("expires_at")).values("last")),
    )


def link_of(project: Project, link_id: str | UUID) -> ShareLink:
    """The project's link of that id. Raises `NotFound`, the same for another project's."""
    wanted = uuid_of(str(link_id))
    found = None if wanted is None else links_of(project).filter(id=wanted).first()
    if found is None:
        raise NotFound(
            "There is no such share link in this project; the list of links shows those there are.",
            code="share_link_not_found",
        )
    return found


def openings_of(link: ShareLink) -> QuerySet[ShareOpening]:
    """The link's access log, the newest line first."""
    return link.openings.order_by("-sequence")


def revocable(project: Project) -> QuerySet[ShareLink]:
    """The project's links that are neither revoked nor expired."""
    return links_of(project).filter(revoked_at=None, expires_at__gt=now())


def policy_of(project: Project) -> Policy:
    """What the project allows of its links."""
    row = SharePolicy.objects.filter(project=project).first()
    if row is None:
        return OPEN
    return Policy(
        forbidden=row.forbidden,
        passphrase_required=row.passphrase_required,
        profile_required=row.profile_required,
        longest_days=row.longest_days,
    )


def policy_changes(project: Project) -> QuerySet[ShareOpening]:
    """The log of what the project allowed, the newest line first."""
    return log.lines_of(project).order_by("-sequence")


def allowed(project_field: str) -> Q:
    """Whether the project that this field names allows links."""
    return ~Q(Exists(SharePolicy.objects.filter(project=OuterRef(project_field), forbidden=True)))


def target_of(project: Project, target_type: str, target_id: str | UUID) -> Shareable:
    """What is to be shared. Raises `NotFound` for another project's, `InvalidInput` for what cannot be shared."""
    if target_type == SESSION:
        return session_of(project, target_id)
    if target_type == REPLAY:
        return replay_of(project, target_id)
    if target_type == COMPARISON:
        return comparison_of(project, target_id)
    raise InvalidInput(
        f"`target_type` is session, replay or comparison, not {target_type[:80]!r}.",
        code="invalid_field",
        field="target_type",
    )


def openable(project: Project) -> QuerySet[ShareLink]:
    """The project's links that open where links are allowed: not revoked, expired or opened as often as they may be."""
    return revocable(project).filter(_ROOM)


def open_links(project: Project) -> QuerySet[ShareLink]:
    """The project's links that somebody can open, or has open, at this moment, where links are allowed."""
    living = ShareGrant.objects.filter(link=OuterRef("pk"), expires_at__gt=now())
    return revocable(project).filter(_ROOM | Exists(living))


def link_of_token(token: str) -> tuple[ShareLink | None, bool]:
    """The link that the token's public id names, and whether the secret is the right one. It takes as long without one."""
    parts = parse_token(token)
    link = _visited().filter(public_id=parts.public_id).first() if parts else None
    right = same_secret(parts.secret if parts else "-", link.secret_sha256 if link else _HASH_OF_NO_LINK)
    return link, right


def grant_of(public_id: str, cookie: str | None) -> ShareGrant:
    """What the holder of this cookie was given, checked again at every request: a link that was revoked shows nothing more.

    Raises the same `NotFound` for a missing, foreign or expired grant as for a link that is revoked, expired or forbidden.
    """
    if not is_plain(public_id):
        raise link_not_valid()
    moment = now()
    grant = (
        ShareGrant.objects.filter(
            allowed("link__project_id"),
            secret_sha256=secret_hash(cookie or ""),
            expires_at__gt=moment,
            link__public_id=public_id,
            link__revoked_at=None,
            link__expires_at__gt=moment,
        )
        .select_related("link__session", "link__replay", "link__comparison", "link__project")
        .first()
    )
    if grant is None:
        raise link_not_valid()
    return grant


def _visited() -> QuerySet[ShareLink]:
    return ShareLink.objects.select_related("session", "replay", "comparison", "project")
