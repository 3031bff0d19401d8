"""Creating and revoking links, and the project's policy for them. A link's scope never changes."""

from dataclasses import asdict
from uuid import UUID

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from timemachine.core.accounts.models import Project
from timemachine.core.pure.clock import now, written
from timemachine.core.pure.errors import Conflict, InvalidInput, NotFound
from timemachine.core.pure.ids import secret_hash, uuid7
from timemachine.core.pure.json_types import JsonObject
from timemachine.governance.sharing import log, queries
from timemachine.governance.sharing.models import (
    COMPARISON,
    REPLAY,
    SESSION,
    ShareGrant,
    ShareLink,
    SharePolicy,
)
from timemachine.governance.sharing.preview import matches_when_created
from timemachine.governance.sharing.pure import terms
from timemachine.governance.sharing.pure.terms import ORDINARY, Policy, Terms
from timemachine.governance.sharing.pure.token import new_token
from timemachine.governance.sharing.queries import Shareable, policy_of
from timemachine.recording.sessions.models import Action, Session
from timemachine.replay.comparison.progress import progress_of
from timemachine.replay.runs.models import Replay


def create_link(
    project: Project,
    target: Shareable,
    chosen: Terms = ORDINARY,
    *,
    by: str,
    link_id: UUID | None = None,
) -> tuple[ShareLink, str]:
    """Create a link to a session, replay or comparison. Return it with its token, which is stored as a hash.

    Its scope is fixed now: the steps up to `chosen.through_sequence` or the last one, or the answers of a
    finished comparison. The same `link_id` twice does not create a second link. Raises `InvalidInput`,
    `NotFound` (in another project, or no such step), `Conflict`.
    """
    link, token = _new_link(project, target, chosen, by, link_id)
    link.withheld = matches_when_created(link)
    with transaction.atomic():
        _insert(link)
        log.append(link, log.CREATED, by=link.created_by, facts=_facts(link))
    return link, token


def unsaved_link(project: Project, target: Shareable, chosen: Terms, *, by: str) -> ShareLink:
    """Return the link as it would be created, without saving it, for a preview. Raises as `create_link` does."""
    return _new_link(project, target, chosen, by, None)[0]


def url_of(token: str) -> str:
    """Return the URL that opens a link."""
    return f"{settings.PUBLIC_URL}/share/{token}"


@transaction.atomic
def revoke(link: ShareLink, *, by: str) -> ShareLink:
    """Revoke a link permanently, from the next request of its visitors; one revoked before keeps its time."""
    if ShareLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=Now(), revoked_by=by[:254]):
        log.append(link, log.ENDED, by=by[:254])
    ShareGrant.objects.filter(link_id=link.pk).delete()
    link.refresh_from_db(fields=["revoked_at", "revoked_by"])
    return link


def revoke_all(project: Project, *, by: str) -> int:
    """Revoke every link of the project that is neither revoked nor expired; return how many."""
    return len([revoke(link, by=by) for link in queries.revocable(project)])


def _facts(link: ShareLink) -> JsonObject:
    return {
        "target_type": link.target_type,
        "target_id": str(link.target_id),
        "through_sequence": link.through_sequence,
        "evidence_only": link.evidence_only,
        "redaction": link.redaction,
        "expires_at": written(link.expires_at),
        "max_opens": link.max_opens,
        "passphrase": link.passphrase_hash is not None,
    }


def _new_link(
    project: Project, target: Shareable, chosen: Terms, by: str, link_id: UUID | None
) -> tuple[ShareLink, str]:
    moment, policy = now(), queries.policy_of(project)
    terms.check(chosen, moment, policy)
    token = new_token()
    link = ShareLink(
        id=link_id or uuid7(),
        public_id=token.public_id,
        secret_sha256=secret_hash(token.secret),
        project=project,
        evidence_only=chosen.evidence_only,
        redaction=chosen.redaction and chosen.redaction.as_json(),
        label=chosen.label.strip(),
        created_by=by[:254],
        created_at=moment,
        expires_at=terms.end_of(chosen, moment, policy),
        max_opens=chosen.max_opens,
        passphrase_hash=make_password(chosen.passphrase) if chosen.passphrase else None,
    )
    _set_scope(link, target, chosen.through_sequence)
    return link, str(token)


def _set_scope(link: ShareLink, target: Shareable, through: int | None) -> None:
    if target.project_id != link.project_id:
        raise NotFound(
            "There is no such session, replay or comparison in this project.", code="target_not_found"
        )
    if isinstance(target, Session):
        link.target_type, link.session = SESSION, target
        link.through_sequence = _last_step(target, through)
    elif through is not None:
        raise InvalidInput(
            "Replays and comparisons are shared completely. Leave `through_sequence` out.",
            code="invalid_field",
            field="through_sequence",
        )
    elif isinstance(target, Replay):
        link.target_type, link.session, link.replay = REPLAY, target.session, target
        last = target.steps.order_by("-sequence").values_list("sequence", flat=True).first()
        if last is None:
            raise InvalidInput(
                "This replay has no steps, so there is nothing to share.", code="nothing_to_share"
            )
        link.through_sequence = last
    else:
        link.target_type, link.comparison = COMPARISON, target
        if not progress_of([target])[target.id].all_finished:
            raise Conflict(
                "This comparison is still running, and a link shows only the answers that exist when it is "
                "created. Share it when it has finished, or cancel what is left.",
                code="comparison_running",
            )


def _last_step(session: Session, sequence: int | None) -> int:
    steps = Action.objects.filter(session=session)
    if sequence is None:
        last = steps.order_by("-sequence").values_list("sequence", flat=True).first()
        if last is None:
            raise InvalidInput(
                "This session has no steps yet, so there is nothing to share.", code="nothing_to_share"
            )
        return last
    if not 1 <= sequence < 2**63 or not steps.filter(sequence=sequence).exists():
        raise InvalidInput(
            f"The session {session.key} has no step {sequence}; its last step is {session.last_sequence}.",
            code="step_not_found",
            field="through_sequence",
        )
    return sequence


def _insert(link: ShareLink) -> None:
    try:
        with transaction.atomic():
            link.save(force_insert=True)
    except IntegrityError as why:
        if "tm_share_link_pkey" not in str(why):
            raise
        raise Conflict(
            "This form was already submitted and its link exists. Its URL was shown once and cannot be shown again. "
            "If you did not keep it, revoke the link under Sharing and create another.",
            code="link_exists",
        ) from why


@transaction.atomic
def set_policy(project: Project, chosen: Policy, *, by: str) -> Policy:
    """Store the policy and log the change. If links are forbidden, existing ones stop working.

    The passphrase and the longest lifetime apply to new links only. Raises `InvalidInput`.
    """
    terms.check_policy(chosen)
    SharePolicy.objects.get_or_create(project=project)
    row = SharePolicy.objects.select_for_update().get(project=project)
    before = policy_of(project)
    if chosen != before:
        SharePolicy.objects.filter(project=project).update(**asdict(chosen))
        log.append_policy(row, by=by[:254], facts={"before": asdict(before), "now": asdict(chosen)})
    return chosen
