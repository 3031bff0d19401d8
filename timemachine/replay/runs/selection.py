"""Choosing the steps that a replay repeats: by its range and kinds, by a filter, and as a sample."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Sequence
from hashlib import sha256
from uuid import UUID

from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL
from timemachine.recording.timeline.filter_sql import matching
from timemachine.recording.timeline.pure.filter import parse
from timemachine.replay.runs.pure.engine import Recorded, is_replayed
from timemachine.replay.runs.pure.options import ReplayOptions


def chosen(session: Session, actions: Sequence[Action], options: ReplayOptions) -> list[Action]:
    """Return those of the session's `replayable` actions that a replay with these options repeats, in order.

    At most one query, which only a filter needs.
    """
    found = [action for action in actions if is_replayed(recorded(action), options)]
    if options.step is not None:
        return found
    if options.only is not None and found:
        fitting = _fitting(session, found, options.only)
        found = [action for action in found if action.sequence in fitting]
    return found if options.sample is None else _sample(session.id, found, options.sample)


def recorded(action: Action) -> Recorded:
    """Return the facts of an action that decide how it is replayed."""
    named = (action.retrieval or {}).get("collection")
    return Recorded(
        sequence=action.sequence,
        kind=action.kind,
        within_ask=bool(getattr(action, "within_ask", False)),
        has_collection=action.session.collection_id is not None or named is not None,
        has_retrieval=action.retrieval is not None,
        model=action.model,
        is_copied=action.is_copied,
    )


def _fitting(session: Session, actions: Sequence[Action], written: str) -> Collection[int]:
    """Return the sequences of the steps that fit the filter, and of the model calls that led to steps that fit."""
    rows = Action.objects.filter(matching(parse(written)), session=session)
    fitting: set[int | None] = set()
    calls: set[int] = set()
    of_agents: dict[str | None, list[int]] = defaultdict(list)
    for action in actions:
        if action.kind == MODEL_CALL:
            calls.add(action.sequence)
            of_agents[action.agent].append(action.sequence)
    for sequence, agent, parent in rows.values_list("sequence", "agent", "parent_sequence"):
        fitting |= {sequence, parent}
        place = 0 if parent in calls else bisect_left(of_agents[agent], sequence)
        if place:
            fitting.add(of_agents[agent][place - 1])
    return {each for each in fitting if each is not None}


def _sample(session: UUID, actions: Sequence[Action], most: int) -> list[Action]:
    """Return at most this many of the actions, in order: those with the smallest hashes, so that every replay has the same."""
    drawn = sorted(actions, key=lambda each: sha256(f"{session} {each.sequence}".encode()).digest())[:most]
    return sorted(drawn, key=lambda each: each.sequence)
