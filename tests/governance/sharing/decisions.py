"""Which fields of the database a share link shows, and which it does not.

Every field and relation of every model that a link leads to is in exactly one list: `shown` if a read model
has a field of that name, `shown_as` if one has it under another name, or `not_shown`.
`test_decisions.py` fails for a field that is in none, and follows the shown relations to the next model.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from django.db.models import Model

from timemachine.core.accounts.models import Project
from timemachine.core.payloads.models import Payload
from timemachine.evidence.models import (
    EarlierSeal,
    ErasedField,
    Seal,
    SealCheck,
    SealCheckpoint,
    SigningKey,
)
from timemachine.governance.sharing.models import ShareLink
from timemachine.governance.sharing.read_models.comparisons import (
    SharedCell,
    SharedComparison,
    SharedMark,
    SharedOpinion,
    SharedResults,
)
from timemachine.governance.sharing.read_models.continuations import SharedContinuation
from timemachine.governance.sharing.read_models.links import SharedLink, SharedSession
from timemachine.governance.sharing.read_models.replays import (
    SharedAttempt,
    SharedFrame,
    SharedReplay,
    SharedReplayRow,
    SharedReplayStep,
)
from timemachine.governance.sharing.read_models.rows import SharedRow
from timemachine.governance.sharing.read_models.seals import (
    SharedDeletion,
    SharedEarlierSeal,
    SharedErasure,
    SharedKey,
    SharedSeal,
)
from timemachine.governance.sharing.read_models.steps import (
    SharedAction,
    SharedHit,
    SharedPassage,
    SharedPayload,
    SharedStep,
)
from timemachine.recording.sessions.models import Action, ErasedTurn, Hit, Session
from timemachine.recording.timeline.step import Head
from timemachine.replay.comparison.models import (
    CellMark,
    CellOpinion,
    Comparison,
    ComparisonFindings,
    ComparisonReplay,
)
from timemachine.replay.comparison.pure.cells import Cell
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayHit, ReplayStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The decision for one model. `shown` contains all fields that `read_models` have under the same name."""

    read_models: tuple[type, ...] = ()
    shown: frozenset[str] = frozenset()
    shown_as: Mapping[str, tuple[type, str]] = field(default_factory=dict)
    not_shown: frozenset[str]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


START: Final = ShareLink
DECISIONS: Final[Mapping[type[Model], Decision]] = {
    ShareLink: Decision(
        read_models=(SharedLink,),
        shown=_names(
            "public_id target_type through_sequence evidence_only redaction withheld created_by created_at expires_at"
        ),
        shown_as={
            "project": (SharedLink, "project_name"),
            "session": (SharedLink, "name"),
            "replay": (SharedLink, "replay_kind"),
            "comparison": (SharedLink, "models"),
        },
        not_shown=_names(
            "id secret_sha256 label revoked_at revoked_by max_opens opens last_open_at "
            "passphrase_hash grants openings"
        ),
    ),
    Project: Decision(
        shown_as={"name": (SharedLink, "project_name")},
        not_shown=_names(
            "id created_at memberships api_keys invitations share_policy model_servers provider_keys "
            "longest_key_days needs_second_factor"
        ),
    ),
    # A session's own counts cover all of it, and a link may show a part: pages add up what the link shows.
    Session: Decision(
        read_models=(SharedSession,),
        shown=_names("id name agent"),
        shown_as={
            "actions": (SharedStep, "action"),
            "erased_turns": (SharedDeletion, "erased_at"),
            "erased_fields": (SharedErasure, "field"),
            "seals": (SharedSeal, "at"),
            "first_step_at": (SharedSession, "began_at"),
            "started_at": (SharedSession, "began_at"),
            "is_undated": (SharedSession, "began_at"),
            "continues": (SharedContinuation, "step"),
        },
        not_shown=_names(
            "project key user collection status parent parent_sequence parent_key parent_erased "
            "metadata tags created_at created_by ended_at imported_as last_sequence error_count "
            "input_tokens output_tokens cost_usd unknown_cost_calls cached_calls saved_usd "
            "unknown_saved_calls last_action_at last_step_ended_at branches replays erasures share_links notes "
            "compression traces judgements sweeps"
        ),
    ),
    Action: Decision(
        read_models=(SharedAction, SharedRow),
        shown=_names(
            "sequence client_id kind layer role agent name tool call_id parent_id_given "
            "parent_sequence significance importance iteration tags metadata started_at recorded_at "
            "duration_ms label error_type error_message model parameters input_tokens output_tokens "
            "total_tokens cached_tokens cache_write_tokens reasoning_tokens cost_usd prices cached "
            "saved_usd grounding retrieval"
        ),
        shown_as={
            "session": (SharedStep, "session"),
            "input": (SharedStep, "input"),
            "output": (SharedStep, "output"),
            "source": (SharedStep, "source"),
            "cached_from": (SharedStep, "origin"),
            "copied_from": (SharedAction, "is_copied"),
            "hits": (SharedStep, "passages"),
        },
        not_shown=_names("id project weight"),
    ),
    Hit: Decision(
        read_models=(SharedHit,),
        shown=_names("rank score scores frame version title uri metadata sha256 matched"),
        shown_as={"payload": (SharedPassage, "text")},
        not_shown=_names("id action stored_frame"),
    ),
    Payload: Decision(
        read_models=(SharedPayload,),
        shown=_names("sha256 media_type"),
        shown_as={"size": (Head, "size"), "stored": (SharedPayload, "data")},
        not_shown=_names("id project created_at packed"),
    ),
    Replay: Decision(
        read_models=(SharedReplay,),
        shown=_names("id kind status model options reason created_at finished_at cancel_requested_at branch"),
        shown_as={
            "session": (SharedReplayStep, "session"),
            "steps": (SharedReplayRow, "id"),
            "run": (SharedCell, "arm"),
            "seals": (SharedSeal, "at"),
            "erased_fields": (SharedErasure, "field"),
        },
        not_shown=_names(
            "project requested_by started_at cancel_requested_by enqueued_at spend_group revision "
            "share_links suite_replay"
        ),
    ),
    ReplayStep: Decision(
        read_models=(SharedReplayStep, SharedReplayRow),
        shown=_names(
            "id action sequence kind status asked_again_at waits_because context frames retrieval "
            "verdict evidence model parameters duration_ms input_tokens output_tokens cost_usd "
            "grounding error_message attempts"
        ),
        shown_as={
            "replay": (SharedReplayStep, "asked"),
            "output": (SharedReplayStep, "new_answer"),
            "hits": (SharedReplayStep, "found_frames"),
            "marks": (SharedCell, "marks"),
            "opinions": (SharedCell, "opinions"),
        },
        not_shown=_names(
            "provider attempts_made lease_token lease_until started_at finished_at total_tokens "
            "cached_tokens cache_write_tokens reasoning_tokens prices error_type"
        ),
    ),
    ReplayHit: Decision(
        read_models=(SharedFrame,),
        shown=_names("rank score frame version title sha256"),
        shown_as={"payload": (SharedFrame, "text")},
        not_shown=_names("id step scores uri metadata matched stored_frame"),
    ),
    ReplayAttempt: Decision(
        read_models=(SharedAttempt,),
        shown=_names("number started_at call_intended_at outcome calls_made cost_usd"),
        not_shown=_names("id step lease_token worker finished_at reserved_usd error_message"),
    ),
    Comparison: Decision(
        read_models=(SharedComparison,),
        shown=_names("id reason arms repeats noise_floor created_at"),
        shown_as={
            "runs": (SharedCell, "arm"),
            "marks": (SharedCell, "marks"),
            "opinions": (SharedCell, "opinions"),
            "findings": (SharedResults, "findings"),
            "seals": (SharedSeal, "at"),
            "earlier_seals": (SharedEarlierSeal, "root"),
        },
        not_shown=_names("project spend_limit_usd requested_by share_links"),
    ),
    ComparisonReplay: Decision(
        read_models=(SharedCell,),
        shown=_names("arm"),
        shown_as={"repeat": (Cell, "repeat")},
        not_shown=_names("id comparison replay"),
    ),
    ComparisonFindings: Decision(
        shown_as={"content": (SharedResults, "findings")},
        not_shown=_names("comparison cells answers computed_at attempts enqueued_at lease_token lease_until"),
    ),
    CellMark: Decision(
        read_models=(SharedMark,),
        shown=_names("verdict note marked_by created_at"),
        not_shown=_names("id comparison step"),
    ),
    CellOpinion: Decision(
        read_models=(SharedOpinion,),
        shown=_names(
            "model state relation preference asked cost_usd calls_made unknown_cost_calls "
            "error_message created_at asked_again_at waits_because"
        ),
        not_shown=_names(
            "id comparison step prompt_template prompt raw usage error_type requested_by asked_at finished_at"
        ),
    ),
    ErasedField: Decision(
        read_models=(SharedErasure,),
        shown=_names("field erased_at"),
        not_shown=_names("id project session replay sequence index commitment log_index erased_by reason"),
    ),
    ErasedTurn: Decision(
        read_models=(SharedDeletion,),
        shown=_names("erased_at"),
        not_shown=_names("id session sequence erased_by reason"),
    ),
    # Downloaded evidence contains a seal's records; `sharing/evidence.py` decides what it discloses of them.
    Seal: Decision(
        shown_as={"checkpoints": (SharedSeal, "at"), "checks": (SharedSeal, "checked_at")},
        not_shown=_names(
            "id project of session replay comparison generation run_ended_at size peaks last_leaf "
            "signed_size signed_at state problem records results"
        ),
    ),
    SealCheckpoint: Decision(
        read_models=(SharedSeal,),
        shown=_names("at key root"),
        not_shown=_names("id seal size state signed log_index cut_for"),
    ),
    SealCheck: Decision(
        shown_as={
            "finished_at": (SharedSeal, "checked_at"),
            "problems": (SharedSeal, "result"),
            "records": (SharedSeal, "checked_records"),
        },
        not_shown=_names(
            "id seal requested_by requested_at started_at recorded erased enqueued_at lease_token lease_until done total"
        ),
    ),
    SigningKey: Decision(
        read_models=(SharedKey,),
        shown=_names("fingerprint"),
        not_shown=_names(
            "id project public_key store private_key name created_at created_by replaced_at replaced_by"
        ),
    ),
    EarlierSeal: Decision(
        read_models=(SharedEarlierSeal,),
        shown=_names("replaced_at"),
        shown_as={"states": (SharedEarlierSeal, "root")},
        not_shown=_names("id project comparison generation log_index replaced_by reason fields"),
    ),
}
