"""Output of `codex exec --json` as its versions before October 2025 wrote it."""

from typing import Any


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"id": "0", "msg": {"type": kind, **fields}}


def tokens(*counts: int) -> dict[str, int]:
    names = (
        "input_tokens",
        "cached_input_tokens",
        "output_tokens",
        "reasoning_output_tokens",
        "total_tokens",
    )
    return dict(zip(names, counts, strict=True))


CODEX_EXEC_OLDER: list[dict[str, Any]] = [
    {"workdir": "/w", "model": "gpt-5", "provider": "openai", "approval": "never", "sandbox": "read-only", "reasoning effort": "low"},
    {"prompt": "List the files."},
    event("task_started", model_context_window=272_000),
    event("agent_reasoning", text="I look first."),
    event("exec_command_begin", call_id="c1", command=["ls"], cwd="/w", parsed_cmd=[]),
    event("token_count", info={"total_token_usage": tokens(100, 60, 7, 2, 107), "last_token_usage": tokens(100, 60, 7, 2, 107)}),
    event("exec_command_end", call_id="c1", stdout="", stderr="no", exit_code=2, duration={"secs": 1, "nanos": 500_000_000}),
    event("patch_apply_begin", call_id="c2", auto_approved=True, changes={"a": {"add": {"content": "x"}}}),
    event("token_count", info={"total_token_usage": tokens(220, 120, 12, 2, 232), "last_token_usage": tokens(120, 60, 5, 0, 125)}),
    event("patch_apply_end", call_id="c2", stdout="Done.", stderr="", success=False),
    event("mcp_tool_call_begin", call_id="c3", invocation={"server": "files", "tool": "read", "arguments": {"path": "a"}}),
    event("mcp_tool_call_end", call_id="c3", invocation={"server": "files", "tool": "read"}, result={"Err": "gone"}),
    event("web_search_begin", call_id="c4"),
    event("web_search_end", call_id="c4", query="files"),
    event("agent_message", message="One file."),
    event("token_count", info={"total_token_usage": tokens(320, 180, 15, 2, 335), "last_token_usage": tokens(100, 60, 3, 0, 103)}),
    event("task_complete", last_agent_message="One file."),
    event("error", message="stream closed"),
]  # fmt: skip
CODEX_EXEC_FIRST: list[dict[str, Any]] = [
    event("session_configured", session_id="s1", model="gpt-5"),
    event("agent_reasoning_raw_content", text="Hm."),
    event("agent_message", message="Hello."),
    event("token_count", **tokens(10, 0, 2, 0, 12)),
]
"""Without the settings, and with tokens outside of `info`."""
