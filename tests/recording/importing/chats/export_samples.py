"""Samples of the exports of ChatGPT and claude.ai."""

from typing import Any

from tests.recording.importing.sample_files import archive


def _node(name: str, parent: str | None, *children: str, **message: Any) -> dict[str, Any]:
    return {"id": name, "parent": parent, "children": list(children), "message": message or None}


def _said(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "id": "m",
        "author": {"role": role},
        "create_time": 1_772_359_200.5,
        "content": {"content_type": "text", "parts": [text]},
        "recipient": "all",
        "metadata": {"model_slug": "gpt-x"} if role == "assistant" else {},
        **more,
    }


CHATGPT: dict[str, Any] = {
    "title": "Users",
    "create_time": 1_772_359_200.0,
    "conversation_id": "cg1",
    "current_node": "n7",
    "default_model_slug": "gpt-x",
    "mapping": {
        "n0": _node("n0", None, "n1"),
        "n1": _node("n1", "n0", "n2", **_said("system", "", metadata={"is_visually_hidden_from_conversation": True})),
        "n2": _node("n2", "n1", "n3", "n8", **_said("user", "Who is 7?")),
        "n3": _node(
            "n3", "n2", "n4",
            **_said("assistant", "", content={"content_type": "thoughts", "thoughts": [{"content": "They want a name."}]}),
        ),
        "n4": _node(
            "n4", "n3", "n5",
            **_said("assistant", "", recipient="python", content={"content_type": "code", "text": "find(7)"}),
        ),
        "n5": _node(
            "n5", "n4", "n6",
            **_said(
                "tool", "", author={"role": "tool", "name": "python"},
                content={"content_type": "execution_output", "text": "no"},
                metadata={"aggregate_result": {"status": "failed", "in_kernel_exception": {"name": "KeyError"}}},
            ),
        ),
        "n6": _node("n6", "n5", "n7", **_said("assistant", "", content={"content_type": "reasoning_recap", "content": "1 s"})),
        "n7": _node("n7", "n6", **_said("assistant", "Zoë.")),
        "n8": _node("n8", "n2", **_said("assistant", "Nobody.", metadata={})),
        "n9": _node("n9", "n10", **_said("odd", "")),
        "n10": _node("n10", "n9", **_said("user", "", content={"parts": [{"asset_pointer": "file"}, "See"]})),
        "n11": _node("n11", "gone", **_said("tool", "", content={"content_type": "system_error", "name": "Timeout", "text": "late"})),
        "half": 7,
    },
}  # fmt: skip
CLAUDE_AI: dict[str, Any] = {
    "uuid": "ca1",
    "name": "Users",
    "created_at": "2026-03-01T10:00:00Z",
    "account": {"uuid": "a1"},
    "current_leaf_message_uuid": "m2",
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "Who is 7?", "content": [{"type": "text", "text": "Who is 7?"}],
         "created_at": "2026-03-01T10:00:01Z", "attachments": [{"file_name": "a.txt"}]},
        {
            "uuid": "m2", "sender": "assistant", "parent_message_uuid": "m1", "created_at": "2026-03-01T10:00:02Z",
            "content": [
                {"type": "thinking", "thinking": "A name.", "start_timestamp": "2026-03-01T10:00:03Z"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "k1", "name": "find", "input": {"id": 7}},
                {"type": "tool_result", "tool_use_id": "k1", "content": [{"type": "text", "text": "no"}], "is_error": True},
                {"type": "tool_use", "name": "look", "input": {}},
                {"type": "tool_result", "name": "look", "content": "Zoë"},
                {"type": "token_budget"},
            ],
        },
        {"uuid": "m3", "sender": "assistant", "text": "Nobody.", "parent_message_uuid": "m1",
         "created_at": "2026-03-01T10:00:04Z"},
        "half",
    ],
}  # fmt: skip
CHATGPT_ARCHIVE = archive({"conversations.json": [CHATGPT, "half"], "chat.html": b"<html>"})
CLAUDE_AI_ARCHIVE = archive({"conversations.json": CLAUDE_AI, "users.json": []})
