"""What an imported file amounts to, for comparison with counts made from the file itself."""

from typing import Any

from timemachine.recording.importing.pure.report import ParsedFile

TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")


def totals(found: ParsedFile) -> dict[str, Any]:
    """The steps by kind (messages by role), tokens and cost of all sessions, without copied steps. What was not recorded is
    None, not 0."""
    every = [action for session in found.sessions for action in session.actions]
    actions = [action for action in every if action.copied_from is None]
    usages = [action.usage for action in actions if action.usage is not None]
    costs = [action.cost_usd for action in actions if action.cost_usd is not None]
    spoken = [action for action in actions if action.kind == "message" and "thinking" not in action.tags]
    counts: dict[str, Any] = {
        name: sum(values)
        if (values := [each for usage in usages if (each := getattr(usage, name)) is not None])
        else None
        for name in TOKENS
    }
    return counts | {
        "sessions": len(found.sessions),
        "from_user": sum(action.role == "user" for action in spoken),
        "from_agent": sum(action.role == "agent" for action in spoken),
        "model_calls": sum(action.kind == "llm_call" for action in actions),
        "tool_calls": sum(action.kind == "tool_call" for action in actions),
        "tool_results": sum(action.kind == "tool_result" for action in actions),
        "unlinked": sum(action.kind == "tool_result" and action.parent is None for action in actions),
        "errors": sum(action.error_type is not None for action in actions),
        "cost": float(sum(costs)) if costs else None,
        "models": {action.model for action in actions} - {None},
        "skipped": len(found.report.skipped),
    }  # fmt: skip
