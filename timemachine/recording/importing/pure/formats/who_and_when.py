"""Failures of Who&When, one per file: the messages of several agents and the step at which it went wrong.

The report counts messages, system prompts, and the rest of the file, which becomes a final `event`.
"""

import re
from dataclasses import replace
from typing import Any, Final

from timemachine.core.pure.json_types import JsonObject
from timemachine.recording.importing.pure.drafts import Ids, session_draft, system_event
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile
from timemachine.recording.importing.pure.values import list_at, record_at, short_text, short_text_at, text_at
from timemachine.recording.sessions.pure.draft import ActionDraft

NAME: Final = "who_and_when"
TITLE: Final = "Who&When failure (JSON object with history, mistake_agent and mistake_step)"
_MARKS: Final = frozenset({"mistake_agent", "mistake_step"})
_METADATA: Final = (
    "question", "question_ID", "level", "ground_truth", "is_correct", "is_corrected", "mistake_agent", "mistake_step",
    "mistake_reason",
)  # fmt: skip
_PLACE: Final = re.compile(r"[0-9]{1,9}")
_TERMINALS: Final = {"Computer_terminal", "ComputerTerminal"}


def recognises(opening: Opening) -> bool:
    """Return whether it names a mistake, or starts like a file whose mistake is after its first megabyte."""
    found = opening.fields
    return found.keys() >= _MARKS or (found.keys() >= {"question_ID", "history"} and "is_correct" in found)


def read(reader: Reader) -> ParsedFile:
    """Return the session of the file. Raises `InvalidInput` (`unknown_format`) if it has no history."""
    found = reader.json_object()
    if not list_at(found, "history"):
        raise reader.refusal("it has no `history`.")
    ids = Ids()
    actions = _prompts(found, ids)
    reader.use(len(actions))
    messages = {  # by their place from 0, which the label refers to
        place: _message(message, ids.claim(f"message-{place}"))
        for place, message in enumerate(found["history"])
        if reader.takes(message, "a message")
    }
    wrong = _place(found.get("mistake_step"))
    if wrong is not None and wrong in messages:
        message = messages[wrong]
        messages[wrong] = replace(message, significance="error", tags=(*message.tags, "mistake"))
    else:
        reader.notes.append(
            "The labelled mistake is not a message in the history, so it is kept only in the metadata."
        )
    reader.use()
    rest = {name: value for name, value in found.items() if name not in {"history", "system_prompt"}}
    label = system_event("label", ids.claim("label"), source=rest, output=rest)
    session = session_draft(
        reader.key(None, found),
        [*actions, *messages.values(), label],
        name=text_at(found, "question"),
        agent=NAME,
        metadata={name: found.get(name) for name in _METADATA},
    )
    return reader.parsed([session])


def _prompts(found: JsonObject, ids: Ids) -> list[ActionDraft]:
    prompts = record_at(found, "system_prompt")
    if not prompts and found.get("system_prompt") is not None:
        prompts = {"": found["system_prompt"]}
    return [
        ActionDraft(
            kind="message", id=ids.claim(f"prompt-{place}"), layer="sys", role="system",
            agent=short_text(name), output=prompt, source={"system_prompt": {name: prompt}},
        )
        for place, (name, prompt) in enumerate(prompts.items(), start=1)
    ]  # fmt: skip


def _message(message: JsonObject, name: str) -> ActionDraft:
    speaker = short_text_at(message, "name", "role")
    layer, role = "agent", "agent" if speaker else None
    if speaker in _TERMINALS:
        layer, role = "tool", "tool"
    elif speaker in {"human", "user"}:  # all others are agents; `user` is how one agent sees another
        role = "user"
    return ActionDraft(
        kind="message",
        id=name,
        layer=layer,
        role=role,
        agent=speaker,
        output=message.get("content"),
        source=message,
    )


def _place(written: Any) -> int | None:
    if isinstance(written, str) and _PLACE.fullmatch(written):
        return int(written)
    return written if isinstance(written, int) and not isinstance(written, bool) else None
