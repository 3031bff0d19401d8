"""Chat histories of Aider (`.aider.chat.history.md`): one session per `# aider chat started at` line.

Lines that start with `####` are the user's, `>` what Aider printed, all others the model's answer. A line with tokens
and cost is a model call, and the answers since the last one are under it. Aider rounds the counts ("1.2k"); such calls
have the tag `rounded`. The model is the one printed last; it stays unknown in architect mode, which uses two. Times
have no offset and are read as UTC.

The report counts blocks of such lines. Source: aider/io.py and aider/coders/base_coder.py of Aider-AI/aider.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Final

from timemachine.recording.importing.pure.contents import check_lines
from timemachine.recording.importing.pure.drafts import Ids, id_with_digest, session_draft
from timemachine.recording.importing.pure.reader import Opening, Reader
from timemachine.recording.importing.pure.report import ParsedFile, SessionDraft
from timemachine.recording.importing.pure.values import dollars, model_name, moment, short_text
from timemachine.recording.sessions.pure.draft import ActionDraft, Usage
from timemachine.recording.sessions.pure.validation import MOST_TOKENS

NAME: Final = "aider"
TITLE: Final = "Aider chat history (.aider.chat.history.md)"
_START: Final = re.compile(r"# aider chat started at (.*)")
_STARTS: Final = re.compile(r"^# aider chat started at \d", re.MULTILINE)
_COUNT: Final = r"([\d.,]{1,20}[kM]?)"
_TOKENS: Final = re.compile(
    rf"Tokens: {_COUNT} sent(?:, {_COUNT} cache write)?(?:, {_COUNT} cache hit)?, {_COUNT} received"
)
_COST: Final = re.compile(r"Cost: \$([\d.,]{1,20}) (?:message|request|send)\b")
_MODEL: Final = re.compile(r"(?:Main model|Models?): ([^\s,]+)(.*)")
_FAILURE: Final = re.compile(r"(?:Unexpected error: )?litellm\.(?:\w+\.)*(\w+(?:Error|Exception))\b")
_UNITS: Final = {"k": 1_000, "M": 1_000_000}
_UTC: Final = "Aider records local times without a UTC offset, so they were read as UTC."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """Consecutive lines of one kind: `start`, `user`, `report`, `aider` or `answer`, without their prefixes."""

    kind: str
    text: str


def recognises(opening: Opening) -> bool:
    """Return whether a line says that a chat of Aider started."""
    return _STARTS.search(opening.text) is not None


def read(reader: Reader) -> ParsedFile:
    """Return one session per start. Raises `InvalidInput` (`unknown_format`) for a file without a start."""
    text = reader.text()
    if _STARTS.search(text) is None:
        raise reader.refusal("no line starts with `# aider chat started at`.")
    check_lines(text.count("\n"))
    chats: list[list[_Block]] = []
    for block in _blocks(text.split("\n")):
        reader.use()
        if block.kind == "start" or not chats:
            chats.append([])
        chats[-1].append(block)
    sessions = [_session(chat, reader) for chat in chats]
    if any(session.started_at for session in sessions):
        reader.notes.append(_UTC)
    return reader.parsed(sessions)


def _kind(line: str, before: str) -> tuple[str, str]:
    """Return the kind of a line and its text. The cost can be on a line of its own after the tokens."""
    text = line.removeprefix("> ") if line.startswith("> ") else ""
    if _START.match(line):
        return "start", line
    if _TOKENS.match(text) or (before == "report" and _COST.match(text or line)):
        return "report", text or line
    if line.startswith("#### ") or line == "####":
        return "user", line[5:]
    if line.startswith("> ") or line == ">":
        return "aider", line[2:]
    return "answer", line


def _blocks(lines: list[str]) -> Iterator[_Block]:
    """Yield the blocks. A blank line ends all but an answer; a new report or start is a block of its own."""
    kind, held = "", list[str]()
    for line in (each.rstrip() for each in lines):
        found, text = ("blank", "") if not line else _kind(line, kind)
        if found == "blank" and kind == "answer":
            held.append("")
            continue
        if found != kind or found == "start" or (found == "report" and _TOKENS.match(text)):
            if held and kind != "blank":
                yield _Block(kind=kind, text="\n".join(held).strip("\n"))
            kind, held = found, []
        held.append(text)
    if held and kind != "blank":
        yield _Block(kind=kind, text="\n".join(held).strip("\n"))


def _session(blocks: list[_Block], reader: Reader) -> SessionDraft:
    first = _START.match(blocks[0].text)
    started = moment(first[1].strip(), offset_missing=True) if first else None
    head = [each.text for each in blocks[:2]]  # of a chat that goes on, these stay as they are
    name = next((each.text for each in blocks if each.kind == "user" and not each.text.startswith("/")), None)
    return session_draft(
        reader.key(id_with_digest("aider", head), None),
        _actions(blocks),
        name=name,
        agent="aider",
        started_at=started,
    )


def _actions(blocks: list[_Block]) -> list[ActionDraft]:
    ids = Ids()
    made: list[ActionDraft] = []
    answers: list[int] = []  # places in `made` of the answers that no report has followed yet
    model: str | None = None
    for place, block in enumerate(blocks, start=1):
        base = ActionDraft(
            kind="event", id=ids.claim(f"block-{place}"), layer="sys", role="system", agent="aider",
            source={"kind": block.kind, "text": block.text},
        )  # fmt: skip
        if block.kind == "report":
            call = _call(block.text, model, base)
            for at in answers:
                made[at] = replace(made[at], parent=call.id)
            made.insert(answers[0] if answers else len(made), call)
            answers = []
        elif block.kind == "answer":
            answers.append(len(made))
            made.append(replace(base, kind="message", layer="agent", role="agent", output=block.text))
        elif block.kind == "user":
            answers = []
            command = ("command",) if block.text.startswith("/") else ()
            made.append(
                replace(
                    base, kind="message", layer="agent", role="user", agent=None, tags=command,
                    output=block.text,
                )
            )  # fmt: skip
        else:
            model = _model(block.text, model)
            made.append(_printed(block, base))
    return made


def _model(text: str, before: str | None) -> str | None:
    for line in text.split("\n"):
        if found := _MODEL.match(line):
            before = None if "architect" in found[2] else model_name(short_text(found[1]))
    return before


def _printed(block: _Block, base: ActionDraft) -> ActionDraft:
    failure = next((found for line in block.text.split("\n") if (found := _FAILURE.match(line))), None)
    return replace(
        base,
        name=block.kind,
        output=block.text,
        error_type=short_text(failure[1]) if failure else None,
        error_message=failure.string if failure else None,
    )


def _call(text: str, model: str | None, base: ActionDraft) -> ActionDraft:
    found = _TOKENS.match(text)
    sent, written, hit, received = (_tokens(each) for each in found.groups()) if found else [None] * 4
    cost = _COST.search(text)
    rounded = found is not None and any(each and each[-1] in _UNITS for each in found.groups())
    if sent is not None and hit is not None and hit > sent:  # then what was sent cannot include it
        sent += hit
    usage = Usage(input_tokens=sent, output_tokens=received, cached_tokens=hit, cache_write_tokens=written)
    return replace(
        base,
        kind="llm_call",
        layer="agent",
        role="agent",
        model=model,
        tags=("rounded",) if rounded else (),
        usage=None if usage == Usage() else usage,
        cost_usd=dollars(cost[1].rstrip(".,").replace(",", "")) if cost else None,
    )


def _tokens(written: str | None) -> int | None:
    """Return the tokens of a rounded count, such as 1.2k."""
    if written is None:
        return None
    unit = _UNITS.get(written[-1], 1)
    digits = written.rstrip("kM").replace(",", "")
    if digits.count(".") > 1 or not digits.strip("."):
        return None
    count = int(Decimal(digits) * unit)
    return count if count <= MOST_TOKENS else None
