"""What a block or an answer records about its call besides the result."""

from typing import Any

import pytest

from tests.client.conftest import Served


def test_an_answer_whose_usage_raises_is_still_returned(served: Served) -> None:
    class Stream:
        @property
        def usage(self) -> None:
            raise RuntimeError("The stream is not read yet.")

        def __repr__(self) -> str:
            return "<stream>"

    answer = Stream()
    with served.machine().session("Streamed", key="streamed") as s:

        @s.llm_call
        def complete(prompt: str) -> Stream:
            s.event("inside")
            return answer

        assert complete("Why?") is answer
        s.event("behind")
    inside, call, behind = served.actions("streamed")
    assert (call.kind, call.input_tokens, inside.parent_id_given, behind.parent_id_given) == (
        "llm_call",
        None,
        call.client_id,
        None,
    )


def test_errors_and_other_fields_set_in_a_block_are_recorded(served: Served) -> None:
    with served.machine().session("Blocks", key="blocks") as s:
        with s.tool_call("search") as call:
            call.result, call.error, call.tags = "r", "soft", ["late"]
        with s.llm_call("openai:gpt-4o", "q") as model_call:
            model_call.error, model_call.importance = {"type": "RateLimit", "message": "slow down"}, 0.9
        with s.tool_call("third") as third:
            third.error, third.nonsense = ValueError("bad"), 1
        assert s.flush()
    first, second, last = served.actions("blocks")
    assert (first.error_message, first.tags) == ("soft", ["late"])
    assert (second.error_type, second.error_message, second.importance) == ("RateLimit", "slow down", 0.9)
    assert (last.error_type, last.error_message) == ("ValueError", "bad")
    assert (last.parameters or {})["as_given"] == {"nonsense": 1}


def test_a_model_field_in_an_answer_without_usage_is_ignored(served: Served) -> None:
    with served.machine().session("Cars", key="cars") as s:

        @s.llm_call
        def choose(prompt: str) -> dict[str, str]:
            return {"model": "Tesla", "said": prompt}

        choose("Which car?")
    assert served.actions("cars")[0].model is None


@pytest.mark.parametrize(
    ("sent", "answered", "recorded"),
    [
        ("gpt-4o", "gpt-4o", "openai:gpt-4o"),
        ("gpt-4o", "gpt-4o-2024-08-06", "openai:gpt-4o"),
        ("gpt-4o-mini", "gpt-4o-mini", "openai:gpt-4o-mini"),
        ("my-deployment", "gpt-4o", "openai:gpt-4o"),
        ("gpt-4o-mini", None, "openai:gpt-4o-mini"),
        ("openai:gpt-4o-mini", None, "openai:gpt-4o-mini"),
    ],
)
def test_the_model_of_a_call_is_the_one_that_was_called_and_not_the_one_that_the_decorator_names(
    served: Served, sent: str, answered: str | None, recorded: str
) -> None:
    def create(*, messages: list[str], model: str) -> dict[str, Any]:
        return {"model": answered, "usage": {"prompt_tokens": len(messages)}, "for": model}

    with served.machine().session("Named", key="named") as s:
        s.llm_call("openai:gpt-4o")(create)(messages=["hi"], model=sent)
    assert served.actions("named")[0].model == recorded


def test_the_model_of_a_failed_call_is_the_one_that_was_sent(served: Served) -> None:
    def create(*, prompt: str, model: str) -> None:
        raise TimeoutError(f"{model} did not answer {prompt}")

    with served.machine().session("Failed", key="failed") as s:
        for named in ("openai:gpt-4o", "gpt-4o"):
            with pytest.raises(TimeoutError):
                s.llm_call(named)(create)(prompt="hi", model="b")
    assert [each.model for each in served.actions("failed")] == ["openai:b", "b"]


def test_an_unnamed_tool_has_the_name_of_its_function(served: Served) -> None:
    with served.machine().session("Tools", key="tools") as s:

        @s.tool_call()
        def look_up(word: str) -> str:
            return word

        look_up("x")
    assert served.actions("tools")[0].tool == "look_up"


def test_the_result_of_a_tool_is_recorded_by_hand(served: Served) -> None:
    with served.machine().session("By hand", key="by-hand") as s:
        with s.tool_call("search", {"q": "invoices"}, call_id="c1"):
            pass
        s.tool_result("search", ["ten years"], call_id="c1", iteration=2)
        s.tool_result("search", call_id="c2", error={"type": "Timeout", "message": "too slow"})
    _, result, failed = served.actions("by-hand")
    assert (result.kind, result.layer, result.role, result.tool, result.call_id, result.iteration) == (
        *("tool_result", "tool", "tool", "search", "c1", 2),
    )
    assert served.outputs("by-hand")[1] == ["ten years"]
    assert (failed.call_id, failed.error_type) == ("c2", "Timeout")
