"""What belongs to a link, and limits what its visitors read: recorded actions, replayed steps, payloads.

A link to a session contains its steps up to one of them. A link to a replay or comparison contains the steps
of those replays and the recorded actions that they repeated: finds, asks, and the finds inside an ask, which
have that ask's passages. A link to a comparison contains the answers that existed when it was created, not
later ones. A link to the evidence alone contains none.
"""

from django.db.models import Exists, OuterRef, Q, QuerySet

from timemachine.core.payloads.models import Payload
from timemachine.governance.sharing.models import COMPARISON, REPLAY, SESSION, ShareLink
from timemachine.recording.sessions.models import Action, Hit
from timemachine.recording.sessions.queries import is_find_inside
from timemachine.replay.runs.models import ReplayHit, ReplayStep


def counted_actions(link: ShareLink) -> QuerySet[Action]:
    """Return the recorded actions of the link, also for a link that only shows their number."""
    if link.target_type == SESSION:
        return Action.objects.filter(session_id=str(link.session_id), sequence__lte=link.through_sequence)
    replayed = Action.objects.filter(id__in=counted_steps(link).values("action_id"))
    return Action.objects.filter(
        Q(id__in=replayed.values("id")) | is_find_inside(replayed.filter(kind="ask"))
    )


def counted_steps(link: ShareLink) -> QuerySet[ReplayStep]:
    """Return the steps of replays of the link, also for a link that only shows their number."""
    if link.target_type == REPLAY:
        return ReplayStep.objects.filter(replay_id=str(link.replay_id), sequence__lte=link.through_sequence)
    if link.target_type == COMPARISON:
        return ReplayStep.objects.filter(
            replay__run__comparison=link.comparison_id, finished_at__lte=link.created_at
        )
    return ReplayStep.objects.none()


def actions_within(link: ShareLink) -> QuerySet[Action]:
    """Return the recorded actions that the link shows."""
    return Action.objects.none() if link.evidence_only else counted_actions(link)


def steps_within(link: ShareLink) -> QuerySet[ReplayStep]:
    """Return the steps of replays that the link shows."""
    return ReplayStep.objects.none() if link.evidence_only else counted_steps(link)


def payloads_within(link: ShareLink) -> QuerySet[Payload]:
    """Return the payloads that something in the link refers to."""
    actions, steps = actions_within(link), steps_within(link)
    own = Q(input=OuterRef("pk")) | Q(output=OuterRef("pk")) | Q(source=OuterRef("pk"))
    frozen = Hit.objects.filter(payload=OuterRef("pk"), action__in=actions)
    found = Q(Exists(actions.filter(own))) | Q(Exists(frozen))
    if link.target_type != SESSION:
        found_now = ReplayHit.objects.filter(payload=OuterRef("pk"), step__in=steps)
        found |= Q(Exists(steps.filter(output=OuterRef("pk")))) | Q(Exists(found_now))
    return Payload.objects.filter(found, project_id=link.project_id)


def fields_of(link: ShareLink, payload: Payload) -> frozenset[str]:
    """Return the fields of steps and answers in the link that refer to that payload. At most five queries."""
    actions, steps = actions_within(link), steps_within(link)
    found = {name for name in ("input", "output", "source") if actions.filter(**{name: payload}).exists()}
    if steps.filter(output=payload).exists():
        found.add("output")
    if Hit.objects.filter(payload=payload, action__in=actions).exists() or (
        link.target_type != SESSION and ReplayHit.objects.filter(payload=payload, step__in=steps).exists()
    ):
        found.add("retrieval")
    return frozenset(found)
