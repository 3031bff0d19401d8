"""Model calls that a tool answered from its own cache: they spent nothing, so their tokens and cost are in no total."""

from decimal import Decimal

import pytest

from tests.recording.importing.sample_files import document
from timemachine.core.accounts.models import Project
from timemachine.recording.importing.commands import import_file
from timemachine.recording.sessions.models import Action, Session

pytestmark = pytest.mark.django_db


def test_an_answer_from_the_cache_of_inspect_spends_nothing(project: Project) -> None:
    def event(cache: str | None, answer: str) -> dict[str, object]:
        usage = {"input_tokens": 1_000_000, "output_tokens": 0, "total_tokens": 1_000_000}
        message = {"id": answer, "role": "assistant", "content": "Yes."}
        output = {"choices": [{"message": message}], "usage": usage}
        return {"event": "model", "model": "openai/gpt-4o", "cache": cache, "output": output}

    sample = {"id": 1, "epoch": 1, "events": [event("write", "a"), event("read", "b"), event(None, "c")]}
    log = {"version": 2, "status": "success", "eval": {"eval_id": "e"}, "samples": [sample]}
    import_file(project, document(log), by="test")

    session = Session.objects.get()
    assert (session.input_tokens, session.cost_usd, session.unknown_cost_calls) == (2_000_000, Decimal(5), 0)
    calls = Action.objects.filter(kind="llm_call").order_by("sequence")
    assert list(calls.values_list("cached", "cost_usd")) == [
        (None, Decimal("2.5")),
        (True, Decimal(0)),
        (None, Decimal("2.5")),
    ]


def test_an_answer_from_the_cache_of_autogen_spends_nothing(project: Project) -> None:
    rows = [
        {
            "invocation_id": f"i{cached}",
            "session_id": "al",
            "request": {"model": "gpt-4o", "messages": []},
            "response": {"model": "gpt-4o", "usage": {"prompt_tokens": 10, "completion_tokens": 2}},
            "is_cached": cached,
            "cost": 0.25,
        }
        for cached in (0, 1)
    ]
    import_file(project, document(rows), by="test")

    session = Session.objects.get()
    assert (session.input_tokens, session.cost_usd, session.unknown_cost_calls) == (10, Decimal("0.25"), 0)
