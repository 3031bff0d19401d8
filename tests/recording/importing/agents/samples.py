"""Sessions as command-line and editor agents write them."""

from typing import Any

AT = "2026-03-01T10:00:0{}.000Z".format
GEMINI_HEAD = {
    "sessionId": "g1",
    "projectHash": "ab12",
    "startTime": AT(0),
    "lastUpdated": AT(0),
    "kind": "main",
}
GEMINI_USER = {"id": "m1", "timestamp": AT(1), "type": "user", "content": [{"text": "List the files"}]}
GEMINI_TOOL: dict[str, Any] = {
    "id": "t1",
    "name": "list_directory",
    "args": {"path": "."},
    "result": [{"functionResponse": {"id": "t1", "name": "list_directory", "response": {"output": "a\nb"}}}],
    "status": "success",
    "timestamp": AT(4),
    "agentId": "helper",
}
GEMINI_ANSWER: dict[str, Any] = {
    "id": "m2",
    "timestamp": AT(3),
    "type": "gemini",
    "content": "Two files.",
    "thoughts": [{"subject": "Look", "description": "See what is there", "timestamp": AT(2)}],
    "tokens": {"input": 100, "output": 10, "cached": 20, "thoughts": 5, "tool": 3, "total": 118},
    "model": "gemini-2.5-pro",
}
GEMINI = {
    **GEMINI_HEAD,
    "summary": "Listing files",
    "messages": [GEMINI_USER, {**GEMINI_ANSWER, "toolCalls": [GEMINI_TOOL]}],
}
GEMINI_LINES: list[dict[str, Any]] = [
    GEMINI_HEAD,
    GEMINI_USER,
    {"$set": {"lastUpdated": AT(1)}},
    GEMINI_ANSWER,
    {**GEMINI_ANSWER, "toolCalls": [GEMINI_TOOL]},
    {"id": "m3", "timestamp": AT(5), "type": "info", "content": "Request cancelled."},
    {"$rewindTo": "m2"},
    {"$set": {"summary": "Listing files", "lastUpdated": AT(9)}},
]
