"""Calls with unknown or invalid details are still recorded: valid fields are used, the rest is stored as given."""

import dataclasses
import datetime as dt
import math
import types
from collections import namedtuple
from typing import Any

import pytest
from pydantic import BaseModel

from tests.client.conftest import Served
from timemachine.client.errors import NotRecorded
from timemachine.client.recording import fitting, usage
from timemachine.core.payloads.queries import value
from timemachine.recording.timeline.schemas.requests import ActionIn, UsageIn


class PromptDetails(BaseModel):
    """Usage details as in the OpenAI library."""

    cached_tokens: int
    audio_tokens: int | None = None


class ChatUsage(BaseModel):
    """Usage as in the OpenAI library."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: PromptDetails


@dataclasses.dataclass
class DataUsage:
    """Token counts in a dataclass."""

    input_tokens: int
    output_tokens: int


class Plain:
    """Token counts in a plain object."""

    def __init__(self) -> None:
        self.prompt_token_count = 7
        self.candidates_token_count = 3
        self.thoughts_token_count = 2
        self._client = object()


Named = namedtuple("Named", "input_tokens output_tokens")  # noqa: PYI024  # it is what is tested

ANTHROPIC = types.SimpleNamespace(
    input_tokens=10,
    output_tokens=4,
    cache_read_input_tokens=90,
    cache_creation_input_tokens=None,
    service_tier="standard",
)
USAGES: list[tuple[Any, tuple[int | None, int | None, int | None], Any]] = [
    (
        ChatUsage(
            prompt_tokens=5,
            completion_tokens=2,
            total_tokens=7,
            prompt_tokens_details=PromptDetails(cached_tokens=3),
        ),
        (5, 2, 3),
        "prompt_tokens",
    ),
    (ANTHROPIC, (100, 4, 90), "service_tier"),
    (DataUsage(1, 2), (1, 2, None), None),
    (Named(1, 2), (1, 2, None), None),
    (Plain(), (7, 5, None), "thoughts_token_count"),
    ({"input_tokens": 1, "output_tokens": 2, "audio_tokens": 9}, (1, 2, None), "audio_tokens"),
    (
        {"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}},
        (9, 2, 4),
        "input_tokens",
    ),
    (
        {
            "prompt_tokens": 100,
            "completion_tokens": 4,
            "total_tokens": 104,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 90,
        },
        (100, 4, 90),
        "cache_read_input_tokens",
    ),
    ({"prompt_eval_count": 3, "eval_count": 1}, (3, 1, None), "eval_count"),
    ({"input_tokens": "many"}, (None, None, None), "input_tokens"),
    ("a lot", (None, None, None), None),
]


def test_the_usage_of_any_library_is_read_and_stored_unchanged(served: Served) -> None:
    with served.machine().session("Usage", key="usage") as s:
        for given, _, _ in USAGES:
            with s.llm_call("openai:gpt-4o", "hi") as call:
                call.output = "Hello."
                call.usage = given
        assert s.flush()
    found = served.actions("usage")
    assert [(each.input_tokens, each.output_tokens, each.cached_tokens) for each in found] == [
        tokens for _, tokens, _ in USAGES
    ]
    for each, (_, _, stored) in zip(found, USAGES, strict=True):
        given = (each.parameters or {}).get("as_given", {}).get("usage", {})
        assert stored is None or stored in given
    assert (found[-1].parameters or {})["as_given"] == {"usage": "a lot"}
    assert {value(each.output) for each in found} == {"Hello."}
    assert served.refused() == []


def test_unknown_fields_and_invalid_values_lose_no_action(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    with served.machine().session("Odd", key="odd") as s:
        s.record("user", "plain")
        with s.tool_call("search", {"q": "x"}, temperature=0.5, parameters={"seed": 1}) as call:
            call.result = "a"
        s.record("user", "typed", iteration="third", importance=[1], error="went wrong", tags="one")
        s.record("user", "far", importance=7, iteration=2)
        s.add({"kind": "thought", "output": "kind"})
        s.event("too long", tool="t" * 2_000)
        s.record("user", "search", retrieval={"mode": "lexical", "why": "because"})
        assert s.flush()
    found = served.actions("odd")
    assert served.outputs("odd") == ["plain", "a", "typed", "far", "kind", None, "search"]
    given = [(each.parameters or {}).get("as_given") for each in found]
    assert given == [
        None,
        {"temperature": 0.5},
        {"iteration": "third", "importance": [1]},
        {"importance": 7},
        {"kind": "thought"},
        {"tool": "t" * 2_000},
        {"retrieval": {"mode": "lexical", "why": "because"}},
    ]
    assert (found[1].parameters or {})["seed"] == 1
    assert (found[2].error_message, found[2].tags, found[3].iteration, found[4].kind) == (
        "went wrong",
        ["one"],
        2,
        "event",
    )
    assert "temperature" in caplog.text
    assert "parameters" in caplog.text
    assert served.refused() == []


def test_an_error_of_any_form_counts_as_an_error(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    errors: list[Any] = [
        {},
        {"type": None},
        {"code": 5},
        {"type": "E", "code": 5},
        {"message": 5},
        True,
        "x",
        {"type": "E"},
    ]
    fitting.LOGGED.clear()
    with served.machine().session("Errors", key="errors") as s:
        for error in errors:
            s.record("user", "failed", error=error)
        for error in (None, False):
            s.record("user", "fine", error=error)
    found = served.actions("errors")
    assert [(each.error_type, each.error_message) for each in found] == [
        *[("unknown", None)] * 3,
        ("E", None),
        *[("unknown", None)] * 2,
        (None, "x"),
        ("E", None),
        *[(None, None)] * 2,
    ]
    stored = [(each.parameters or {}).get("as_given", {}).get("error", "-") for each in found]
    assert stored == [
        {},
        {"type": None},
        {"code": 5},
        {"type": "E", "code": 5},
        {"message": 5},
        True,
        "-",
        "-",
        "-",
        False,
    ]
    assert caplog.text.count("`error` of an action") == 1


def test_each_field_with_an_invalid_value_is_logged_once_by_name(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    odd: dict[str, Any] = {"kind": "zzz", "importance": 5, "tags": 5, "model": 5, "usage": "a lot", "duration_ms": math.nan,
                           "agent": 5, "grounding": 5, "iteration": -1}  # fmt: skip
    fitting.LOGGED.clear()
    for key in ("once", "twice"):
        with served.machine().session("Logged", key=key) as s:
            s.record("user", "plain")
            for name, given in odd.items():
                s.add({"kind": "event", "output": name, name: given})
            s.llm_call("m:x").__call__(lambda q: {"usage": {"prompt_tokens": 5}})("hi")
        assert served.outputs(key)[:-1] == ["plain", *odd]
    stored = [(each.parameters or {}).get("as_given", {}) for each in served.actions("once")]
    assert [list(each) for each in stored[1:-1]] == [[name] for name in odd]
    logged = [each.getMessage() for each in caplog.records if "as_given" in each.getMessage()]
    assert sorted(logged) == sorted(
        f"Invalid value for `{name}` of an action. It is stored in the parameters under `as_given`."
        for name in odd
    )
    assert "actions." not in caplog.text


def test_many_actions_with_invalid_values_are_delivered(served: Served) -> None:
    with served.machine().session("Many", key="many") as s:
        for number in range(300):
            s.record("agent", number, iteration="x")
        assert s.flush()
    assert served.outputs("many") == list(range(300))


AT = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    "given",
    [AT, AT.isoformat(), "2026-01-02T03:04:05Z", AT.timestamp(), int(AT.timestamp()), int(AT.timestamp()) * 10**9,
     AT.astimezone(dt.timezone(dt.timedelta(hours=5))), AT.astimezone().replace(tzinfo=None)],
)  # fmt: skip
def test_a_start_time_is_a_datetime_a_text_or_seconds(served: Served, given: Any) -> None:
    with served.machine().session("Times", key="times") as s:
        s.record("user", "x", started_at=given)
    assert [each.started_at for each in served.actions("times")] == [AT]


def test_an_invalid_start_time_is_logged_and_stored_separately(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    odd = ["soon", int(AT.timestamp() * 1000), True, [1], 10**21, 10**27, 10**28]
    with served.machine().session("Times", key="odd-times") as s:
        for given in odd:
            s.record("user", "x", started_at=given)
        s.record("user", "after", started_at=AT)
    *found, after = served.actions("odd-times")
    assert (value(after.output), after.started_at) == ("after", AT)
    assert [each.started_at for each in found] == [None] * len(odd)
    assert [(each.parameters or {})["as_given"]["started_at"] for each in found] == odd
    assert "`started_at` must be a datetime, ISO text, or seconds since 1970" in caplog.text
    with served.machine(strict=True).session("Strict") as s, pytest.raises(NotRecorded, match="seconds"):
        s.record("user", "x", started_at="soon")


def test_strict_mode_refuses_an_unknown_field(served: Served) -> None:
    with (
        served.machine(strict=True).session("Strict") as s,
        pytest.raises(NotRecorded, match="no field temper"),
    ):
        s.record("user", "x", temper=1)


def test_the_recorder_knows_the_fields_of_the_api() -> None:
    assert set(ActionIn.model_fields) == fitting.FIELDS
    assert set(UsageIn.model_fields) == usage.TOKENS


def test_a_usage_object_that_raises_is_recorded_by_its_text(served: Served) -> None:
    class Failing:
        def model_dump(self) -> None:
            raise RuntimeError

        def __repr__(self) -> str:
            return "<failing>"

    with served.machine().session("Failing", key="failing") as s:
        s.add({"kind": "llm_call", "usage": Failing(), "output": "x"})
    assert served.outputs("failing") == ["x"]
    assert (served.actions("failing")[0].parameters or {})["as_given"] == {"usage": "<failing>"}


def test_role_synonyms_match_those_of_the_server() -> None:
    from timemachine.recording.sessions.pure.vocabulary import SAME_ROLE

    assert fitting.SAME_ROLE == SAME_ROLE
