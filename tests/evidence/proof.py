"""For every column of what a session, replay, comparison or evidence page shows: how a changed value is found, or why not.

A column is either `proven` (sealed, signed, or computed again by the check), or in `unproven` with the reason.
`test_proof.py` fails for a column that is in neither, and for a table that leads to a session and is not named here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from django.db.models import Model

from timemachine.core.payloads.models import Payload
from timemachine.evidence.models import (
    EarlierSeal,
    ErasedField,
    Seal,
    SealCheckpoint,
    SigningKey,
)
from timemachine.recording.sessions.models import Action, ErasedTurn, Hit, Session
from timemachine.recording.usage.models import Bin, FirstUse, Latency, Usage
from timemachine.replay.comparison.models import (
    CellMark,
    CellOpinion,
    Comparison,
    ComparisonFindings,
    ComparisonReplay,
)
from timemachine.replay.runs.models import Replay, ReplayAttempt, ReplayHit, ReplayStep

SESSION, REPLAY, COMPARISON = "session", "replay", "comparison"
INTERNAL: Final = "pages do not show it"
EDITED: Final = "members can edit it; the statement of a bundle says what it was then"
PARENT: Final = "a parent can be imported later or deleted"
LEASE: Final = "only a running job has one"
WAITING: Final = "only what is not finished yet has one, and that is not sealed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """How the columns of a table are proven.

    `checked` is whose check finds a change of the row that SQL `where` selects (`{session}`, `{replay}`, `{comparison}` are ids).
    `values` are the new values in SQL where the type alone does not give a legal one. `in_bundle` are the columns
    whose change the verifier finds in a fresh bundle.
    """

    checked: str
    where: str
    proven: str = ""
    unproven: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    in_bundle: str = ""


_FIRST_STEP: Final = "session_id = '{session}' AND sequence = 1"
_REPLAYED: Final = "(SELECT min(id) FROM tm_replay_step WHERE replay_id = '{replay}')"
_CELL: Final = "(SELECT min(s.id) FROM tm_replay_step s JOIN tm_comparison_replay r USING (replay_id) WHERE r.comparison_id = '{comparison}')"
_OF_SEAL: Final = "(SELECT id FROM tm_seal WHERE session_id = '{session}')"
_ACTION_FACTS: Final = (
    "layer role significance importance iteration started_at duration_ms model input_tokens output_tokens "
    "total_tokens cached_tokens cache_write_tokens reasoning_tokens cost_usd prices cached saved_usd"
)
_ACTION_WORDS: Final = "client_id agent name tool call_id parent_id_given parent_sequence tags metadata error_type error_message parameters cached_from"
_FIGURES: Final = (
    "status attempts_made started_at context frames retrieval verdict evidence model parameters duration_ms input_tokens "
    "output_tokens total_tokens cached_tokens cache_write_tokens reasoning_tokens cost_usd prices grounding error_type error_message"
)
_COUNTS: Final = (
    "number errors timed duration_ms input_tokens output_tokens cost_usd unknown_cost_calls cached_calls saved_usd "
    "unknown_saved_calls"
)
_HIT: Final = "rank score scores frame version title uri metadata sha256 matched payload"
_KEYED: Final = {"key": INTERNAL}

PROOFS: Final[Mapping[type[Model], Proof]] = {
    Session: Proof(
        checked=SESSION,
        where="id = '{session}'",
        proven=(
            "key agent user status continues created_at created_by started_at ended_at imported_as is_undated last_sequence error_count "
            "input_tokens output_tokens cost_usd unknown_cost_calls cached_calls saved_usd unknown_saved_calls last_action_at "
            "first_step_at last_step_ended_at"
        ),
        in_bundle="agent user status created_at created_by started_at ended_at imported_as key",
        values={"status": "'recording'"},
        unproven={
            "id": "the log and every record name it",
            "project": "the log is the project's",
            "name": EDITED,
            "metadata": EDITED,
            "tags": EDITED,
            "collection": EDITED,
            "parent": PARENT,
            "parent_sequence": PARENT,
            "parent_key": PARENT,
            "parent_erased": PARENT,
        },
    ),
    Action: Proof(
        checked=SESSION,
        where=_FIRST_STEP,
        proven=f"sequence kind recorded_at label copied_from grounding retrieval input output source {_ACTION_FACTS} {_ACTION_WORDS}",
        in_bundle=f"grounding retrieval input output source {_ACTION_WORDS} {_ACTION_FACTS}",
        values={
            "kind": "'event'",
            "layer": "'sys'",
            "role": "'system'",
            "significance": "'decision'",
            "sequence": "1000",
            "input": "(SELECT max(id) FROM tm_payload)",
            "output": "(SELECT max(id) FROM tm_payload)",
            "source": "(SELECT max(id) FROM tm_payload)",
        },
        unproven={
            "id": INTERNAL,
            "project": "its session names it",
            "session": "a step of another session is missing in this one",
        },
    ),
    Hit: Proof(
        checked=SESSION,
        where="action_id = (SELECT id FROM tm_action WHERE " + _FIRST_STEP + ") AND rank = 1",
        proven=_HIT,
        in_bundle=_HIT,
        values={"rank": "77", "payload": "(SELECT max(id) FROM tm_payload)"},
        unproven={
            "id": INTERNAL,
            "action": "a passage of another step is missing in its own",
            "stored_frame": "it only leads to the collection, whose frames can change",
        },
    ),
    Payload: Proof(
        checked=SESSION,
        where="id = (SELECT output_id FROM tm_action WHERE " + _FIRST_STEP + ")",
        proven="sha256 stored media_type",
        in_bundle="stored media_type",
        values={
            "sha256": "decode(repeat('0', 64), 'hex')",
            "media_type": "'file'",
            "stored": "'altered', size = 7, packed = false",
        },
        unproven={
            "id": INTERNAL,
            "project": INTERNAL,
            "size": "the database refuses another one, and packed bytes have no other",
            "packed": "the database refuses it for bytes of this size",
            "created_at": INTERNAL,
        },
    ),
    ErasedTurn: Proof(
        checked=SESSION,
        where="session_id = '{session}'",
        proven="sequence erased_at erased_by reason",
        unproven={
            "id": INTERNAL,
            "session": "the deletion of a step of another session is missing in this one",
        },
    ),
    ErasedField: Proof(
        checked=SESSION,
        where="id = (SELECT min(id) FROM tm_erased_field WHERE session_id = '{session}' AND replay_id IS NULL)",
        proven="sequence index field log_index erased_at erased_by reason",
        unproven={
            "id": INTERNAL,
            "project": INTERNAL,
            "session": "an erasure of another session is missing in this one",
            "replay": "an erasure of another replay is missing in this one",
            "commitment": INTERNAL,
        },
    ),
    Usage: Proof(
        checked=SESSION,
        where="ctid = (SELECT ctid FROM tm_usage WHERE session_id = '{session}' ORDER BY key LIMIT 1)",
        proven=f"day kind agent model tool {_COUNTS}",
        unproven={"session": INTERNAL, "project": INTERNAL} | _KEYED,
    ),
    Bin: Proof(
        checked=SESSION,
        where="ctid = (SELECT ctid FROM tm_bin WHERE session_id = '{session}' ORDER BY kind LIMIT 1)",
        proven="bin kind copied first last number timed duration_ms input_tokens output_tokens cost_usd cached_calls saved_usd unknown_saved_calls",
        values={"kind": "'put'"},
        unproven={
            "session": INTERNAL,
            "errors": "an erasure leaves it; without one it is proven",
            "unknown_cost_calls": "an erasure leaves it; without one it is proven",
            "folded": "an erasure leaves it; without one it is proven",
        },
    ),
    Latency: Proof(
        checked=SESSION,
        where="ctid = (SELECT ctid FROM tm_latency WHERE session_id = '{session}' LIMIT 1)",
        proven="bucket number key",
        unproven={"session": INTERNAL},
    ),
    FirstUse: Proof(
        checked=SESSION,
        where="ctid = (SELECT ctid FROM tm_first_use WHERE session_id = '{session}' LIMIT 1)",
        proven="sequence rank frame version title",
        unproven={"session": INTERNAL} | _KEYED,
    ),
    Replay: Proof(
        checked=REPLAY,
        where="id = '{replay}'",
        proven="kind status model options reason requested_by created_at started_at finished_at cancel_requested_at cancel_requested_by",
        in_bundle="kind status model options reason requested_by created_at started_at finished_at cancel_requested_at cancel_requested_by",
        values={"kind": "'debug'", "status": "'failed'"},
        unproven={
            "id": "the log and every record name it",
            "project": "the log is the project's",
            "session": "its steps would repeat other records",
            "spend_group": "it only says whose spending counts together",
            "branch": "the evidence of its step names it; this is only a link, and empty once it is deleted",
            "revision": INTERNAL,
            "enqueued_at": INTERNAL,
        },
    ),
    ReplayStep: Proof(
        checked=REPLAY,
        where=f"id = {_REPLAYED}",
        proven=f"action sequence kind finished_at output {_FIGURES}",
        in_bundle=f"sequence output {_FIGURES}",
        values={
            "kind": "'event'",
            "status": "'skipped'",
            "context": "'none'",
            "action": "(SELECT id FROM tm_action WHERE session_id = '{session}' AND sequence = 3)",
            "output": "(SELECT max(id) FROM tm_payload)",
        },
        unproven={
            "id": INTERNAL,
            "replay": "a step of another replay is missing in this one",
            "provider": INTERNAL,
            "asked_again_at": WAITING,
            "waits_because": WAITING,
            "lease_token": LEASE,
            "lease_until": LEASE,
        },
    ),
    ReplayHit: Proof(
        checked=REPLAY,
        where=f"step_id = {_REPLAYED}",
        proven=_HIT,
        in_bundle=_HIT,
        values={"rank": "77", "payload": "(SELECT max(id) FROM tm_payload)"},
        unproven={
            "id": INTERNAL,
            "step": "a passage of another step is missing in its own",
            "stored_frame": "it only leads to the collection, whose frames can change",
        },
    ),
    ReplayAttempt: Proof(
        checked=REPLAY,
        where=f"id = (SELECT min(id) FROM tm_replay_attempt WHERE step_id = {_REPLAYED})",
        proven="number started_at call_intended_at outcome calls_made cost_usd",
        in_bundle="number started_at call_intended_at outcome calls_made cost_usd",
        values={"outcome": "'failed'"},
        unproven={
            "id": INTERNAL,
            "step": "an attempt at another step is missing at its own",
            "lease_token": LEASE,
            "worker": INTERNAL,
            "finished_at": INTERNAL,
            "reserved_usd": "only a running call has one that counts",
            "error_message": "pages show the error of the step",
        },
    ),
    Comparison: Proof(
        checked=COMPARISON,
        where="id = '{comparison}'",
        proven="arms repeats noise_floor spend_limit_usd reason requested_by created_at",
        in_bundle="arms repeats noise_floor spend_limit_usd reason requested_by",
        unproven={"id": "the log and every record name it", "project": "the log is the project's"},
    ),
    ComparisonReplay: Proof(
        checked=COMPARISON,
        where=f"replay_id = (SELECT replay_id FROM tm_replay_step WHERE id = {_CELL})",
        proven="arm repeat",
        in_bundle="arm repeat",
        values={"arm": "8"},
        unproven={
            "id": INTERNAL,
            "comparison": "a run of another comparison is missing in this one",
            "replay": "its answers would be others",
        },
    ),
    ComparisonFindings: Proof(
        checked=COMPARISON,
        where="comparison_id = '{comparison}'",
        proven="content",
        values={
            "content": "regexp_replace(content, '[1-8]', '9')",
        },
        unproven={
            "comparison": INTERNAL,
            "cells": "it only says for which answers the results are; with other ones they are computed again",
            "answers": "pages show it only until the results are of all answers",
            "computed_at": "it is no result: when a worker last computed the same numbers",
            "attempts": INTERNAL,
            "enqueued_at": INTERNAL,
            "lease_token": LEASE,
            "lease_until": LEASE,
        },
    ),
    CellMark: Proof(
        checked=COMPARISON,
        where="comparison_id = '{comparison}'",
        proven="verdict note marked_by created_at step",
        in_bundle="verdict note marked_by step",
        values={"verdict": "'worse'", "step": "(SELECT max(step_id) FROM tm_cell_opinion)"},
        unproven={"id": INTERNAL, "comparison": "a rating of another comparison is missing in this one"},
    ),
    CellOpinion: Proof(
        checked=COMPARISON,
        where="comparison_id = '{comparison}'",
        proven=(
            "step model state relation preference asked prompt_template prompt raw usage cost_usd calls_made unknown_cost_calls "
            "error_type error_message requested_by created_at asked_at finished_at"
        ),
        in_bundle=(
            "step model state relation preference asked prompt_template prompt raw usage cost_usd calls_made unknown_cost_calls "
            "error_type error_message requested_by created_at asked_at"
        ),
        values={
            "state": "'failed'",
            "step": "(SELECT max(step_id) FROM tm_cell_mark)",
            "prompt": "(SELECT max(id) FROM tm_payload)",
            "raw": "(SELECT max(id) FROM tm_payload)",
        },
        unproven={
            "id": "its record names it",
            "comparison": "an opinion on another comparison is missing in this one",
            "asked_again_at": WAITING,
            "waits_because": WAITING,
        },
    ),
    Seal: Proof(
        checked=SESSION,
        where="session_id = '{session}'",
        proven="signed_at signed_size",
        values={"signed_size": "signed_size - 1"},
        unproven={
            "id": INTERNAL,
            "project": INTERNAL,
            "of": "the database allows no other",
            "session": "the seal of another session does not fit",
            "replay": "the seal of another replay does not fit",
            "comparison": "the seal of another comparison does not fit",
            "generation": "it is part of the name that is signed",
            "run_ended_at": "without its seal a replay or comparison is shown as not sealed",
            "size": "pages show the size of the checkpoint",
            "state": "open only means that more can be signed; pages show the state of the checkpoint",
            "peaks": INTERNAL,
            "last_leaf": INTERNAL,
            "problem": "why sealing stopped: it claims nothing about what is sealed",
        },
    ),
    SealCheckpoint: Proof(
        checked=SESSION,
        where=f"id = (SELECT max(id) FROM tm_seal_checkpoint WHERE seal_id = {_OF_SEAL})",
        proven="size root state signed key at log_index",
        values={
            "size": "size - 1",
            "state": "'open'",
            "key": "(SELECT id FROM tm_signing_key WHERE replaced_at IS NULL)",
        },
        unproven={
            "id": INTERNAL,
            "seal": "a checkpoint of another seal is missing in its own",
            "cut_for": "it only says for which link a part was signed, and to whom it is shown",
        },
    ),
    SigningKey: Proof(
        checked=SESSION,
        where="id = (SELECT min(id) FROM tm_signing_key)",
        proven="fingerprint public_key replaced_at",
        values={"public_key": "(SELECT public_key FROM tm_signing_key WHERE replaced_at IS NULL)"},
        unproven={
            "id": INTERNAL,
            "project": INTERNAL,
            "private_key": INTERNAL,
            "store": "where the private key is; what it signed is proven by its public key",
            "name": INTERNAL,
            "created_at": "the first key is older than the log; only Settings shows it",
            "created_by": INTERNAL,
            "replaced_by": "the log says that a key was replaced and when; only Settings shows by whom",
        },
    ),
    EarlierSeal: Proof(
        checked=COMPARISON,
        where="comparison_id = '{comparison}'",
        proven="generation states log_index replaced_at replaced_by reason",
        values={"states": "'[]'"},
        unproven={
            "id": INTERNAL,
            "project": INTERNAL,
            "comparison": INTERNAL,
            "fields": "the log does not say how many fields an erasure changed",
        },
    ),
}
