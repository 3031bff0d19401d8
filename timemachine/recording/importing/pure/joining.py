"""Put together the two files of one session that were imported one after the other."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from timemachine.recording.importing.pure.report import Part, SessionDraft
from timemachine.recording.sessions.pure.draft import ActionDraft, copy_of


def paired[T: (float, datetime)](answers: Sequence[T | None], requests: Sequence[T | None]) -> dict[int, int]:
    """Return the place of the request of each answer, from their times: the latest request that was made before it. If
    answers have no times, the one at the same place, if there are as many."""
    if all(time is None for time in answers):
        return {at: at for at in range(len(answers))} if len(answers) == len(requests) else {}
    remaining = [(time, place) for place, time in enumerate(requests) if time is not None][::-1]
    found: dict[int, int] = {}
    for place, time in enumerate(answers):
        while time is not None and remaining and remaining[-1][0] <= time:
            found[place] = remaining.pop()[1]
    return found


def joined(
    draft: SessionDraft, part: Part, key: str, calls: Sequence[tuple[str, datetime | None]]
) -> SessionDraft:
    """Return the draft as a part of the session with this key, which has the other file. `calls` are the ids and times of the
    model calls recorded from that.

    What repeats the other file is marked as copied. A call gets the tokens and the cost that this file states.
    """
    made = [each for each in draft.actions if each.kind == "llm_call"]
    answers = {} if part.repeats else paired([time for _, time in calls], [each.started_at for each in made])
    recorded = {id(made[request]): calls[answer][0] for answer, request in answers.items()}
    actions: list[ActionDraft] = []
    for each in draft.actions:
        if (call := recorded.get(id(each))) is not None:
            actions.append(replace(each, id=call, parent=None))
        spent = each.kind == "llm_call" or each.usage is not None or each.cost_usd is not None
        is_new = spent and not part.repeats and call is None
        actions.append(each if is_new else replace(each, copied_from=copy_of(key)))
    return replace(draft, key=key, actions=tuple(actions))
