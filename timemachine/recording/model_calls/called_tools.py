"""The tools that the agents of a session called, for requests without definitions of tools, and the agents that write
their calls into their text."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber

from timemachine.core.payloads.stored import bytes_of
from timemachine.core.pure.content import value_of
from timemachine.llm.pure.requests.neutral import Tool, ToolCall
from timemachine.recording.model_calls.pure.inferred_tools import inferred_tools
from timemachine.recording.model_calls.pure.values import answer_parts
from timemachine.recording.sessions.models import Action, Session
from timemachine.recording.sessions.pure.vocabulary import IN_TEXT, MODEL_CALL

_CALLS_OF_A_TOOL: Final = 50
_ANSWERS_OF_AN_AGENT: Final = 200
"""So many are read: definitions are inferred from the first ones."""
_CALLS_READ: Final = 200
"""So many calls tell whether an agent writes them into its text."""

type ByAgent = Mapping[str | None, tuple[Tool, ...]]


def called_tools(session: Session) -> ByAgent:
    """Return the definitions that can be inferred from the tool calls of each agent, in the session and in the one that it
    continues. Two queries."""
    found: dict[str | None, list[ToolCall]] = defaultdict(list)
    actions = _actions_of(session)
    for agent, call in (*_tool_calls(actions), *_answered_calls(actions)):
        found[agent].append(call)
    return {agent: inferred_tools(calls) for agent, calls in found.items()}


def agents_calling_in_text(session: Session, through: int | None = None) -> Collection[str | None]:
    """Return the agents that wrote all their calls into the text of their answers, in the session up to a step and in the
    one that it continues. One query."""
    actions = _actions_of(session) if through is None else session.actions.filter(sequence__lte=through)
    calls = actions.filter(kind="tool_call").order_by("sequence")[:_CALLS_READ]
    by_agent: dict[str | None, list[bool]] = defaultdict(list)
    for agent, tags in calls.values_list("agent", "tags"):
        by_agent[agent].append(IN_TEXT in tags)
    return {agent for agent, written in by_agent.items() if all(written)}


def _actions_of(session: Session) -> QuerySet[Action]:
    sessions = [each for each in (session.id, session.parent_id) if each is not None]
    return Action.objects.filter(session__in=sessions)


def _tool_calls(actions: QuerySet[Action]) -> Iterator[tuple[str | None, ToolCall]]:
    number = Window(RowNumber(), partition_by=[F("agent"), F("tool")], order_by=F("id"))
    made = actions.filter(kind="tool_call", tool__isnull=False).exclude(tags__contains=[IN_TEXT])
    calls = made.alias(number=number)
    rows = calls.filter(number__lte=_CALLS_OF_A_TOOL)
    for agent, tool, media_type, data in rows.values_list(
        "agent", "tool", "input__media_type", bytes_of("input")
    ):
        given = None if media_type is None else value_of(media_type, data)
        yield agent, ToolCall(id="", name=tool or "", arguments=given)


def _answered_calls(actions: QuerySet[Action]) -> Iterator[tuple[str | None, ToolCall]]:
    number = Window(RowNumber(), partition_by=[F("agent")], order_by=F("id"))
    answers = actions.filter(kind=MODEL_CALL, output__isnull=False).alias(number=number)
    rows = answers.filter(number__lte=_ANSWERS_OF_AN_AGENT)
    for agent, media_type, data in rows.values_list("agent", "output__media_type", bytes_of("output")):
        parts = answer_parts(value_of(media_type, data))
        yield from ((agent, part) for part in parts if isinstance(part, ToolCall))
