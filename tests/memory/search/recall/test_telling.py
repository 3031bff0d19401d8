"""The prompt text of recall: what comes first and once, with its session and step, within its token budget."""

from datetime import datetime

import pytest

from tests.api.conftest import Program, api
from tests.memory.search.recall.test_recall import message, recall, record
from tests.memory.search.recorded import index
from timemachine.core.accounts.models import Project
from timemachine.knowledge.embedding.wordllama import count_tokens
from timemachine.recording.sessions.models import Session

__all__ = ["api"]
pytestmark = pytest.mark.django_db

ERROR = "PaymentError: the gateway refused the card with code 51, insufficient funds"
SOLUTION = "Ask for another card instead of trying the refused card again."


@pytest.fixture
def payments(api: Program, project: Project) -> None:
    """Return the same error in four sessions; one of them, not the latest, has the decision and the solution."""
    for number in (1, 2, 3, 4):
        solved = (
            message("The customer is asked first.", role="agent", significance="decision"),
            message("I look at the log.", role="agent"),
            message(SOLUTION, role="agent", significance="solution"),
        )
        first = message(ERROR, significance="error")
        record(api, f"pay-{number}", first, *(solved if number == 2 else ()))
    index(project)


def test_an_error_in_several_sessions_is_listed_once_with_its_solution(api: Program, payments: None) -> None:
    for budget in (120, 200, 300, 800, 2_000):
        document = recall(api, f"{ERROR} again", budget=budget)
        text = document["text"]
        assert text.count(ERROR) == text.count(SOLUTION) == 1, budget
        assert f"[1] user, error: {ERROR} [also said in 3 other matching sessions]" in text
        assert "Session Session pay-2 (pay-2)" in text
        assert document["tokens"]["kept"] == count_tokens(text) <= budget
    assert "The customer is asked first." in text


def test_a_text_never_exceeds_its_budget_and_the_smallest_sufficient_budget_is_enough(
    api: Program, payments: None
) -> None:
    for budget in range(1, 160, 7):
        tokens = recall(api, ERROR, "which card?", budget=budget, around=1)["tokens"]
        assert tokens["kept"] <= budget
        assert (tokens["kept"] == 0) == (tokens["least"] is not None)
    tokens = recall(api, ERROR, budget=5)["tokens"]
    document = recall(api, ERROR, budget=tokens["least"])
    assert document["tokens"]["kept"] == tokens["least"]
    assert document["told"]["turns"] == 1
    assert recall(api, ERROR, budget=tokens["least"] - 1)["text"] == ""
    assert recall(api, "zeppelin", mode="text", budget=5)["tokens"]["least"] is None


def test_a_solution_comes_before_weaker_results(api: Program, project: Project) -> None:
    others = (message(f"Some card of a customer, the card {n}.", role="agent") for n in range(8))
    solved = message("It works with a new number.", role="agent", significance="solution")
    record(api, "weak", message("a card was refused", significance="error"), *others, solved)
    index(project)
    document = recall(api, "why was a card refused?", mode="text", limit=5, budget=110)
    assert "It works with a new number." in document["text"]
    assert document["tokens"]["kept"] <= 110


def test_an_outcome_matches_the_filters_and_is_not_a_deleted_one(api: Program, payments: None) -> None:
    def prompt_text(**parameters: object) -> str:
        text: str = recall(api, "gateway funds", mode="text", budget=2_000, **parameters)["text"]
        return text

    assert SOLUTION in prompt_text()
    assert SOLUTION not in prompt_text(significances=["error"])
    assert SOLUTION not in prompt_text(until="2020-01-01")
    assert SOLUTION in prompt_text(kinds=["message"], min_importance=0.8)
    assert api.patch("/sessions/pay-2/actions/4", {"significance": "normal"}).status_code == 200
    assert SOLUTION not in prompt_text()
    assert "The customer is asked first." in prompt_text()
    assert api.patch("/sessions/pay-2/actions/3", {"significance": "solution"}).status_code == 200
    assert "[3] agent, solution: I look at the log." in prompt_text()
    assert api.delete_for("/sessions/pay-2/actions/3", {"reason": "was wrong"}).status_code == 200
    assert "[3]" not in prompt_text()


def test_a_repeated_statement_is_listed_once_across_sessions(api: Program, project: Project) -> None:
    record(api, "one", message("the mutex"), message("ok"), message("the  mutex"))
    record(api, "two", message("ok"), message("the mutex of a worker"), message("ok"))
    index(project)
    document = recall(api, "mutex", mode="text", around=1, budget=500)
    text = document["text"]
    assert text.count("user: ok") == 1
    assert text.count("mutex\n") == text.count("mutex of a worker\n") == 1
    assert "other session" not in text
    assert document["told"] == {"turns": 3, "sessions": 2}


def test_a_prompt_text_names_sessions_and_steps_within_its_token_budget(
    api: Program, last_session_time: datetime
) -> None:
    document = recall(api, "connection", "button", budget=2_000)
    text = document["text"]
    pool, style = (
        text.index("Session Session pool (pool), begun "),
        text.index("Session Session style (style)"),
    )
    assert text.startswith("From earlier sessions:\n\n")
    assert (
        "[4] agent, breakthrough: Workers keep their connections after each job: that is the root cause."
        in text
    )
    assert "steps 1–2 of 2:" in text[style:]
    assert (pool < style) == (
        Session.objects.get(key="pool").started_at < Session.objects.get(key="style").started_at
    )
    assert document["tokens"]["kept"] == count_tokens(text) <= 2_000
    assert document["told"]["sessions"] == 2
    small = recall(api, "log of slow queries", around=2, budget=90)
    assert 0 < small["tokens"]["kept"] <= 90
    assert "[3] agent: I look at the log of slow queries" in small["text"]
    assert "turns left out]" in small["text"]
    none = recall(api, "connection", budget=1)
    assert (none["text"], none["told"], none["tokens"]["kept"]) == ("", {"turns": 0, "sessions": 0}, 0)


def test_the_matching_passage_of_a_very_long_turn_is_included(api: Program, project: Project) -> None:
    record(
        api, "long", message("lorem ipsum " * 2_000 + "the mutex was never released " + "dolor sit " * 2_000)
    )
    index(project)
    document = recall(api, "who released the mutex?", budget=500)
    assert "an excerpt: …" in document["text"]
    assert "the mutex was never released" in document["text"]


def test_a_prompt_text_is_filled_with_later_results_that_still_fit(api: Program, project: Project) -> None:
    long = "the mutex " + "lorem ipsum dolor " * 600
    record(api, "many", *(message(f"{long} {n}") for n in range(40)), message("the mutex is short"))
    index(project)
    document = recall(api, "mutex", limit=50, mode="text", budget=300)
    assert "[41] user: the mutex is short" in document["text"]
    assert document["told"]["turns"] == 1
    document = recall(api, "mutex", limit=50, mode="text", around=1, budget=20_000)
    assert 15_000 < document["tokens"]["kept"] == count_tokens(document["text"]) <= 20_000
