"""What replaying a session came to, for a program: ask by ask, beside what was recorded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # its HTTP client takes a third of a second
    from timemachine.client.client import Client
    from timemachine.client.connection import Document


@dataclass(frozen=True, slots=True, kw_only=True)
class AskResult:
    """One ask of the replay. None is what was not recorded, or not known; costs are US dollars, `step` is the API's whole document.

    `diff_status` is the verdict on the new answer (`identical`, `reworded`, `numbers differ` …), None where it was not asked again;
    `context` says whether the frozen passages were what was recorded (`verified`, `altered`, `missing`, `not recorded`).
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
    error: Mapping[str, Any] | None
    step: "Document"


class ReplayResult:
    """A replay that is over."""

    def __init__(self, client: "Client", document: "Document") -> None:
        self._client = client
        self.document = document

    @property
    def id(self) -> str:
        """The replay's id."""
        return str(self.document["id"])

    @property
    def status(self) -> str:
        """`done`, `failed` or `cancelled`."""
        return str(self.document["status"])

    @property
    def verdicts(self) -> dict[str, int]:
        """How many new answers there were of each verdict."""
        return dict(self.document["verdicts"])

    @property
    def cost_usd(self) -> float:
        """What the replay cost, as far as it is known; `unknown_cost_calls` says of how many calls it is not."""
        return float(self.document["cost_usd"])

    @property
    def recorded_cost_usd(self) -> float:
        """What the recorded asks cost that were asked again."""
        return float(self.document["recorded_cost_usd"])

    @property
    def unknown_cost_calls(self) -> int:
        """Calls of the replay whose price is not known."""
        return int(self.document["unknown_cost_calls"])

    @property
    def summary(self) -> str:
        """The sentence that the page shows."""
        return str(self.document["summary"])

    @cached_property
    def steps(self) -> "list[Document]":
        """Every step, in the order of the recording."""
        return list(self._client.replays.steps(self.id))

    @property
    def ask_results(self) -> list[AskResult]:
        """The asks among them."""
        return [_ask(step) for step in self.steps if step["kind"] == "ask"]


class ReplayUnderWay:
    """A replay that was launched; `wait` for what it comes to."""

    def __init__(self, client: "Client", replay_id: str) -> None:
        self._client = client
        self.id = replay_id

    def wait(self, seen: "Callable[[Document], None]" = lambda _: None) -> ReplayResult:
        """The replay once it is over; `seen` gets how far it is at every look."""
        return ReplayResult(self._client, self._client.replays.wait(self.id, seen))

    def cancel(self) -> None:
        """Stop it: what has not begun is not begun."""
        self._client.connection.post(f"/api/replays/{self.id}/cancel")


def memory_shape(result: ReplayResult, *, diff: bool) -> dict[str, Any]:
    """A replay in the words of memory files that record themselves: `total_actions`, `matched_actions`, `match_rate`, `results` …

    A result matches where its context is verified (an audit) or its passages are the same (else); without `diff` no answers stand in it.
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


def _memory_result(step: "Document", *, diff: bool) -> dict[str, Any]:
    retrieval = (step["retrieval"] or {}).get("verdict")
    found: dict[str, Any] = {
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


def _ask(step: "Document") -> AskResult:
    original, new = step["original"], step["new"] or {}
    return AskResult(
        sequence=step["sequence"],
        question=original["input"],
        original_answer=original["output"],
        new_answer=new.get("output"),
        original_model=original["model"],
        new_model=new.get("model"),
        diff_status=step["verdict"],
        context=step["context"],
        original_cost_usd=original["cost_usd"],
        new_cost_usd=new.get("cost_usd"),
        error=new.get("error"),
        step=step,
    )
