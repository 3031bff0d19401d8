"""The answer cache of a project: one table that all processes share.

Only complete answers are stored: not those that failed, were refused, were cut off, are empty, or did not end
according to the provider. Identical asks at the same time each call the model; the later answer stays.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from time import perf_counter
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Count, F, Sum, Window

from timemachine.core.accounts.models import Project
from timemachine.core.audit.commands import record
from timemachine.core.pure.clock import now, written
from timemachine.core.pure.content import json_bytes, text_bytes, text_sha256
from timemachine.knowledge.models import Collection
from timemachine.llm.pure.catalogue import ModelName
from timemachine.llm.pure.completion import ADAPTER_VERSIONS
from timemachine.llm.queries import connection_of
from timemachine.recording.answering.model_asks import Answered, CallParameters, grounding_of, prompt_of
from timemachine.recording.answering.models import AnswerCacheSwitch, CachedAnswer
from timemachine.recording.answering.pure.cache_key import SameAsk, cache_key
from timemachine.recording.answering.pure.prompt import Passage
from timemachine.recording.sessions.models import Session

_REPLACED = [
    field.name for field in CachedAnswer._meta.concrete_fields if field.name not in {"id", "project", "key"}
]
OF_THE_CALL = frozenset({"call_ms", "first_text_ms", "attempts", "response_id"})
"""Parameters that describe the call itself, which an answer from the cache does not have."""


def key_of(
    project_id: UUID,
    model: ModelName,
    question: str,
    passages: Sequence[Passage],
    parameters: CallParameters,
) -> str:
    """Return the cache key of this ask. Raises `Unavailable` if the model's server or key is not configured any more."""
    connection = connection_of(project_id, model)
    rendered = prompt_of(question, passages, parameters)
    return cache_key(
        SameAsk(
            provider=model.provider,
            model=model.model,
            base_url=connection.base_url,
            adapter_version=ADAPTER_VERSIONS[connection.protocol],
            prompt_template=rendered.template,
            system_prompt=rendered.system_prompt,
            question=question,
            passages=tuple((text_sha256(each.text), each.title) for each in passages),
            temperature=parameters.temperature,
            seed=parameters.seed,
            max_tokens=parameters.max_tokens,
        )
    )


def cached_answer(project_id: UUID, key: str, passages: Sequence[Passage]) -> Answered | None:
    """Return the answer stored under this key, grounded in these passages, or None.

    An answer that is too old, or whose text does not match its hash, is not used.
    """
    started = perf_counter()
    if not is_on(project_id):
        return None
    stored = CachedAnswer.objects.filter(project_id=project_id, key=key, kept_at__gt=oldest()).first()
    if stored is None or text_sha256(stored.text) != stored.text_sha256:
        return None
    CachedAnswer.objects.filter(id=stored.id).update(used_at=now())
    return Answered(
        text=stored.text,
        model=stored.model,
        parameters={name: value for name, value in stored.parameters.items() if name not in OF_THE_CALL},
        usage=None,
        cost_usd=Decimal(0),
        prices=None,
        duration_ms=(perf_counter() - started) * 1000,
        grounding=grounding_of(stored.text, passages).model_dump(),
        calls_made=0,
        cached=True,
        saved_usd=stored.cost_usd,
        cached_from={
            "session": None if stored.session_id is None else str(stored.session_id),
            "sequence": stored.sequence,
            "at": written(stored.asked_at),
            "call_ms": stored.call_ms,
            "usage": stored.usage,
        },
    )


def store(
    key: str,
    answered: Answered,
    *,
    collection: Collection,
    session: Session | None,
    sequence: int | None,
    asked_at: datetime,
) -> None:
    """Store a fresh, complete answer under its key, replacing an earlier one. Other answers are not stored."""
    if not answered.whole or not is_on(collection.project_id):
        return
    usage = None if answered.usage is None else asdict(answered.usage)
    moment = now()
    row = CachedAnswer(
        project_id=collection.project_id,
        key=key,
        collection=collection,
        session=session,
        sequence=sequence,
        asked_at=asked_at,
        text=answered.text,
        text_sha256=text_sha256(answered.text),
        model=answered.model,
        parameters=answered.parameters,
        usage=usage,
        cost_usd=answered.cost_usd,
        call_ms=answered.duration_ms,
        size=len(text_bytes(answered.text)) + len(json_bytes([answered.parameters, usage])),
        kept_at=moment,
        used_at=moment,
    )
    if row.size > most_bytes():
        return
    # the session or collection may have been erased while the model answered; then nothing may be stored
    with suppress(IntegrityError), transaction.atomic():
        CachedAnswer.objects.bulk_create(
            [row],
            update_conflicts=True,
            unique_fields=["project", "key"],
            update_fields=_REPLACED,
        )


def is_on(project_id: UUID) -> bool:
    """Return whether answers of this project are stored and used."""
    off = AnswerCacheSwitch.objects.filter(project_id=project_id, on=False)
    return most_bytes() > 0 and not off.exists()


def most_bytes() -> int:
    """Return the maximum size of one project's cache."""
    return int(settings.ANSWER_CACHE_MAX_MB) * 1024 * 1024


def oldest() -> datetime:
    """Return the time before which answers are too old to be used."""
    return now() - timedelta(days=settings.ANSWER_CACHE_MAX_AGE_DAYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStatus:
    """The size of a project's cache, and whether it is on. `changed_by` and `changed_at` are None if it was never switched."""

    on: bool
    changed_by: str | None
    changed_at: datetime | None
    answers: int
    bytes: int
    most_bytes: int


def status_of(project: Project) -> CacheStatus:
    """Return the status of the project's cache."""
    held = CachedAnswer.objects.filter(project=project).aggregate(answers=Count("id"), bytes=Sum("size"))
    switch = AnswerCacheSwitch.objects.filter(project=project).first()
    return CacheStatus(
        on=is_on(project.id),
        changed_by=switch.changed_by if switch else None,
        changed_at=switch.changed_at if switch else None,
        answers=held["answers"],
        bytes=held["bytes"] or 0,
        most_bytes=most_bytes(),
    )


@transaction.atomic
def switch(project: Project, *, on: bool, by: str) -> None:
    """Switch the project's cache on or off. Its content stays until it is too old, but is not used while it is off."""
    AnswerCacheSwitch.objects.update_or_create(
        project=project, defaults={"on": on, "changed_by": by, "changed_at": now()}
    )
    record(project, "setting.changed", "setting", "answer cache", by=by, on=on)


def empty(project: Project) -> int:
    """Delete every answer in the project's cache; return how many. What sessions recorded stays."""
    removed, _ = CachedAnswer.objects.filter(project=project).delete()
    return removed


def trim() -> int:
    """Delete answers that are too old, then the least recently used ones of projects over their limit; return how many."""
    aged, _ = CachedAnswer.objects.filter(kept_at__lte=oldest()).delete()
    running = Window(
        Sum("size"), partition_by=[F("project_id")], order_by=[F("used_at").desc(), F("id").desc()]
    )
    too_much = CachedAnswer.objects.annotate(running=running).filter(running__gt=most_bytes())
    over, _ = CachedAnswer.objects.filter(id__in=list(too_much.values_list("id", flat=True))).delete()
    return aged + over
