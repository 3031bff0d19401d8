"""Queries about sharing: for owners by their project, for visitors by their link or cookie."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Count, Exists, F, Max, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from timemachine.core.accounts.models import Project
from timemachine.core.database import row_of
from timemachine.core.pure.clock import now
from timemachine.core.pure.errors import InvalidInput, NotFound
from timemachine.core.pure.ids import same_secret, secret_hash
from timemachine.core.pure.postgres_text import is_plain
from timemachine.governance.sharing import log, models
from timemachine.governance.sharing.pure.terms import OPEN, Policy
from timemachine.governance.sharing.pure.token import Token, link_not_valid
from timemachine.recording.sessions.models import Session
from timemachine.recording.sessions.queries import actions_of, is_find_inside, session_of
from timemachine.replay.comparison.models import Comparison
from timemachine.replay.comparison.queries import comparison_of
from timemachine.replay.runs.models import Replay
from timemachine.replay.runs.queries import replay_of

type Shareable = Session | Replay | Comparison

_HASH_OF_NO_LINK = secret_hash("")
_HAS_OPENS = Q(max_opens=None) | Q(opens__lt=F("max_opens"))


def links_of(project: Project) -> QuerySet[models.ShareLink]:
    """Return the project's links, including those that no longer work, the newest first."""
    links = models.ShareLink.objects.filter(project=project).select_related("session", "replay", "comparison")
    return links.order_by("-created_at", "-id")


def links_to(target: Shareable) -> QuerySet[models.ShareLink]:
    """Return the links to that session, replay or comparison, including those that no longer work, the newest first."""
    return target.share_links.order_by("-created_at", "-id")


def ids_by_public_id(project_id: UUID, public_ids: Iterable[str]) -> dict[str, UUID]:
    """Return the ids of the project's links by public id. One query."""
    found = models.ShareLink.objects.filter(project=project_id, public_id__in=list(public_ids))
    return dict(found.values_list("public_id", "id"))


def links_after(links: QuerySet[models.ShareLink], last: models.ShareLink) -> QuerySet[models.ShareLink]:
    """Return the links that follow that one in their list."""
    older = Q(created_at__lt=last.created_at) | Q(created_at=last.created_at, id__lt=last.id)
    return links.filter(older)


def with_latest_openings(links: QuerySet[models.ShareLink], most: int) -> QuerySet[models.ShareLink]:
    """Return the links, each with its newest tries to open it as `latest_openings`. One more query."""
    newest = models.ShareOpening.objects.filter(by=None).order_by("-sequence")[:most]
    return links.prefetch_related(Prefetch("openings", newest, to_attr="latest_openings"))


def with_readers(links: QuerySet[models.ShareLink]) -> QuerySet[models.ShareLink]:
    """Annotate the links with `readers`, who have it open now, and `read_until`, when the last grant ends."""
    living = models.ShareGrant.objects.filter(link=OuterRef("pk"), expires_at__gt=now()).order_by()
    of_link = living.values("link")
    return links.annotate(
        readers=Coalesce(Subquery(of_link.annotate(many=Count("pk")).values("many")), 0),
        read_until=Subquery(of_link.annotate(last=Max("expires_at")).values("last")),
    )


def last_step_with(session: Session, sequence: int) -> int:
    """Return the last step that belongs to a step: the find inside an ask, or the step itself."""
    asks = actions_of(session).filter(sequence=sequence, kind="ask")
    found = actions_of(session).filter(is_find_inside(asks)).aggregate(last=Max("sequence"))["last"]
    return max(sequence, found or 0)


def link_of(project: Project, link_id: str | UUID) -> models.ShareLink:
    """Return the project's link with that id. Raises `NotFound`, also for another project's."""
    missing = NotFound(
        "There is no such share link in this project. See the list of links.", code="share_link_not_found"
    )
    return row_of(links_of(project), link_id, missing)


def openings_of(link: models.ShareLink) -> QuerySet[models.ShareOpening]:
    """Return the link's access log, the newest line first."""
    return link.openings.order_by("-sequence")


def revocable(project: Project) -> QuerySet[models.ShareLink]:
    """Return the project's links that are neither revoked nor expired."""
    return links_of(project).filter(revoked_at=None, expires_at__gt=now())


def policy_of(project: Project) -> Policy:
    """Return what the project allows for its links."""
    row = models.SharePolicy.objects.filter(project=project).first()
    if row is None:
        return OPEN
    return Policy(
        forbidden=row.forbidden,
        passphrase_required=row.passphrase_required,
        profile_required=row.profile_required,
        longest_days=row.longest_days,
    )


def policy_changes(project: Project) -> QuerySet[models.ShareOpening]:
    """Return the log of the project's policy, the newest line first."""
    return log.lines_of(project).order_by("-sequence")


def allowed(project_field: str) -> Q:
    """Return the condition that the project in this field allows links."""
    return ~Q(Exists(models.SharePolicy.objects.filter(project=OuterRef(project_field), forbidden=True)))


def target_of(project: Project, target_type: str, target_id: str | UUID) -> Shareable:
    """Return what is to be shared. Raises `NotFound`, and `InvalidInput` for what cannot be shared."""
    if target_type == models.SESSION:
        return session_of(project, target_id)
    if target_type == models.REPLAY:
        return replay_of(project, target_id)
    if target_type == models.COMPARISON:
        return comparison_of(project, target_id)
    raise InvalidInput(
        f"`target_type` must be session, replay or comparison, not {target_type[:80]!r}.",
        code="invalid_field",
        field="target_type",
    )


def openable(project: Project) -> QuerySet[models.ShareLink]:
    """Return the project's links that open if links are allowed: not revoked, expired or used up."""
    return revocable(project).filter(_HAS_OPENS)


def open_links(project: Project) -> QuerySet[models.ShareLink]:
    """Return the project's links that someone can open, or has open, at this moment, if links are allowed."""
    living = models.ShareGrant.objects.filter(link=OuterRef("pk"), expires_at__gt=now())
    return revocable(project).filter(_HAS_OPENS | Exists(living))


def link_of_token(token: Token | None) -> tuple[models.ShareLink | None, bool]:
    """Return the link of a token, and whether the secret is right; without a link it takes the same time."""
    links = models.ShareLink.objects.select_related("session", "replay", "comparison", "project")
    link = links.filter(public_id=token.public_id).first() if token else None
    right = same_secret(token.secret if token else "-", link.secret_sha256 if link else _HASH_OF_NO_LINK)
    return link, right


def grant_of(public_id: str, cookie: str | None) -> models.ShareGrant:
    """Return the grant of a cookie, checked again at every request: a revoked link shows nothing more.

    Raises the same `NotFound` for a missing, foreign or expired grant and for a link that is not open.
    """
    if not is_plain(public_id):
        raise link_not_valid()
    moment = now()
    grant = (
        models.ShareGrant.objects.filter(
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
