"""A judgement as a JSON document; money in US dollars as a number."""

from dataclasses import asdict
from typing import Any

from timemachine.core.payloads.queries import value
from timemachine.core.pure.clock import written
from timemachine.recording.sessions.models import Action
from timemachine.replay.judging.estimate import Estimate
from timemachine.replay.judging.models import Judgement
from timemachine.replay.judging.queries import counts_of, sentences_of, state_of


def judgement_json(judgement: Judgement, action: Action, *, prompt: bool = False) -> dict[str, Any]:
    """The judgement with its sentences, the judge's raw answer, and with `prompt` the messages that were sent, whole."""
    sentences = sentences_of(judgement, action)
    document = {
        "id": str(judgement.id),
        "session": str(judgement.session_id),
        "sequence": judgement.sequence,
        "model": judgement.model,
        "state": state_of(judgement),
        "verdicts": counts_of(sentences),
        "sentences": [asdict(each) for each in sentences],
        "prompt_template": judgement.prompt_template,
        "prompt_sha256": judgement.prompt_sha256,
        "answer_sha256": judgement.answer_sha256,
        "raw_answer": value(judgement.raw),
        "parameters": judgement.parameters,
        "usage": judgement.usage,
        "cost_usd": None if judgement.cost_usd is None else float(judgement.cost_usd),
        "prices": judgement.prices,
        "calls_made": judgement.calls_made,
        "duration_ms": judgement.duration_ms,
        "error": _error(judgement),
        "created_by": judgement.created_by,
        "created_at": written(judgement.created_at),
        "finished_at": written(judgement.finished_at),
        "cancel_wanted": judgement.cancel_wanted_at is not None,
    }
    if not prompt:
        return document
    messages = [{"role": role, "content": content} for role, content in value(judgement.prompt)]
    return document | {"system_prompt": judgement.system_prompt, "prompt": messages}


def estimate_json(found: Estimate) -> dict[str, Any]:
    """The estimate; what it rests on is said with it."""
    return {
        "model": found.model,
        "input_tokens": found.input_tokens,
        "output_tokens": found.output_tokens,
        "cost_usd": None if found.cost_usd is None else float(found.cost_usd),
        "basis": "four characters to a token, 60 tokens of answer to a sentence, today's prices",
    }


def _error(judgement: Judgement) -> dict[str, Any] | None:
    if judgement.error_type is None:
        return None
    return {"type": judgement.error_type, "message": judgement.error_message}
