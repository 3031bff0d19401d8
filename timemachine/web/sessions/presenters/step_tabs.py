"""The tabs of a step: Action, State, Diff, Context and Raw."""

from collections.abc import Iterable, Mapping
from typing import Final

from django.urls import reverse

from timemachine.governance.deletion.erasure.queries import as_given
from timemachine.governance.sharing.read_models.steps import SharedAction
from timemachine.llm.schemas import TOKENS
from timemachine.recording.model_calls.queries import MODEL_CALL
from timemachine.recording.sessions.branches import branches_at
from timemachine.recording.sessions.deletions import deletions_of
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.corrections import is_correction
from timemachine.recording.sessions.pure.turn_text import Deleted
from timemachine.recording.sessions.pure.vocabulary import SIGNIFICANCES, SPENDING
from timemachine.recording.sessions.queries import IS_CORRECTION
from timemachine.recording.timeline.copies import original_of
from timemachine.recording.timeline.provenance import origin_of
from timemachine.recording.timeline.schemas.actions import ReadAction, with_everything
from timemachine.recording.timeline.state import StateMessage, state_at
from timemachine.recording.timeline.step import FIRST_BYTES, Step
from timemachine.recording.usage.queries import reasons_of
from timemachine.replay.runs.pure.engine import REPLAYED_KINDS
from timemachine.replay.runs.queries import newest_trials
from timemachine.text.redaction.pure.marks import DELETED_TURN, OPENING_ERASED
from timemachine.web.formatting import Excerpt, json_excerpt
from timemachine.web.hits import frame_addresses
from timemachine.web.sessions.presenters.judging import judging_of
from timemachine.web.sessions.presenters.model_request import MOST, shown_request
from timemachine.web.sessions.presenters.provenance import provenance
from timemachine.web.sessions.presenters.step_diff import Pin, step_diff
from timemachine.web.sessions.presenters.steps import address_query
from timemachine.web.sessions.presenters.supporting_passages import sources_of, supported_answer

SHOWN_BRANCHES: Final = 10


def tab_of(
    session: Session, found: Step, pin: Pin, *, tab: str, first_bytes: int, line: int
) -> dict[str, object]:
    """Return the context of a tab, with the given number of bytes of each payload."""
    if tab == "diff":
        diff = step_diff(session, found, pin, first_bytes=first_bytes, line=line)
        both = [each for each in (diff.base, found.action) if each and each.label.startswith(DELETED_TURN)]
        tombstones = _tombstones(session, diff.changed.messages, both)
        return {
            "diff": diff,
            "more_asked": 1 if first_bytes > FIRST_BYTES else None,
            "tombstones": tombstones,
        }
    if tab == "state":
        sequence = found.action.sequence
        state = state_at(session, sequence)
        until = Action.objects.filter(session=session, sequence__lte=sequence)
        return {
            "state": state,
            "tombstones": _tombstones(session, state.messages),
            "unknown_until": reasons_of(until) if state.totals.unknown_cost_calls else {},
            "unknown_steps": address_query({"filter": f"cost:unknown step:<={sequence}"}),
        }
    if tab == "raw":
        return {"raw": _raw(found.action, first_bytes)}
    addresses = frame_addresses(found.passages)
    return (
        {"frame_addresses": addresses}
        | provenance(session, found)
        | (
            _action_tab(session, found, addresses)
            if tab == "action"
            else _request_of(found.action, first_bytes)
        )
    )


def _request_of(action: Action, first_bytes: int) -> dict[str, object]:
    """Return the request of a model call, with more of its messages and of their texts once more of a payload is shown."""
    if action.kind != MODEL_CALL:
        return {}
    more = (MOST, FIRST_BYTES) if first_bytes > FIRST_BYTES else ()
    return {"model_request": shown_request(action, first_bytes, *more)}


def _action_tab(session: Session, found: Step, addresses: Mapping[int, str]) -> dict[str, object]:
    return {
        **supported_answer(found.output, found.action.grounding, sources_of(found.passages, addresses)),
        **kind_facts(found.action),
        "significances": SIGNIFICANCES,
        "branches": branches_at(session, found.action.sequence, SHOWN_BRANCHES + 1),
        "most_branches": SHOWN_BRANCHES,
        "original": original_of(session, found.action.copied_from),
        "origin": origin_of(session.project_id, found.action.cached_from),
        "corrected_by": _correction_of(session, found.action),
        "same_as_parent": _repeats_parent(found),
        **judging_of(found),
        **_trials(session, found.action),
    }


def _repeats_parent(found: Step) -> bool:
    """Return whether the step has the input of its parent, as a find has the question of its ask."""
    if found.parent is None or found.input is None:
        return False
    same = Action.objects.filter(session=found.action.session_id, input=found.action.input_id)
    return same.filter(sequence=found.parent.sequence).exists()


def kind_facts(action: Action | SharedAction) -> dict[str, object]:
    """Return the recorded token counts, and whether the step corrects what another one counted."""
    usage = [(name, number) for name in TOKENS if (number := getattr(action, name)) is not None]
    corrects = is_correction(action.kind, action.prices)
    return {"usage": usage, "corrects": corrects}


def _correction_of(session: Session, action: Action) -> int | None:
    """Return the sequence of the last event that corrects what the step counted, None if nothing corrects it."""
    if action.kind not in SPENDING or action.client_id is None:
        return None
    corrections = session.actions.filter(IS_CORRECTION, parent_id_given=action.client_id)
    return corrections.order_by("-sequence").values_list("sequence", flat=True).first()


def _trials(session: Session, action: Action) -> dict[str, object]:
    """Return the trials of this step, and the URL of the trial form for a find or ask."""
    if action.kind not in REPLAYED_KINDS:
        return {}
    return {
        "trials": newest_trials(session, action.sequence),
        "tried_at": reverse("trial", args=[session.id, action.sequence]),
    }


def _tombstones(
    session: Session, messages: Iterable[StateMessage], steps: Iterable[Action] = ()
) -> dict[int, Deleted]:
    """Return the tombstones of deleted messages and steps. One query, none if nothing was erased."""
    marked = {message.sequence for message in messages if OPENING_ERASED in message.text.text}
    found = marked | {step.sequence for step in steps}
    return deletions_of(session, found) if found else {}


def _raw(action: Action, first_bytes: int) -> Excerpt:
    whole = with_everything(Action.objects.filter(pk=action.pk)).get()
    (shown,) = as_given(action.session, [ReadAction.of(whole)])
    return json_excerpt(shown.model_dump(), first_bytes)
