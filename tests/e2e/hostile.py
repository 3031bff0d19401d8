"""Hostile texts that try to run, load or break something on the pages, and a session with them in every field."""

import json
from functools import partial
from typing import Any, Final

import httpx

from tests.waiting import wait_until

BIDI: Final = "\u202e\u2066\u2067evil\u2069"
CORPUS: Final = {
    "markup": '<script>window.pwned=1</script><img src="/pwned/x" onerror="window.pwned=1"><svg/onload="window.pwned=1">',
    "breakout": '"\'></textarea></title></style></script></select>--><iframe src="/pwned/"></iframe><b onclick=pwned>',
    "htmx": '<div hx-get="/pwned/" hx-trigger="load" hx-on:load="window.pwned=1">" hx-get="/pwned/" hx-trigger="load" x="',
    "template": "{{ 7|add:42 }}{% include 'base.html' %}{# gone #}{{ settings.SECRET_KEY }}${7*7}<%= 7*7 %>",
    "ansi": "\x1b[31mred\x1b[2J\x1b]8;;https://pwned.example\x07link\x1b]8;;\x07\x9b31m\r\b\b\b",
    "bidi": f"{BIDI} \u200f\u200e\ufeff\u061c מזהה {BIDI}",
    "nul": "before\x00after \x01\x02\x7f\ud800 lone \udfff",
    "zalgo": "Z" + "\u0301\u0489\u035b" * 60 + "w" * 90,
    "address": "javascript:window.pwned=1//<base href=//pwned.example>",
    "format": "%s%n%(name)s\\x3cscript\\x3e&lt;b&gt;&#x3c;img src=/pwned/ onerror=pwned&#x3e;\u2028\u2029",
}
MIXTURES: Final = {
    "markup": ("breakout", "markup", "htmx", "template", "format"),
    "odd": ("ansi", "bidi", "nul", "zalgo"),
    "address": ("address",),
}
TEXTS: Final = {name: " ".join(CORPUS[each] for each in parts) for name, parts in MIXTURES.items()}
"""The corpus combined into few texts, so that few steps test every page with all of it."""
NAME: Final = 150
LONG_LINE: Final = 5_000_000
COLLECTION: Final = "Corpus"


class Hostile:
    """A client that sends lone surrogates as JSON escapes, as a hostile program would."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    def send(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Send the body and return the answer, which must not be a refusal."""
        answer = self.client.post(
            path, content=json.dumps(body), headers={"Content-Type": "application/json"}
        )
        assert answer.is_success, (path, answer.text[:500])
        made: dict[str, Any] = answer.json()
        return made


def recorded(client: httpx.Client) -> dict[str, str]:
    """Record the corpus in every field that can be recorded; return the addresses of what was created."""
    hostile = Hostile(client)
    hostile.send("/collections", {"name": COLLECTION})
    frames = [
        {"text": f"{text} The fee is 3 euros.", "title": text, "uri": text, "metadata": {text: [text]}}
        for text in TEXTS.values()
    ]
    hostile.send(f"/collections/{COLLECTION}/put", {"frames": frames})
    everything = " ".join(CORPUS.values())
    start = {
        "name": everything[:NAME],
        "key": "hostile",
        "agent": everything[:NAME],
        "user": everything[:NAME],
        "collection": COLLECTION,
        "metadata": {text: text for text in TEXTS.values()},
        "tags": [text[:NAME] for text in TEXTS.values()],
    }
    session = hostile.send("/sessions", start)["id"]
    actions = [action(text, kind) for text in TEXTS.values() for kind in ("ask", "tool_call")]
    hostile.send("/sessions/hostile/actions", {"actions": actions})
    for sequence, text in enumerate(TEXTS.values(), 1):
        hostile.send("/sessions/hostile/notes", {"sequence": sequence, "text": text})
    hostile.send("/sessions/hostile/ask", {"question": f"What is the fee? {everything}"})
    line = {"kind": "tool_result", "input": "x" * LONG_LINE, "output": "<b>" * 1000 + "y" * 2_000_000}
    hostile.send("/sessions/hostile/actions", {"actions": [line]})
    return {"session": session} | replayed(hostile, everything)


def replayed(hostile: Hostile, everything: str) -> dict[str, str]:
    """Replay, compare and share the session, with the corpus as reasons, names and labels."""
    audit = {"audit": True, "reason": everything, "use_models": ["local:extractive-1"]}
    made = {"audit": hostile.send("/sessions/hostile/replays", audit)["replay_id"]}
    made["debug"] = hostile.send("/sessions/hostile/replays", {"top_k": 3})["replay_id"]
    variants = [{"model": "local:extractive-1"}, {"model": "local:extractive-5"}]
    comparison = {"sessions": ["hostile"], "arms": variants, "reason": everything}
    made["comparison"] = hostile.send("/comparisons", comparison)["comparison_id"]
    suite = {"name": everything[:NAME].replace("/", ""), "sessions": ["hostile"], "options": {"top_k": 3}}
    made["suite"] = hostile.send("/suites", suite)["id"]
    share = {"target_type": "session", "target_id": "hostile", "label": everything[:NAME]}
    made["share"] = hostile.send("/shares", share)["url"]
    for address in (
        f"/replays/{made['audit']}",
        f"/replays/{made['debug']}",
        f"/comparisons/{made['comparison']}",
    ):
        wait_until(partial(ended, hostile.client, address))
    return made


def ended(client: httpx.Client, address: str) -> bool:
    """Return whether a job has finished."""
    return client.get(address).json()["status"] not in ("waiting", "running")


def action(text: str, kind: str) -> dict[str, Any]:
    """An action with the text in every field that takes a text."""
    short = text[:NAME]
    hit = {
        "rank": 1,
        "score": 1.5,
        "scores": {short: 1.0},
        "frame": short,
        "version": 1,
        "title": text,
        "uri": text,
        "metadata": {text: text},
        "text": text,
    }
    sentence = {"text": text, "start": 0, "end": len(text), "score": 0.1, "grounded": False, "reason": text}
    return {
        "kind": kind,
        "id": f"{kind} {short}",
        "role": "user",
        "agent": short,
        "name": short,
        "tool": short,
        "call_id": short,
        "tags": [short],
        "input": text if kind == "ask" else {text: [text]},
        "output": text if kind == "ask" else [{"deep": text}],
        "error": None if kind == "ask" else {"type": short, "message": text},
        "model": short,
        "parameters": {text: text},
        "usage": {"input_tokens": 3, "output_tokens": 1},
        "prices": {"source": text, "per_million_tokens": {short: 1}},
        "grounding": {
            "score": 0.1,
            "label": "LOW",
            "sentence_count": 1,
            "grounded_sentences": 0,
            "sentences": [sentence],
        },
        "retrieval": {"mode": "hybrid", "top_k": 1, "cut_by": short, "embedding_model": short, "hits": [hit]},
    }
