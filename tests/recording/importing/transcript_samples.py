"""Transcripts as other programs write them."""

from typing import Any

from tests.recording.importing.sample_files import codex_line, lines

CLAUDE_CODE = lines(
    {"type": "user", "uuid": "u1", "sessionId": "s1", "message": {"role": "user", "content": "Hello"}},
    {
        "type": "assistant",
        "uuid": "a1",
        "sessionId": "s1",
        "message": {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": "Hi"}]},
    },
)
TOKENS = {
    "last_token_usage": {
        "input_tokens": 120,
        "cached_input_tokens": 100,
        "output_tokens": 9,
        "reasoning_output_tokens": 4,
        "total_tokens": 129,
    }
}
CODEX_RECORDS: list[dict[str, Any]] = [
    codex_line(
        "session_meta", id="c1", cwd="/app", originator="codex_cli", cli_version="0.40.0", forked_from_id="c0"
    ),
    codex_line(
        "response_item",
        type="message",
        role="user",
        content=[{"type": "input_text", "text": "<environment_context>"}],
    ),
    codex_line(
        "response_item", 1, type="message", role="user", content=[{"type": "input_text", "text": "Mend it"}]
    ),
    codex_line("event_msg", 1, type="user_message", message="Mend it"),
    codex_line("turn_context", 2, cwd="/app", model="gpt-5-codex", effort="high"),
    codex_line("event_msg", 3, type="agent_reasoning", text="Look first"),
    codex_line("event_msg", 4, type="token_count", info=TOKENS),
    codex_line(
        "response_item", 5, type="reasoning", summary=[{"type": "summary_text", "text": "Look first"}]
    ),
    codex_line(
        "response_item", 5, type="function_call", name="shell", arguments='{"command":["ls"]}', call_id="k1"
    ),
    codex_line(
        "response_item",
        6,
        type="function_call_output",
        call_id="k1",
        output='{"output":"a.py","metadata":{"exit_code":0,"duration_seconds":0.5}}',
    ),
    codex_line("turn_context", 7, model="gpt-5-codex"),
    codex_line("event_msg", 8, type="token_count", info=TOKENS),
    codex_line("event_msg", 8, type="agent_message", message="Done."),
    codex_line(
        "response_item",
        9,
        type="message",
        role="assistant",
        content=[{"type": "output_text", "text": "Done."}],
    ),
    codex_line("event_msg", 9, type="turn_aborted", reason="interrupted"),
    codex_line("compacted", 9, message="So far."),
]
SWE_AGENT = {
    "environment": "main",
    "trajectory": [
        {
            "action": "ls -F\n",
            "observation": "a.py",
            "response": "Look.\n```\nls -F\n```",
            "thought": "Look.",
            "state": "{}",
            "execution_time": 0.25,
        },
        {"action": "submit", "observation": "", "response": "Done.", "thought": "Done."},
    ],
    "history": [
        {"role": "system", "content": "You are a programmer.", "agent": "main"},
        {"role": "user", "content": "A demonstration.", "agent": "main", "is_demo": True},
        {"role": "user", "content": "We solve this.\nISSUE:\nThe parser fails\nalways", "agent": "main"},
        {
            "role": "assistant",
            "content": "Look.\n```\nls -F\n```",
            "thought": "Look.",
            "action": "ls -F\n",
            "agent": "main",
            "tool_calls": [{"id": "k1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "a.py\n(Open file: n/a)", "agent": "main", "tool_call_ids": ["k1"]},
    ],
    "info": {
        "exit_status": "submitted",
        "submission": "diff",
        "model_stats": {"instance_cost": 1.25, "tokens_sent": 1000, "tokens_received": 50, "api_calls": 2},
    },
}
CALL = {"id": "k1", "type": "function", "function": {"name": "find_user", "arguments": '{"id": 7}'}}
CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "Be kind."},
    {"role": "user", "content": "Who is 7?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "k1", "name": "find_user", "content": "Zoë"},
    {"role": "assistant", "content": "Zoë."},
]
TAU_BENCH = [
    {
        "task_id": 3,
        "trial": trial,
        "reward": 1.0,
        "info": {
            "task": {"user_id": "u7", "instruction": "Ask who it is.", "actions": [{}]},
            "user_cost": 0.01,
        },
        "traj": CHAT,
    }
    for trial in (0, 1)
]
WHO_AND_WHEN = {
    "is_correct": False,
    "question": "How many clients are there?",
    "question_ID": "q1",
    "level": "2",
    "ground_truth": "8",
    "history": [
        {"content": "Count them.", "role": "assistant", "name": "Excel_Expert"},
        {"content": "exitcode: 0", "role": "user", "name": "Computer_terminal"},
        {"content": "Thank you", "role": "human"},
    ],
    "mistake_agent": "Excel_Expert",
    "mistake_step": "0",
    "mistake_reason": "It counted wrongly.",
    "system_prompt": {"Excel_Expert": "You count."},
}
