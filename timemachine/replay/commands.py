"""What changes in replays: one is planned, its steps are worked on, it is cancelled, its failed steps are tried again."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, Q

from timemachine.base.clock import now
from timemachine.base.errors import Conflict, InvalidInput
from timemachine.base.ids import uuid7
from timemachine.providers.queries import usable_model
from timemachine.recording.models import Action, Session
from timemachine.replay import options as replay_options
from timemachine.replay.engine import Recorded, planned, provider_called
from timemachine.replay.models import TERMINAL_STEP_STATUSES, Replay, ReplayAttempt, ReplayStep
from timemachine.replay.options import ReplayOptions
from timemachine.retrieval.meaning import searchable_name

RING_AGAIN_AFTER = timedelta(seconds=15)
BATCH = 1_000


def launch(
    session: Session,
    options: ReplayOptions,
    *,
    by: str,
    replay_id: UUID | None = None,
    spend_group: UUID | None = None,
    actions: Sequence[Action] | None = None,
) -> Replay:
    """Plan a replay of the session and its steps; a door rings the queue after commit.

    The same `replay_id` a second time (a form sent twice) is the same replay. Replays of one `spend_group` share their spend limit.
    Who launches several of one session reads its `replayable` actions once, and gives them.

    Raises `InvalidInput` (options that do not go together, an unknown model, nothing to replay), `Unavailable` (a model
    that cannot be used here), `Conflict` (that id is of a replay of something else): nothing is made then.
    """
    replay_options.check(options)
    model = str(usable_model(session.project_id, options.use_model)) if options.use_model else None
    kept = replace(options, use_model=model)
    if options.embedding_model is not None and session.collection is not None:
        kept = replace(kept, embedding_model=searchable_name(session.collection, options.embedding_model))
    read = replayable(session) if actions is None else actions
    repeated = [action for action in read if planned(recorded(action), options)]
    if not repeated:
        raise InvalidInput(
            "This session has no find or ask to repeat, so there is nothing to replay; tools are never run again.",
            code="nothing_to_replay",
        )
    with transaction.atomic():
        facts = {
            "project_id": session.project_id,
            "session": session,
            "kind": options.kind,
            "model": model,
            "options": replay_options.as_json(kept),
            "reason": options.reason,
            "requested_by": by,
            "rung_at": now(),
            "spend_group": spend_group,
        }
        replay, new = Replay.objects.get_or_create(id=replay_id or uuid7(), defaults=facts)
        if not new:
            _check_same(replay, session, kept)
            return replay
        steps = [
            ReplayStep(
                replay=replay,
                action=each,
                sequence=each.sequence,
                kind=each.kind,
                provider=provider_called(recorded(each), kept),
            )
            for each in repeated
        ]
        ReplayStep.objects.bulk_create(steps, batch_size=BATCH)
    return replay


def asks_in(session: Session, options: ReplayOptions) -> list[Action]:
    """The asks that a replay with these options would ask again."""
    found = [
        action.id
        for action in replayable(session)
        if action.kind == "ask" and planned(recorded(action), options)
    ]
    return list(Action.objects.filter(id__in=found).order_by("sequence"))


def replayable(session: Session) -> list[Action]:
    """The session's finds and asks in order, each find marked that lies inside an ask."""
    actions = list(
        Action.objects.filter(session=session, kind__in=("find", "ask"))
        .select_related("session")
        .only(
            "id",
            "sequence",
            "kind",
            "client_id",
            "parent_id_given",
            "parent_sequence",
            "model",
            "retrieval",
            "session",
        )
        .order_by("sequence")
    )
    asks = {action.sequence for action in actions if action.kind == "ask"}
    ask_ids = {action.client_id for action in actions if action.kind == "ask"} - {None}
    for action in actions:
        action.within_ask = action.parent_sequence in asks or action.parent_id_given in ask_ids  # type: ignore[attr-defined]
    return actions


def steps_in(session: Session, options: ReplayOptions) -> list[int]:
    """The sequences of the finds and asks that a replay with these options would repeat."""
    return [action.sequence for action in replayable(session) if planned(recorded(action), options)]


@transaction.atomic
def cancel(replay: Replay, *, by: str | None = None) -> Replay:
    """Stop a replay: steps that wait are cancelled at once, calls under way are ended within some seconds. Raises `Conflict` when it is over.

    Who asked first is kept.
    """
    locked = _unfinished(replay)
    if locked.cancel_requested_at is None:
        locked.cancel_requested_at, locked.cancel_requested_by = now(), by and by[:254]
        locked.save(update_fields=["cancel_requested_at", "cancel_requested_by"])
    bump(locked.id)
    return finish_if_over(locked.id)


@transaction.atomic
def retry(replay: Replay) -> Replay:
    """Let the failed and cancelled steps of a finished replay run again. Raises `Conflict` where it still runs or none failed."""
    locked = Replay.objects.select_for_update().get(id=replay.id)
    if locked.finished_at is None:
        raise Conflict("This replay still runs; wait for it or cancel it first.", code="replay_running")
    again = locked.steps.filter(status__in=("failed", "cancelled"))
    if not again.update(
        status="waiting",
        attempts_made=0,
        verdict=None,
        evidence=None,
        error_type=None,
        error_message=None,
        finished_at=None,
    ):
        raise Conflict(
            "No step of this replay failed, so there is nothing to try again.", code="nothing_failed"
        )
    begun_anew = {
        "status": "queued",
        "finished_at": None,
        "cancel_requested_at": None,
        "cancel_requested_by": None,
        "rung_at": now(),
    }
    for name, value in begun_anew.items():
        setattr(locked, name, value)
    locked.save(update_fields=list(begun_anew))
    bump(locked.id)
    return locked


@transaction.atomic
def begin(replay_id: UUID) -> bool:
    """Mark a replay as running; False where it is over or was erased."""
    replay = Replay.objects.select_for_update().filter(id=replay_id, finished_at=None).first()
    if replay is None:
        return False
    if replay.status == "queued":
        replay.status = "running"
        replay.started_at = replay.started_at or now()
        replay.save(update_fields=["status", "started_at"])
        bump(replay_id)
    return True


@transaction.atomic
def finish_if_over(replay_id: UUID) -> Replay:
    """Close the replay once every step is over; safe to call at any time, by any worker."""
    replay = Replay.objects.select_for_update().get(id=replay_id)
    if replay.cancel_requested_at is not None:
        _cancel_what_is_open(replay)
    if replay.finished_at is None and not replay.steps.exclude(status__in=TERMINAL_STEP_STATUSES).exists():
        replay.status = _outcome(replay)
        replay.finished_at = now()
        replay.save(update_fields=["status", "finished_at"])
        bump(replay_id)
        replay.refresh_from_db()
    return replay


@transaction.atomic
def due_for_ringing(*, at_once: bool = False) -> list[UUID]:
    """The replays that have work to do and nobody at it, marked as rung: the queue may have lost their bell.

    `at_once` (a worker has just started) does not wait for the last ringing to grow old.
    """
    moment = now()
    busy = Q(steps__status="running", steps__lease_until__gte=moment)
    unfinished = Replay.objects.filter(status__in=("queued", "running"))
    idle = unfinished.exclude(id__in=unfinished.filter(busy).values("id"))
    if not at_once:
        idle = idle.filter(Q(rung_at=None) | Q(rung_at__lt=moment - RING_AGAIN_AFTER))
    ids = list(Replay.objects.filter(id__in=idle.values("id")).values_list("id", flat=True))
    Replay.objects.filter(id__in=ids).update(rung_at=moment)
    _expose_lost(ids)
    return ids


def is_cancelled(replay_id: UUID) -> bool:
    """Whether somebody has asked for the replay to be cancelled."""
    with connection.cursor() as cursor:  # asked before every step, and the ORM takes three times as long
        cursor.execute("SELECT cancel_requested_at IS NOT NULL FROM tm_replay WHERE id = %s", [replay_id])
        found: tuple[bool] | None = cursor.fetchone()
    return found == (True,)


def bump(replay_id: UUID) -> None:
    """Count a change, so that a page that polls learns of it."""
    Replay.objects.filter(id=replay_id).update(revision=F("revision") + 1)


def recorded(action: Action) -> Recorded:
    """What of an action decides its step."""
    return Recorded(
        sequence=action.sequence,
        kind=action.kind,
        within_ask=bool(getattr(action, "within_ask", False)),
        has_collection=action.session.collection_id is not None,
        has_retrieval=action.retrieval is not None,
        model=action.model,
    )


def _check_same(replay: Replay, session: Session, options: ReplayOptions) -> None:
    """Raise `Conflict` for the replay of another session, or with other options."""
    if replay.session_id != session.id or replay_options.from_json(replay.options) != options:
        raise Conflict(
            "This form launched a replay already, of something else; send it once more to launch this one as well.",
            code="form_used",
        )


def _unfinished(replay: Replay) -> Replay:
    locked = Replay.objects.select_for_update().get(id=replay.id)
    if locked.finished_at is not None:
        raise Conflict(f"This replay is over already: {locked.status}.", code="replay_over")
    return locked


def _cancel_what_is_open(replay: Replay) -> None:
    """Cancel the steps that nobody is at: those that wait, and those whose worker was lost."""
    lost = Q(status="running", lease_until__lt=now())
    open_ = replay.steps.filter(Q(status__in=("waiting", "uncertain")) | lost)
    # locked, or one that is taken up at this moment would be cancelled under its worker's hands, between intent and call;
    # what others hold is passed over: whoever holds it comes here too when it is done with it
    ids = list(open_.select_for_update(skip_locked=True).order_by("id").values_list("id", flat=True))
    ReplayAttempt.objects.filter(step__in=ids, outcome=None).update(outcome="lost", finished_at=now())
    replay.steps.filter(id__in=ids).update(
        status="cancelled", finished_at=now(), lease_token=None, lease_until=None
    )


def _outcome(replay: Replay) -> str:
    if replay.cancel_requested_at is not None and replay.steps.filter(status="cancelled").exists():
        return "cancelled"
    return "done" if replay.steps.exclude(status="failed").exists() else "failed"


def _expose_lost(ids: list[UUID]) -> None:
    """Steps whose worker was lost show so until somebody takes them up: `uncertain` where a call may have been billed."""
    lost = ReplayStep.objects.filter(replay_id__in=ids, status="running", lease_until__lt=now())
    called = Q(attempts__outcome=None, attempts__call_intended_at__isnull=False)
    uncertain = list(lost.filter(called).values_list("id", flat=True))
    lost.filter(id__in=uncertain).update(status="uncertain", lease_token=None, lease_until=None)
    lost.update(status="waiting", lease_token=None, lease_until=None)
