"""A session in our own format."""

from typing import Any

OURS: list[dict[str, Any]] = [
    {
        "format": "timemachine-session",
        "version": 1,
        "key": "first-try",
        "name": "First try",
        "agent": "desk",
        "user": None,
        "status": "ended",
        "collection": "handbook",
        "parent": {"key": "before", "sequence": 2},
        "metadata": {"run": 1},
        "tags": ["nightly"],
        "started_at": "2026-03-01T10:00:00Z",
        "ended_at": None,
        "through": 3,
    },
    {
        "sequence": 1,
        "id": None,
        "kind": "find",
        "tags": ["a"],
        "started_at": "2026-03-01T10:00:01Z",
        "input": "How long?",
        "error": {"type": "timeout", "message": None},
        "retrieval": {
            "mode": "lexical",
            "as_of": "2026-03-01T10:00:00Z",
            "curve": {"leg": "lexical"},
            "hits": [{"rank": 1, "score": 0.5, "text": "Ten years.", "sha256": None, "frame": 7}],
        },
    },
    {
        "sequence": 2,
        "id": "call",
        "kind": "llm_call",
        "parent": 1,
        "duration_ms": 12,
        "model": "local:extractive-1",
        "usage": {"input_tokens": 5},
        "cost_usd": "0.000000000000001",
        "cached": False,
        "source": {"any": ["thing"]},
    },
    {"sequence": 3, "id": None, "kind": "message", "parent": "not here", "output": "Hello"},
]
