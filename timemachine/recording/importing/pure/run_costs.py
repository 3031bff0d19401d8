"""Calls whose cost a file states only for the run: the final event of the session has it."""

from collections.abc import Sequence
from dataclasses import replace

from timemachine.core.pure.unknown_prices import STATED
from timemachine.recording.sessions.pure.draft import ActionDraft
from timemachine.recording.sessions.pure.vocabulary import MODEL_CALL


def with_cost_of_run(actions: Sequence[ActionDraft]) -> Sequence[ActionDraft]:
    """Return the actions of a session. Calls without tokens and cost name in `prices` the final event that states the
    cost of the run, if there is one: what they cost is included in it, and is not unknown."""
    end = actions[-1] if actions else None
    if end is None or end.kind != "event" or end.cost_usd is None:
        return actions
    included = {**STATED, "with": end.id}
    return [replace(each, prices=dict(included)) if _is_without_numbers(each) else each for each in actions]


def _is_without_numbers(action: ActionDraft) -> bool:
    return (
        action.kind == MODEL_CALL
        and action.usage is None
        and action.cost_usd is None
        and action.prices is None
    )
