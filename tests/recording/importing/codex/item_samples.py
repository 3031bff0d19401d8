"""A rollout in which `item_completed` repeats what was said and done, as Codex 0.171 writes it."""

from typing import Any, Final

from tests.recording.importing.sample_files import codex_line


def item(second: int, kind: str, **payload: Any) -> dict[str, Any]:
    """A `response_item`."""
    return codex_line("response_item", second, type=kind, **payload)


def said(second: int, role: str, name: str, text: str) -> dict[str, Any]:
    """A message as a `response_item`."""
    kind = "output_text" if role == "assistant" else "input_text"
    return item(second, "message", id=name, role=role, content=[{"type": kind, "text": text}])


def told(second: int, kind: str, name: str, /, **about: Any) -> dict[str, Any]:
    """An item as an event."""
    return codex_line(
        "event_msg", second, type="item_completed", turn_id="t", item={"type": kind, "id": name, **about}
    )


def told_text(second: int, kind: str, name: str, text: str) -> dict[str, Any]:
    """A message as an event."""
    return told(second, kind, name, content=[{"type": "Text", "text": text}])


def called(second: int, tool: str, call: str) -> dict[str, Any]:
    """A call of a tool as a `response_item`."""
    return item(second, "function_call", id=f"fc_{call}", name=tool, arguments="{}", call_id=call)


def returned(second: int, call: str, output: str) -> dict[str, Any]:
    """What a tool returned as a `response_item`."""
    return item(second, "function_call_output", id=f"fco_{call}", call_id=call, output=output)


def used(second: int, tokens: int) -> dict[str, Any]:
    """The tokens of a call."""
    return codex_line("token_usage_record", second, usage={"input_tokens": tokens})


def ended(second: int) -> dict[str, Any]:
    """The end of a turn."""
    return codex_line("event_msg", second, type="task_complete", turn_id="t")


FIRST_TURN: Final = [
    codex_line("session_meta", id="i1", cwd="/app", cli_version="0.171.0", model_provider="openai"),
    codex_line("event_msg", type="task_started", turn_id="t1"),
    said(0, "user", "msg_0", "<environment_context>"),
    codex_line("turn_context", 1, model="gpt-5-codex"),
    said(1, "user", "msg_1", "Mend the pool."),
    told_text(1, "UserMessage", "u1", "Mend the pool."),
    told(2, "Reasoning", "rs_1", summary_text=[], raw_content=[]),
    item(2, "reasoning", id="rs_1", summary=[], encrypted_content="gAAA"),
    told_text(3, "AgentMessage", "msg_2", "I look."),
    said(3, "assistant", "msg_2", "I look.\n<oai-mem-citation>"),
    told(3, "WebSearch", "ws_1", query="pools", action={"type": "search"}),
    item(3, "web_search_call", id="ws_1", action={"type": "search", "query": "pools"}),
    called(3, "exec_command", "c1"),
    called(3, "exec_command", "c2"),
    called(3, "list_mcp_resources", "c3"),
    item(3, "custom_tool_call", id="ctc_4", name="apply_patch", input="*** Begin Patch", call_id="c4"),
    used(3, 7),
    told(4, "CommandExecution", "c2", aggregated_output="b.py\n", exit_code=0),
    told(4, "McpToolCall", "c3", server="files", tool="list", status="completed"),
    told(5, "FileChange", "c4", changes={"a.py": {"type": "add", "content": "x"}}, status="completed"),
    returned(5, "c1", "Process running with session ID 7"),
    returned(5, "c2", "b.py\n"),
    returned(5, "c3", "[]"),
    item(5, "custom_tool_call_output", id="ctco_4", call_id="c4", output="Done!"),
    told_text(6, "AgentMessage", "msg_3", "Done."),
    said(6, "assistant", "msg_3", "Done."),
    used(6, 8),
    told(7, "CommandExecution", "c1", aggregated_output="a.py\n", exit_code=1),
    told(7, "Plan", "t1-plan", text="1. Rest"),
    ended(7),
]
SECOND_TURN: Final = [
    codex_line("event_msg", 10, type="task_started", turn_id="t2"),
    codex_line("turn_context", 11, model="gpt-5-codex"),
    said(11, "user", "msg_4", "Mend the pool."),
    told_text(11, "UserMessage", "u2", "Mend the pool."),
    told_text(12, "AgentMessage", "msg_5", "Done."),
    said(12, "assistant", "msg_5", "Done."),
    used(12, 9),
    ended(12),
]
CODEX_ITEMS: Final = [*FIRST_TURN, *SECOND_TURN]
