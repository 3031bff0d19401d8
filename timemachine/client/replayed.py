"""The results of a replay, ask by ask, next to what was recorded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

if TYPE_CHECKING:  # importing httpx takes a third of a second
    from timemachine.client.client import Client
    from timemachine.client.generated import types
    from timemachine.core.pure.json_types import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class AskResult:
    """One ask of the replay. None means not recorded or unknown; costs are US dollars, `step` is the document of the API.

    `diff_status` is the verdict on the new answer (`identical`, `reworded`, `numbers differ` …), None if it was not asked again;
    `context` is the verdict on the frozen passages (`verified`, `altered`, `missing`, `not recorded`).
    """

    sequence: int
    question: Any
    original_answer: Any
    new_answer: Any
    original_model: str | None
    new_model: str | None
    diff_status: str | None
    context: str | None
    original_cost_usd: float | None
    new_cost_usd: float | None
    error: types.FailureOut | None
    step: types.ReplayStepOut


class ReplayResult:
    """A finished replay."""

    def __init__(self, client: Client, document: types.ReplayOut) -> None:
        self._client = client
        self.document = document

    @property
    def id(self) -> str:
        """The id of the replay."""
        return str(self.document["id"])

    @property
    def status(self) -> str:
        """`done`, `failed` or `cancelled`."""
        return str(self.document["status"])

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of new answers by verdict."""
        return dict(self.document["verdicts"])

    @property
    def cost_usd(self) -> float:
        """The known cost of the replay; `unknown_cost_calls` counts the calls without a known price."""
        return float(self.document["cost_usd"])

    @property
    def recorded_cost_usd(self) -> float:
        """The recorded cost of the asks that were repeated."""
        return float(self.document["recorded_cost_usd"])

    @property
    def unknown_cost_calls(self) -> int:
        """The number of calls without a known price."""
        return int(self.document["unknown_cost_calls"])

    @property
    def summary(self) -> str:
        """The summary in one sentence."""
        return str(self.document["summary"])

    @cached_property
    def steps(self) -> list[types.ReplayStepOut]:
        """Every step, in the order of the recording."""
        return list(self._client.replays.steps(self.id))

    @property
    def ask_results(self) -> list[AskResult]:
        """The ask steps."""
        return [_ask(step) for step in self.steps if step["kind"] == "ask"]


class RunningReplay:
    """A replay that was launched; `wait` returns its result."""

    def __init__(self, client: Client, replay_id: str) -> None:
        self._client = client
        self.id = replay_id

    def wait(self, seen: Callable[[types.ReplayOut], None] = lambda _: None) -> ReplayResult:
        """Wait for the replay and return its result; calls `seen` with each state."""
        return ReplayResult(self._client, self._client.replays.wait(self.id, seen))

    @property
    def ask_results(self) -> list[AskResult]:
        """Wait for the replay and return its ask steps."""
        return self.wait().ask_results

    def cancel(self) -> None:
        """Cancel it: no further step starts."""
        self._client.replays.cancel(self.id)


class MemoryResult(TypedDict):
    """One ask or find of a replay; `diff_status` and the answers only for an ask."""

    sequence: int
    action_type: str
    status: str
    context: str | None
    retrieval: str | None
    matched: bool
    diff_status: NotRequired[str | None]
    original_answer: NotRequired[Any]
    new_answer: NotRequired[Any]
    original_model: NotRequired[str | None]
    override_model: NotRequired[str | None]
    evidence: NotRequired[JsonObject | None]


class MemoryShape(TypedDict):
    """A replay with the field names of memory files."""

    session_id: str
    replay_id: str
    status: str
    total_actions: int
    matched_actions: int
    mismatched_actions: int
    match_rate: float | None
    cost_usd: float
    unknown_cost_calls: int
    summary: str
    results: list[MemoryResult]


class MemoryReplay(dict[str, Any]):
    """A replay with the field names of memory files (`MemoryShape`)."""

    def __init__(self, result: ReplayResult, *, diff: bool) -> None:
        super().__init__(memory_shape(result, diff=diff))
        self._result = result

    @property
    def ask_results(self) -> list[AskResult]:
        """The ask steps with both answers."""
        return self._result.ask_results


def memory_shape(result: ReplayResult, *, diff: bool) -> MemoryShape:
    """A replay as a document with the field names of memory files: `total_actions`, `matched_actions`, `match_rate`, `results` …

    A result matches if its context is verified or its passages are the same. Answers are included only with `diff`.
    """
    results = [_memory_result(step, diff=diff) for step in result.steps]
    matched = sum(each["matched"] for each in results)
    return {
        "session_id": result.document["session"],
        "replay_id": result.id,
        "status": result.status,
        "total_actions": len(results),
        "matched_actions": matched,
        "mismatched_actions": sum(each["matched"] is False for each in results),
        "match_rate": matched / len(results) if results else None,
        "cost_usd": result.cost_usd,
        "unknown_cost_calls": result.unknown_cost_calls,
        "summary": result.summary,
        "results": results,
    }


def _memory_result(step: types.ReplayStepOut, *, diff: bool) -> MemoryResult:
    retrieval = step["retrieval"]["verdict"] if step["retrieval"] else None
    found: MemoryResult = {
        "sequence": step["sequence"],
        "action_type": step["kind"],
        "status": step["status"],
        "context": step["context"],
        "retrieval": retrieval,
        "matched": step["context"] == "verified" or retrieval == "same",
    }
    if step["kind"] == "ask":
        found["diff_status"] = step["verdict"]
        if diff:
            ask = _ask(step)
            found |= {
                "original_answer": ask.original_answer,
                "new_answer": ask.new_answer,
                "original_model": ask.original_model,
                "override_model": ask.new_model,
                "evidence": step["evidence"],
            }
    return found


def _ask(step: types.ReplayStepOut) -> AskResult:
    original, new = step["original"], step["new"]
    return AskResult(
        sequence=step["sequence"],
        question=original["input"],
        original_answer=original["output"],
        new_answer=new["output"] if new else None,
        original_model=original["model"],
        new_model=new["model"] if new else None,
        diff_status=step["verdict"],
        context=step["context"],
        original_cost_usd=original["cost_usd"],
        new_cost_usd=new["cost_usd"] if new else None,
        error=new["error"] if new else None,
        step=step,
    )
