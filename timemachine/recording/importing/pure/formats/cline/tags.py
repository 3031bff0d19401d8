"""Tool calls that Cline and Roo Code wrote as tags in texts, before they used the tool calls of the providers.

A call is `<read_file><path>a.py</path></read_file>` in an answer; its result begins with `[read_file for 'a.py'] Result:`
in the next message.
"""

import re
from collections.abc import Iterator
from typing import Final

_TOOLS: Final = (
    "execute_command", "read_file", "write_to_file", "replace_in_file", "apply_diff", "insert_content",
    "search_and_replace", "search_files", "list_files", "list_code_definition_names", "browser_action", "use_mcp_tool",
    "access_mcp_resource", "ask_followup_question", "attempt_completion", "plan_mode_respond", "act_mode_respond",
    "new_task", "switch_mode", "fetch_instructions", "codebase_search", "update_todo_list", "load_mcp_documentation",
    "web_fetch", "web_search", "use_skill", "run_slash_command", "generate_image", "new_rule", "condense", "report_bug",
)  # fmt: skip
_CALL: Final = re.compile(rf"<({'|'.join(_TOOLS)})>")
_ARGUMENT: Final = re.compile(r"<(\w{1,40})>")
_RESULT: Final = re.compile(r"\[(\w{1,60})(?: for '.{0,2000}?')?\] Result:\s*", re.DOTALL)
_INJECTED: Final = ("<environment_details>", "# TODO LIST", "[TASK RESUMPTION]")
_WHOLE_TASK: Final = re.compile(r"<(task|user_message)>(.*?)</\1>", re.DOTALL)
_TASK: Final = re.compile(r"</?(?:task|user_message|user_input|feedback)(?: [^>]*)?>")


def calls_in(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each complete call in a text with its arguments."""
    place = 0
    unclosed: set[str] = set()  # looked for only once: a text can name a tag very often
    while (opened := _CALL.search(text, place)) is not None:
        end = -1 if opened[1] in unclosed else text.find(f"</{opened[1]}>", opened.end())
        if end < 0:
            unclosed.add(opened[1])
        place = opened.end() if end < 0 else end
        if end >= 0:
            yield opened[1], _arguments(text[opened.end() : end])


def _arguments(inner: str) -> dict[str, str]:
    """Return the arguments. A value reaches to the last end of its tag, because it can hold that tag itself."""
    found: dict[str, str] = {}
    place = 0
    unclosed: set[str] = set()
    while (opened := _ARGUMENT.search(inner, place)) is not None:
        end = -1 if opened[1] in unclosed else inner.rfind(f"</{opened[1]}>", opened.end())
        if end < 0:
            unclosed.add(opened[1])
        place = opened.end() if end < 0 else end
        if end >= 0:
            found[opened[1]] = inner[opened.end() : end].strip("\n")
    return found


def result_in(text: str) -> tuple[str, str] | None:
    """Return the tool and the output of a text that is the result of a tagged call."""
    found = _RESULT.match(text)
    return None if found is None or found[1] not in _TOOLS else (found[1], text[found.end() :])


def is_injected(text: str) -> bool:
    """Return whether Cline added the text to what the user wrote."""
    return text.lstrip().startswith(_INJECTED)


def inner_task(text: str) -> str:
    """Return what is between the tags around a task, or the whole text if there are none."""
    found = _WHOLE_TASK.search(text)
    return found[2] if found else text


def without_task(text: str) -> str:
    """Return the text without the tags around a task."""
    return _TASK.sub("", text).strip()
