"""Index steps for search: a worker indexes them batch by batch, without blocking the recording.

Texts are read and embedded outside any transaction, see `timemachine.memory.backlog`.
"""

import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Final
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, Sum

from timemachine.core.accounts.models import Project
from timemachine.core.database import SqlParameters
from timemachine.core.leases import holding
from timemachine.core.payloads.queries import Head, heads
from timemachine.core.pure.content import value_of
from timemachine.core.pure.errors import Unavailable
from timemachine.core.pure.postgres_text import searchable
from timemachine.knowledge.embedding.table import WORDLLAMA, Vectors
from timemachine.knowledge.embedding.wordllama import count_tokens
from timemachine.knowledge.pure.identifiers import identifiers
from timemachine.memory.backlog import (
    TURN_SECONDS,
    Backlog,
    Overtaken,
    give_way_to_erasures,
    store_if_current,
)
from timemachine.memory.search import counting, index_rows
from timemachine.memory.search.models import (
    ActionIndexRow,
    ActionMeaning,
    IndexedSession,
    Indexing,
    SearchedAction,
)
from timemachine.memory.search.pure.payload_text import LONGEST, text_of, unmarked
from timemachine.recording.sessions.deletions import deletions_of
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.turn_text import LONGEST_COUNTED, Deleted, Turn, paragraph
from timemachine.recording.sessions.pure.turn_text import text_of as text_of_turn
from timemachine.text.redaction.pure.marks import DELETED_TURN

MODEL: Final = WORDLLAMA
"""The embedding model of steps: local, so that recorded data stays on the machine, and fast."""
BATCH: Final = 500
BATCH_BYTES: Final = 16 * 1024 * 1024
LONGEST_NAME: Final = 16_384
"""How many characters of a label, name, tool or error are searchable."""

_NAMES: Final = ("label", "name", "tool", "error_type", "error_message")
_TAGS: Final = "tags"
_TEXT_COLUMNS: Final = ("sequence", "kind", "role", "agent", "name", "tool", "model", "significance")
_READ: Final = ("input_id", "output_id", "copied_from", _TAGS, *_NAMES, *_TEXT_COLUMNS)
_KEEP_WORDS: Final = """
INSERT INTO tm_searched_action (action_id, project_id, session_id, sequence, kind, words, weights, cut, tokens)
SELECT given.action, %(project)s, %(session)s, given.sequence, given.kind,
       made.words, tm_bm25_weights(made.words), given.cut OR made.cut, given.tokens
FROM unnest(%(actions)s::bigint[], %(sequences)s::bigint[], %(kinds)s::text[], %(names)s::text[],
            %(bodies)s::text[], %(identifiers)s::jsonb[], %(cuts)s::boolean[], %(tokens)s::integer[])
     AS given(action, sequence, kind, names, body, identifiers, cut, tokens)
CROSS JOIN LATERAL tm_action_words(
    given.names, given.body, ARRAY(SELECT jsonb_array_elements_text(given.identifiers))
) AS made
ON CONFLICT (action_id) DO NOTHING
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Text:
    """The searchable text of a step; none of a copied one, which is found where it happened. `cut`: the step has more. `tokens`: the tokens of its rendered turn, if they
    were counted.
    """

    action: int
    sequence: int
    kind: str
    names: str
    body: str
    cut: bool
    tokens: int | None


BACKLOG: Final = Backlog(
    work=Indexing, progress=IndexedSession, through="indexed_through", restarts="erasures"
)
"""The steps that are not searchable yet."""
_OF_ACTION: Final = (ActionIndexRow, ActionMeaning, SearchedAction)


def count_not_indexed(project: Project) -> int:
    """Return how many steps of the project are not searchable yet."""
    return BACKLOG.count(project.id)


def index_new_steps(project_id: UUID, seconds: float = TURN_SECONDS) -> bool:
    """Index new steps of the project for about that many seconds. Return True if there is more to do now.

    Safe to run twice, concurrently, and to be killed at any time.
    """
    more = False
    with holding(Indexing.of([project_id])) as lease:
        if lease is not None:
            until = time.monotonic() + seconds
            more = BACKLOG.work_off(
                project_id, until, lambda session, through: index_some(project_id, session.id, through)
            )
            if not more:
                counting.update_word_counts(project_id)
    return more


def delete_index(project_id: UUID) -> None:
    """Delete the index of a project, so that it is built again."""
    for model in (IndexedSession, *_OF_ACTION):
        model.objects.filter(project_id=project_id).delete()


def count_rewrites(sessions: Collection[UUID]) -> int:
    """Return how often steps of these sessions were rewritten by an erasure, so that caches can tell when they are
    out of date. One query.
    """
    found = IndexedSession.objects.filter(session__in=list(sessions)).aggregate(times=Sum("erasures"))
    return found["times"] or 0


def reindex_steps(session: Session, sequences: Collection[int]) -> None:
    """Index rewritten steps again, in the transaction that rewrote them. Steps that are not indexed yet are left
    alone.
    """
    IndexedSession.objects.bulk_create(
        [IndexedSession(session=session, project_id=session.project_id)], ignore_conflicts=True
    )
    row = IndexedSession.objects.select_for_update().get(session=session)
    IndexedSession.objects.filter(pk=row.pk).update(erasures=F("erasures") + 1)
    for model in _OF_ACTION:
        model.objects.filter(session=session, sequence__in=list(sequences)).delete()
    indexed = sorted(each for each in sequences if each <= row.indexed_through)
    for some in batched(indexed, BATCH):
        actions = Action.objects.filter(session=session, sequence__in=some).order_by("sequence")
        texts = _texts(session.id, list(actions.only(*_READ)))
        _keep_rows(session.project_id, session.id, texts, _embeddings(session.project_id, session.id, texts))


def index_some(project_id: UUID, session_id: UUID, through: int) -> int:
    """Index the next steps of a session, at most `BATCH`. Return how many; 0 if it is being erased or another
    worker was faster.
    """
    last, erasures = _end_of_batch(session_id, through), _erasures(session_id)
    if last is None:
        return 0
    actions = Action.objects.filter(session_id=session_id, sequence__gt=through, sequence__lte=last)
    rows = actions.only(*_READ).order_by("sequence")
    texts = _texts(session_id, list(rows))
    meanings = _embeddings(project_id, session_id, texts)
    stored = store_if_current(
        IndexedSession(session_id=session_id, project_id=project_id),
        lambda: _store(project_id, session_id, texts, meanings, (through, last, erasures)),
    )
    return last - through if stored else 0


def _end_of_batch(session_id: UUID, through: int) -> int | None:
    """Return the last of the next steps whose payloads fit into `BATCH_BYTES`, at least the first."""
    following = Action.objects.filter(session_id=session_id, sequence__gt=through).order_by("sequence")
    last, bytes_read = None, 0
    for sequence, *sizes in following.values_list("sequence", "input__size", "output__size")[:BATCH]:
        bytes_read += sum(min(size or 0, LONGEST) for size in sizes)
        if last is not None and bytes_read > BATCH_BYTES:
            break
        last = sequence
    return last


def _texts(session_id: UUID, actions: Sequence[Action]) -> list[_Text]:
    payload_ids = {
        payload for action in actions for payload in (action.input_id, action.output_id) if payload
    }
    found = heads(payload_ids, LONGEST)
    deleted = deletions_of(
        session_id, [each.sequence for each in actions if each.label.startswith(DELETED_TURN)]
    )
    return [_text(action, found, deleted.get(action.sequence)) for action in actions]


def _text(action: Action, found: Mapping[int, Head], deleted: Deleted | None) -> _Text:
    tokens = _tokens(action, found, deleted)
    if action.is_copied:
        return _Text(
            action=action.id,
            sequence=action.sequence,
            kind=action.kind,
            names="",
            body="",
            cut=False,
            tokens=tokens,
        )
    payloads = [found[each] for each in (action.input_id, action.output_id) if each is not None]
    names = [value for name in _NAMES if (value := getattr(action, name))]
    names += [] if deleted else action.tags
    return _Text(
        action=action.id,
        sequence=action.sequence,
        kind=action.kind,
        names=searchable("\n".join(dict.fromkeys(name[:LONGEST_NAME] for name in names))),
        body="\n".join(text_of(head.media_type, head.data) for head in payloads),
        cut=any(head.size > len(head.data) for head in payloads)
        or any(len(name) > LONGEST_NAME for name in names),
        tokens=tokens,
    )


def _tokens(action: Action, found: Mapping[int, Head], deleted: Deleted | None) -> int | None:
    """Return how many tokens the rendered step has, or None if it is long or the tokenizer is missing."""
    heads_of = {name: found[row] for name in ("input", "output") if (row := getattr(action, f"{name}_id"))}
    if sum(head.size for head in heads_of.values()) > LONGEST_COUNTED:
        return None
    values = {name: value_of(head.media_type, head.data) for name, head in heads_of.items()}
    names = {name: getattr(action, name) for name in _TEXT_COLUMNS}
    try:
        error = (action.error_type, action.error_message)
        turn = Turn(**names, **values, error=error, copied=action.is_copied, deleted=deleted)
        return count_tokens(paragraph(text_of_turn(turn)))
    except Unavailable:
        return None


def _embeddings(project_id: UUID, session_id: UUID, texts: Sequence[_Text]) -> list[ActionMeaning]:
    """Return a vector for each text that has one; none if the model's files are missing."""
    try:
        vectors = _embed([f"{text.names}\n{text.body}"[:LONGEST_NAME] for text in texts])
    except Unavailable:
        return []
    return [
        ActionMeaning(
            action_id=text.action,
            project_id=project_id,
            session_id=session_id,
            sequence=text.sequence,
            model=MODEL.name,
            vector=vector.tolist(),
        )
        for text, vector in zip(texts, vectors, strict=True)
        if vector.any()
    ]


@transaction.atomic
def _store(
    project_id: UUID,
    session_id: UUID,
    texts: Sequence[_Text],
    meanings: Sequence[ActionMeaning],
    batch: tuple[int, int, int],
) -> None:
    """Store the rows of a batch and how far the session is indexed. Raises if steps were erased or another worker
    was faster.
    """
    through, last, erasures = batch
    give_way_to_erasures()
    _keep_rows(project_id, session_id, texts, meanings)
    unmoved = IndexedSession.objects.filter(session_id=session_id, indexed_through=through, erasures=erasures)
    if not unmoved.update(indexed_through=F("indexed_through") + (last - through)):
        raise Overtaken


def _keep_rows(
    project_id: UUID, session_id: UUID, texts: Sequence[_Text], meanings: Sequence[ActionMeaning]
) -> None:
    _keep_words(project_id, session_id, texts)
    ActionMeaning.objects.bulk_create(meanings, ignore_conflicts=True)
    index_rows.store_index_rows([text.action for text in texts])


def _keep_words(project_id: UUID, session_id: UUID, texts: Sequence[_Text]) -> None:
    facts: SqlParameters = {
        "project": project_id,
        "session": session_id,
        "actions": [text.action for text in texts],
        "sequences": [text.sequence for text in texts],
        "kinds": [text.kind for text in texts],
        "names": [unmarked(text.names) for text in texts],
        "bodies": [unmarked(text.body) for text in texts],
        "identifiers": [json.dumps(identifiers(f"{text.names}\n{text.body}")) for text in texts],
        "cuts": [text.cut for text in texts],
        "tokens": [text.tokens for text in texts],
    }
    with connection.cursor() as cursor:
        cursor.execute(_KEEP_WORDS, facts)


def _erasures(session_id: UUID) -> int:
    """Return how often steps of a session were rewritten so far."""
    found = IndexedSession.objects.filter(session_id=session_id).values_list("erasures", flat=True).first()
    return found or 0


def _embed(texts: Sequence[str]) -> Vectors:
    return MODEL.embed(texts)
