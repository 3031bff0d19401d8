"""Which numbers of new spans count, given the spans of their sessions that were recorded before."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final
from uuid import UUID

from timemachine.core import prepared_statements
from timemachine.core.payloads.stored import bytes_of
from timemachine.core.pure.content import parse_json
from timemachine.recording.otel.pure import sums
from timemachine.recording.otel.pure.claude_code import (
    API_REQUEST,
    LLM_REQUEST,
    REQUEST_ID,
    TOOL_RESULT,
    TOOL_SPAN,
    request_of,
    tool_call_of,
)
from timemachine.recording.otel.pure.counts import CALL, EVENT, TOKENS, TOOL, is_counted, states_sums
from timemachine.recording.otel.pure.double_recording import RESPONSE, response_of
from timemachine.recording.sessions.commands import known_ids
from timemachine.recording.sessions.models import Action
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.vocabulary import OPERATION

_RECENT: Final = 100
"""How many of the last steps are searched for another span of the same call: it is sent soon after the first."""

type Drafts = Mapping[UUID, Sequence[ActionDraft]]
"""Drafts by session."""

_FIELDS: Final = (
    "kind", "layer", "id", "name", "tool", "call_id", "parent", "agent", "model", "started_at", "duration_ms", OPERATION, RESPONSE, REQUEST_ID, "cost_usd", "source",
    "reason", "corrects", *TOKENS,
)  # fmt: skip
_COLUMNS: Final = f"""a.session_id, a.kind, a.layer, a.client_id, a.name, a.tool, a.call_id, a.parent_id_given, a.agent, a.model,
    a.started_at, a.duration_ms, a.parameters ->> '{OPERATION}', a.parameters ->> '{RESPONSE}', a.metadata ->> '{REQUEST_ID}', a.cost_usd, a.prices ->> 'source', a.prices ->> 'reason',
    tm_is_correction(a.kind, a.prices), {", ".join(f"a.{name}" for name in TOKENS)}"""
_ABOVE: Final = f"""
WITH RECURSIVE above AS (
    SELECT a.id, a.session_id, a.parent_id_given
    FROM unnest(%(sessions)s::uuid[], %(names)s::text[]) AS asked(session, name)
    JOIN tm_action AS a ON a.session_id = asked.session AND a.client_id = asked.name
    UNION
    SELECT a.id, a.session_id, a.parent_id_given FROM above
    JOIN tm_action AS a ON a.session_id = above.session_id AND a.client_id = above.parent_id_given
)
SELECT {_COLUMNS} FROM tm_action AS a WHERE a.id IN (SELECT id FROM above)
"""  # noqa: S608  # names of columns
_BELOW: Final = f"""
WITH RECURSIVE below AS (
    SELECT a.id, a.session_id, a.client_id
    FROM unnest(%(sessions)s::uuid[], %(names)s::text[]) AS asked(session, name)
    JOIN tm_action AS a ON a.session_id = asked.session AND a.parent_id_given = asked.name
    UNION
    SELECT a.id, a.session_id, a.client_id FROM below
    JOIN tm_action AS a ON a.session_id = below.session_id AND a.parent_id_given = below.client_id
)
SELECT {_COLUMNS} FROM tm_action AS a WHERE a.client_id IS NOT NULL AND a.id IN (SELECT id FROM below)
"""  # noqa: S608

_CORRECTIONS: Final = f"""
SELECT {_COLUMNS} FROM unnest(%(sessions)s::uuid[], %(names)s::text[]) AS asked(session, name)
JOIN tm_action AS a ON a.session_id = asked.session AND a.parent_id_given = asked.name
WHERE tm_is_correction(a.kind, a.prices) ORDER BY a.sequence
"""  # noqa: S608
_SAME_REQUEST: Final = f"""
SELECT {_COLUMNS} FROM unnest(%(sessions)s::uuid[], %(names)s::text[]) AS asked(session, request)
JOIN tm_action AS a ON a.session_id = asked.session AND a.metadata ->> '{REQUEST_ID}' = asked.request
WHERE a.name IN ('{LLM_REQUEST}', '{API_REQUEST}')
"""  # noqa: S608
_SAME_TOOL_CALL: Final = f"""
SELECT {_COLUMNS} FROM unnest(%(sessions)s::uuid[], %(names)s::text[]) AS asked(session, call)
JOIN tm_action AS a ON a.session_id = asked.session AND a.kind = '{TOOL}' AND a.call_id = asked.call
WHERE a.name IN ('{TOOL_SPAN}', '{TOOL_RESULT}')
"""  # noqa: S608


_SAME_RESPONSE: Final = f"""
SELECT {_COLUMNS} FROM unnest(%(sessions)s::uuid[], %(names)s::text[]) AS asked(session, response)
JOIN tm_session AS s ON s.id = asked.session
JOIN tm_action AS a ON a.session_id = asked.session AND a.sequence > s.last_sequence - {_RECENT}
    AND a.kind = '{CALL}' AND a.parameters ->> '{RESPONSE}' = asked.response
"""  # noqa: S608


def settle_sums(drafts: Drafts, *, empty: Collection[UUID] = ()) -> dict[UUID, list[ActionDraft]]:
    """Return the drafts as they are to be recorded, with corrections of what was recorded before. They are new, checked
    and priced, and their sessions are locked. `empty` sessions have no actions yet. At most three queries, one more
    each for requests and tool calls of Claude Code, and one more if a related call was recorded without numbers."""
    related = _related({session: some for session, some in drafts.items() if session not in empty})
    settled = {session: sums.settled(some, related[session]) for session, some in drafts.items()}
    made = [
        (session, str(each.id)) for session, some in settled.items() for each in some[len(drafts[session]) :]
    ]
    before = known_ids(made)
    return {
        session: [each for each in some if (session, str(each.id)) not in before]
        for session, some in settled.items()
    }


def _related(drafts: Drafts) -> defaultdict[UUID, list[ActionDraft]]:
    """Return the recorded actions above and below the drafts, as far as one of them can repeat another one's numbers, and
    those of the same requests."""
    parents = ((session, each.parent) for session, some in drafts.items() for each in some)
    found = _fetched(_ABOVE, [(session, name) for session, name in parents if isinstance(name, str)])
    connected = {session for session, above in found.items() if any(map(is_counted, above))}
    around = [
        (session, str(each.id)) for session, above in found.items() for each in above if states_sums(each)
    ]
    below = _fetched(
        _BELOW,
        around
        + [
            (session, str(each.id))
            for session, some in drafts.items()
            for each in some
            if session in connected or each.kind in (CALL, TOOL) or is_counted(each)
        ],
    )
    requests = [
        (session, name) for session, some in drafts.items() for each in some if (name := request_of(each))
    ]
    calls = [
        (session, name) for session, some in drafts.items() for each in some if (name := tool_call_of(each))
    ]
    responses = [
        (session, name) for session, some in drafts.items() for each in some if (name := response_of(each))
    ]
    same = (
        _fetched(_SAME_REQUEST, requests),
        _fetched(_SAME_TOOL_CALL, calls),
        _fetched(_SAME_RESPONSE, responses),
    )
    for more in (below, *same):
        for session, actions in more.items():
            found[session] += actions
    _add_corrections(found)
    late = {
        session
        for session, some in found.items()
        if any(map(states_sums, some)) and any(each.kind == CALL for each in drafts.get(session, ()))
    }
    _add_sources({session: found[session] for session in late})
    return found


def _add_sources(found: Mapping[UUID, list[ActionDraft]]) -> None:
    """Give spans around calls that were recorded without numbers their source, which states what was left out."""
    without = {
        (session, str(each.id))
        for session, some in found.items()
        for each in some
        if each.kind == EVENT and not is_counted(each)
    }
    if not without:
        return
    rows = Action.objects.filter(
        session__in={session for session, _ in without}, client_id__in={name for _, name in without}
    )
    sources = {
        (session, name): parse_json(data)
        for session, name, data in rows.exclude(source=None).values_list(
            "session", "client_id", bytes_of("source")
        )
    }
    for session, some in found.items():
        some[:] = [replace(each, source=sources.get((session, str(each.id)))) for each in some]


def _add_corrections(found: Mapping[UUID, list[ActionDraft]]) -> None:
    """Give calls that were recorded without numbers those that a correction added: a third span must not add them again."""
    without = {
        (session, str(each.id)): each
        for session, some in found.items()
        for each in some
        if each.kind == CALL and not is_counted(each)
    }
    for session, added in _fetched(_CORRECTIONS, list(without), corrections=True).items():
        by_call = {each.parent: each for each in added}
        found[session][:] = [_with_numbers(each, by_call.get(each.id)) for each in found[session]]


def _with_numbers(call: ActionDraft, added: ActionDraft | None) -> ActionDraft:
    if added is None:
        return call
    return replace(call, usage=added.usage, cost_usd=added.cost_usd, prices=added.prices)


def _fetched(
    sql: str, names: Sequence[tuple[UUID, str]], *, corrections: bool = False
) -> defaultdict[UUID, list[ActionDraft]]:
    """Return the actions by session, without corrections or only these."""
    found: defaultdict[UUID, list[ActionDraft]] = defaultdict(list)
    if not names:
        return found
    asked = {"sessions": [session for session, _ in names], "names": [name for _, name in names]}
    for session, *columns in prepared_statements.fetch_rows(sql, asked):
        facts = dict(zip(_FIELDS, columns, strict=True))
        if facts.pop("corrects") == corrections:
            found[session].append(_recorded(facts))
    return found


def _recorded(facts: dict[str, Any]) -> ActionDraft:
    """Return what matters here of a recorded action."""
    usage = Usage(**{name: facts.pop(name) for name in TOKENS})
    parameters = {name: value for name in (OPERATION, RESPONSE) if (value := facts.pop(name)) is not None}
    request = facts.pop(REQUEST_ID)
    source, reason = facts.pop("source"), facts.pop("reason")
    return ActionDraft(
        **facts,
        usage=usage,
        parameters=parameters or None,
        metadata={REQUEST_ID: request} if request else None,
        prices={"source": source, "reason": reason} if source else None,
    )
