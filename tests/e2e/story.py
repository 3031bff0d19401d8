"""The sessions in the pictures of the docs: a bank's card desk over four weeks, and agents that find a bug in a shop."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx

CODING: Final = "shop-4127"
DESK: Final = "card-desk-assistant"
LINKS: Final = (
    ("Internal audit, fourth quarter", {"max_opens": 20}),
    ("Ms Okafor, Baker & Lind", {"redaction": "built-in"}),
    ("Regulator, proof only", {"evidence_only": True}),
)
MODELS: Final = (
    "openai:gpt-4o-mini",
    "anthropic:claude-sonnet-4-5",
    "openai:gpt-4.1",
    "gemini:gemini-2.5-flash",
)
# days ago, question, answer, model, user, tags
CARD_DESK: Final[tuple[tuple[int, str, str, str, str, list[str]], ...]] = (
    (
        0,
        "Which fee applies to a cash withdrawal in Lisbon?",
        "1.5 %, at least 3 euros.",
        "anthropic:claude-sonnet-4-5",
        "m.weber",
        ["fees"],
    ),
    (
        1,
        "A customer was charged twice by a hotel in Porto. What do I do first?",
        "Open a dispute and block the second charge.",
        "openai:gpt-4.1",
        "j.adeyemi",
        ["dispute"],
    ),
    (
        2,
        "May a joint account holder raise the card limit alone?",
        "Yes, up to the limit both signed for.",
        "gemini:gemini-2.5-flash",
        "m.weber",
        ["limits"],
    ),
    (
        4,
        "Is a contactless payment of 80 euros covered after the card was reported stolen?",
        "Yes, from the minute of the report.",
        "anthropic:claude-sonnet-4-5",
        "s.lindqvist",
        ["fraud"],
    ),
    (
        6,
        "How long does a chargeback for an undelivered order take?",
        "Up to 60 days; the merchant has 30 to answer.",
        "openai:gpt-4o-mini",
        "j.adeyemi",
        ["dispute"],
    ),
    (
        9,
        "Explain the difference between a hold and a booking to a customer",
        "A hold reserves money; a booking moves it.",
        "openai:gpt-4o-mini",
        "s.lindqvist",
        [],
    ),
    (
        12,
        "Replace a damaged card while the customer travels in Japan",
        "Express delivery to the hotel in three working days.",
        "mistral:mistral-large-latest",
        "m.weber",
        ["cards"],
    ),
    (
        15,
        "Refund of a foreign exchange fee after a wrong rate was shown",
        "Refund the difference and note the rate shown.",
        "anthropic:claude-sonnet-4-5",
        "j.adeyemi",
        ["fees"],
    ),
    (
        19,
        "Customer disputes a subscription that was cancelled in May",
        "Ask for the confirmation of the cancellation.",
        "openai:gpt-4.1",
        "m.weber",
        ["dispute"],
    ),
    (
        23,
        "Which documents prove the identity of a minor's guardian?",
        "Passport and birth certificate.",
        "house:desk-7b",
        "s.lindqvist",
        [],
    ),
    (
        27,
        "Weekly summary of blocked cards for the branch in Graz",
        "14 cards blocked, 9 replaced, 5 waiting.",
        "gemini:gemini-2.5-flash",
        "reports",
        ["report"],
    ),
)
FAILED: Final = "FAILED tests/test_checkout.py::test_voucher_and_gift_card - decimal.InvalidOperation\n1 failed, 211 passed in 9.84s"
PASSED: Final = "\x1b[32m212 passed\x1b[0m in 9.71s"
EDIT: Final = {
    "path": "shop/checkout/totals.py",
    "old_string": "    rest = total - voucher.amount\n    return rest.quantize(CENT)",
    "new_string": "    rest = max(total - voucher.amount, Decimal(0))\n    return rest.quantize(CENT, rounding=ROUND_HALF_UP)",
}


def record_story(api: httpx.Client) -> None:
    """Record the sessions; the latest ended minutes ago."""
    at = datetime.now(UTC).replace(microsecond=0)
    for number, (days, asked, answer, model, user, tags) in enumerate(CARD_DESK):
        begun = at - timedelta(days=days, hours=number % 5, minutes=17 * number)
        body = {"name": asked, "agent": DESK, "user": user, "tags": tags}
        _session(api, f"desk-{number}", body, list(_desk(begun, number, asked, answer, model)))
    for week in range(4):
        begun = at - timedelta(days=7 * week + 6)
        body = {
            "name": f"Card desk mails, week {begun:%V}",
            "agent": "mail-sorter",
            "user": "reports",
            "tags": ["mails"],
        }
        _session(api, f"mails-{week}", body, list(_mails(begun, week)))
    body = {
        "name": "Checkout fails for carts with a voucher and a gift card (SHOP-4127)",
        "agent": "planner",
        "user": "ci@shop.example",
        "tags": ["bug", "checkout"],
    }
    _session(api, CODING, body, list(_debugging(at - timedelta(minutes=52))))


def _mails(begun: datetime, week: int) -> Iterator[dict[str, Any]]:
    """Yield the answers to the mails of five days: each model sorts and answers its share."""
    for day in range(5):
        for number, model in enumerate(MODELS):
            usage = {
                "input_tokens": 9_000 + 4_100 * ((day + number + week) % 5),
                "output_tokens": 700 + 90 * day,
            }
            words = f"{11 + 3 * number + day} mails answered, {(day + number) % 3} handed to a person"
            more = {
                "kind": "llm_call",
                "model": model,
                "input": "Answer the mails of today.",
                "output": words,
                "usage": usage,
            }
            yield _step(begun + timedelta(days=day), 40 * number, 5_200 + 900 * number, **more)


def share_story(api: httpx.Client, session: str) -> None:
    """Create links to a session for three readers, and one that is revoked again."""
    for label, options in (*LINKS, ("Sent to the wrong address", {})):
        body = {"target_type": "session", "target_id": session, "label": label, **options}
        link = api.post("/shares", json=body).raise_for_status().json()["id"]
        if label not in dict(LINKS):
            api.delete(f"/shares/{link}").raise_for_status()


def _session(api: httpx.Client, key: str, body: dict[str, Any], steps: list[dict[str, Any]]) -> None:
    api.post("/sessions", json={**body, "key": key}).raise_for_status()
    api.post(f"/sessions/{key}/actions", json={"actions": steps}).raise_for_status()
    api.post(f"/sessions/{key}/end").raise_for_status()


def _desk(begun: datetime, number: int, asked: str, answer: str, model: str) -> Iterator[dict[str, Any]]:
    """Yield a question to the card desk: what was asked, the customer's file, the answer."""
    yield _step(begun, 0, kind="message", role="user", output=asked)
    call_id = f"file-{number}"
    yield _step(
        begun,
        2,
        340,
        kind="tool_call",
        tool="customer_file",
        call_id=call_id,
        input={"case": 48_100 + number},
    )
    found = {"products": ["Visa Gold", "Current account"], "open_cases": number % 3}
    late = {"type": "Timeout", "message": "The customer file did not answer within 10 s."}
    result = {"error": late} if number in {4, 8} else {"output": found}
    more: dict[str, Any] = {"tool": "customer_file", "call_id": call_id, **result}
    yield _step(begun, 3, kind="tool_result", **more)
    usage = {"input_tokens": 21_000 + 7_300 * (number % 4), "output_tokens": 900 + 310 * (number % 3)}
    yield _step(
        begun, 4, 2_100 + 150 * number, kind="llm_call", model=model, input=asked, output=answer, usage=usage
    )
    yield _step(begun, 9, kind="message", role="agent", output=answer, significance="solution")


def _debugging(begun: datetime) -> Iterator[dict[str, Any]]:
    """Yield the hunt for the bug: a planner that hands work to two other agents, a break for lunch, the repair."""
    yield _step(
        begun,
        0,
        kind="message",
        role="user",
        output="SHOP-4127: checkout answers 500 for carts with a voucher and a gift card.",
    )
    yield _call(
        begun, 2, "planner", "Reproduce it first, then read how totals are computed.", 18_400, id="plan"
    )
    yield _tool(
        begun,
        8,
        "planner",
        "todo_write",
        {
            "todos": [
                {"content": each, "status": "pending"}
                for each in ("Reproduce", "Find the cause", "Repair", "Test")
            ]
        },
        step="todo",
    )
    yield _step(
        begun,
        9,
        1_500_000,
        kind="event",
        agent="tester",
        name="tester",
        id="tester",
        output="Reproduce SHOP-4127",
    )
    yield from _tests(begun, 12, FAILED, failed=True)
    yield _call(
        begun,
        30,
        "tester",
        "Reproduced: the gift card is larger than what is left after the voucher.",
        22_100,
        parent="tester",
        significance="decision",
    )
    yield _step(
        begun,
        34,
        kind="event",
        agent="coder",
        name="coder",
        id="coder",
        output="Find the cause in shop/checkout",
    )
    second = 36
    for number, path in enumerate(
        ("totals.py", "vouchers.py", "gift_cards.py", "money.py", "views.py", "models.py")
    ):
        yield _tool(
            begun,
            second,
            "coder",
            "read_file",
            {"path": f"shop/checkout/{path}"},
            parent="coder",
            step=f"read-{number}",
        )
        yield _result(
            begun,
            second + 1,
            "coder",
            "read_file",
            f"read-{number}",
            f"# {path}\nfrom decimal import Decimal\n",
        )
        yield _call(
            begun,
            second + 3,
            "coder",
            f"{path} does not round; I read on.",
            26_000 + 4_000 * number,
            parent="coder",
        )
        second += 9
    yield _call(
        begun,
        second,
        "coder",
        "The rest becomes negative, and quantize() raises for -0.00.",
        51_000,
        parent="coder",
        significance="breakthrough",
    )
    yield _step(begun, second + 4, kind="checkpoint", name="Cause found", output={"cause": "negative rest"})
    later = 2_400
    yield _tool(begun, later, "coder", "edit_file", EDIT, parent="coder", step="edit")
    yield _result(begun, later + 1, "coder", "edit_file", "edit", "1 replacement")
    yield from _tests(begun, later + 4, FAILED.replace("InvalidOperation", "Inexact"), failed=True)
    yield _call(
        begun,
        later + 20,
        "coder",
        "Inexact: the context traps rounding. I round once, at the end.",
        58_300,
        parent="coder",
    )
    yield from _tests(begun, later + 30, PASSED, failed=False)
    yield _call(
        begun,
        later + 46,
        "planner",
        "Fixed: the rest is never below zero and is rounded once. 212 tests pass.",
        31_700,
        significance="solution",
    )


def _tests(begun: datetime, second: float, output: str, *, failed: bool) -> Iterator[dict[str, Any]]:
    call_id = f"tests-{second:.0f}"
    yield _tool(
        begun,
        second,
        "tester",
        "run_tests",
        {"command": "pytest -q tests/test_checkout.py"},
        parent="tester",
        step=call_id,
    )
    error = {"error": {"type": "ExitCode", "message": "pytest ended with exit code 1"}} if failed else {}
    yield _result(begun, second + 10, "tester", "run_tests", call_id, output, **error)


def _call(begun: datetime, second: float, agent: str, words: str, tokens: int, **more: Any) -> dict[str, Any]:
    model = "openai:gpt-4.1" if agent == "tester" else "anthropic:claude-sonnet-4-5"
    usage = {"input_tokens": tokens, "output_tokens": 40 + 6 * len(words)}
    asked = {"messages": [{"role": "user", "content": "Find out why checkout fails, and repair it."}]}
    return _step(
        begun,
        second,
        2_800,
        kind="llm_call",
        agent=agent,
        model=model,
        input=asked,
        output=words,
        usage=usage,
        **more,
    )


def _tool(
    begun: datetime, second: float, agent: str, tool: str, given: Any, *, step: str, **more: Any
) -> dict[str, Any]:
    return _step(
        begun, second, 420, kind="tool_call", agent=agent, tool=tool, call_id=step, input=given, **more
    )


def _result(
    begun: datetime, second: float, agent: str, tool: str, call_id: str, output: Any, **more: Any
) -> dict[str, Any]:
    return _step(
        begun, second, kind="tool_result", agent=agent, tool=tool, call_id=call_id, output=output, **more
    )


def _step(begun: datetime, second: float, duration_ms: float | None = None, **more: Any) -> dict[str, Any]:
    given = {name: value for name, value in more.items() if value is not None}
    took = {} if duration_ms is None else {"duration_ms": duration_ms}
    return {"started_at": (begun + timedelta(seconds=second)).isoformat(), **took, **given}
