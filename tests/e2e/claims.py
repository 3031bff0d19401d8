"""A recorded agent that decides a claim in four model calls, and a stub of two models that decide it in other ways."""

import json
from typing import Any, Final

import httpx

from tests.stub_model_server import Script, StubModelServer
from tests.waiting import wait_until

RECORDED: Final = "openai:gpt-4o-mini"
HASTY, CAREFUL = "openai:gpt-4o", "openai:gpt-4.1"
"""A model that pays another amount, and one that asks before it pays."""
TOOLS: Final = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": words,
            "parameters": {"type": "object", "properties": {field: {"type": kind} for field, kind in fields}},
        },
    }
    for name, words, fields in (
        ("look_up_claim", "Read a claim.", (("number", "string"),)),
        ("read_policy", "Read a rule of the handbook.", (("rule", "string"),)),
        ("pay", "Pay a claim.", (("claim", "string"), ("amount", "number"))),
        ("ask_clerk", "Ask the clerk on duty.", (("question", "string"),)),
    )
]
CLAIM: Final = {"number": "C-7", "amount": 480, "reason": "Suitcase lost in transit", "receipt": "missing"}
POLICY: Final = "Luggage without a receipt is paid at half of what is claimed, at most 300 francs."
ASKED: Final = "Decide claim C-7 and pay what the handbook allows."
LOOK: Final = ("I read the claim first.", "look_up_claim", {"number": "C-7"})
READ: Final = ("There is no receipt. I read the rule for that.", "read_policy", {"rule": "luggage"})
PAY: Final = ("The rule allows half.", "pay", {"claim": "C-7", "amount": 240})
PAY_ALL: Final = ("The claim is plausible.", "pay", {"claim": "C-7", "amount": 480})
ASK: Final = ("A receipt is missing.", "ask_clerk", {"question": "May I pay C-7 without a receipt?"})
DONE: Final = "Claim C-7 is paid at half: 240 francs."


def record(api: httpx.Client) -> str:
    """Record the session and return its id."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You decide claims by the handbook."},
        {"role": "user", "content": ASKED},
    ]
    steps: list[dict[str, Any]] = [{"kind": "message", "role": "user", "output": ASKED}]
    for number, ((words, tool, arguments), result) in enumerate(
        ((LOOK, CLAIM), (READ, POLICY), (PAY, {"paid": 240})), start=1
    ):
        call_id = f"call_{number}"
        function = {"name": tool, "arguments": json.dumps(arguments)}
        said = {
            "role": "assistant",
            "content": words,
            "tool_calls": [{"id": call_id, "type": "function", "function": function}],
        }
        steps.append(_called(messages, said))
        steps.append({"kind": "tool_call", "tool": tool, "call_id": call_id, "input": arguments})
        steps.append({"kind": "tool_result", "tool": tool, "call_id": call_id, "output": result})
        text = result if isinstance(result, str) else json.dumps(result)
        messages = [*messages, said, {"role": "tool", "tool_call_id": call_id, "content": text}]
    steps.append(_called(messages, {"role": "assistant", "content": DONE}))
    started = api.post("/sessions", json={"name": "Claim C-7", "agent": "claims-desk"}).raise_for_status()
    session = str(started.json()["id"])
    api.post(f"/sessions/{session}/actions", json={"actions": steps}).raise_for_status()
    api.post(f"/sessions/{session}/end").raise_for_status()
    return session


def _called(messages: list[dict[str, Any]], said: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": "llm_call",
        "input": {"model": "gpt-4o-mini", "messages": messages, "tools": TOOLS},
        "output": said,
        "model": RECORDED,
        "usage": {"input_tokens": 180 + 40 * len(messages), "output_tokens": 30},
        "duration_ms": 900,
    }


def play(stub: StubModelServer) -> None:
    """Have both models do what was recorded, until the hasty one pays everything and the careful one asks."""
    stub.script(Script(answer=LOOK[0], tools=(LOOK[1:],)))
    stub.script(Script(question=LOOK[0], answer=READ[0], tools=(READ[1:],)))
    for model, (words, tool, arguments) in (("gpt-4o", PAY_ALL), ("gpt-4.1", ASK)):
        stub.script(Script(question=READ[0], answer=words, tools=((tool, arguments),), model=model))
    for words, _, _ in (PAY, PAY_ALL, ASK):
        stub.script(Script(question=f"{POLICY}\n{words}", answer=DONE))


def replayed(api: httpx.Client, session: str) -> str:
    """Replay every model call with the hasty model."""
    body = {"audit": True, "reason": "Would a larger model have paid the same?", "use_models": [HASTY]}
    launched = api.post(f"/sessions/{session}/replays", json=body).raise_for_status().json()
    return done(api, "/replays", str(launched["replay_id"]))


def compared(api: httpx.Client, session: str) -> str:
    """Compare both models on every call."""
    body = {
        "sessions": [session],
        "arms": [{"model": HASTY}, {"model": CAREFUL}],
        "reason": "Which one keeps to the rule?",
    }
    launched = api.post("/comparisons", json=body).raise_for_status().json()
    return done(api, "/comparisons", str(launched["comparison_id"]))


def continued(api: httpx.Client, session: str, model: str) -> str:
    """Run on from the first model call with another model."""
    body = {"from": 2, "model": model}
    launched = api.post(f"/sessions/{session}/continue", json=body).raise_for_status().json()
    return done(api, "/replays", str(launched["replay_id"]))


def done(api: httpx.Client, kind: str, name: str) -> str:
    """Wait for the job to finish and return its id."""
    wait_until(lambda: api.get(f"{kind}/{name}").json()["status"] == "done")
    return name
