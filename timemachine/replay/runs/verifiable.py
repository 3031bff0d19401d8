"""Whether an audit has anything to verify, before it is launched."""

from django.db.models import Q

from timemachine.recording.sessions.models import Action, Hit, Session
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.replay.runs.pure.options import ReplayOptions


def has_nothing_to_verify(session: Session, options: ReplayOptions) -> bool:
    """Return whether certainly no step of an audit with these options can be verified. At most two queries.

    Then it repeats no model call, whose request could be verified, and no passage of its finds and asks was recorded with
    its hash. A filter and a sample only leave out steps, so they are not looked at.
    """
    own, of_parent = _range(options, "sequence"), _range(options, "parent_sequence")
    steps = Action.objects.filter(session=session)
    if not options.skip_calls and steps.filter(own, kind=MODEL_CALL).exists():
        return False
    within_an_ask = Q(kind="find") & (
        of_parent & Q(parent_sequence__isnull=False) | Q(parent_id_given__isnull=False)
    )
    answering = Q() if options.skip_asks else Q(own, kind="ask") | within_an_ask
    searching = Q() if options.skip_finds else Q(own, kind="find")
    if not answering and not searching:
        return True
    return not Hit.objects.filter(
        action__in=steps.filter(answering | searching), sha256__isnull=False
    ).exists()


def _range(options: ReplayOptions, column: str) -> Q:
    found = Q(**{f"{column}__gt": options.after_sequence or 0})
    if options.through_sequence is not None:
        found &= Q(**{f"{column}__lte": options.through_sequence})
    return found
