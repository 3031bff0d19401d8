"""Which spans repeat others: the same numbers as those of calls inside them, or the same call, recorded twice.

Of spans around a call, only the call counts. Of spans inside each other without a call, the outermost counts that states more
than those inside together. Two spans of one call are one call, even if only one of them states tokens: a framework and the client
that it uses are often instrumented both.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from timemachine.recording.otel.pure.claude_code import TOOL_RESULT, TOOL_SPAN
from timemachine.recording.otel.pure.counts import (
    CALL,
    EVENT,
    TOOL,
    is_counted,
    is_embedding,
    states_sums,
    tokens_of,
)
from timemachine.recording.otel.pure.double_recording import have_two_senders, recorded_twice
from timemachine.recording.sessions.pure.draft import ActionDraft

_TOOLS: Final = (TOOL, "find")
_DEEPEST: Final = 100
"""How many spans above a span are looked at."""
_OF_MCP: Final = "tools/call"
"""Begins the names of MCP's spans (https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """Ids of drafts and recorded actions whose numbers repeat those of others (`sums`), and of drafts that are the same call as
    another span, with its id (`calls`)."""

    sums: frozenset[str]
    calls: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Nested:
    """Two spans inside each other, and the spans between them."""

    inner: ActionDraft
    outer: ActionDraft
    between: Sequence[ActionDraft]

    def involves(self, names: Collection[str]) -> bool:
        """Return whether one of the spans has one of these ids."""
        return any(str(each.id) in names for each in (self.inner, self.outer, *self.between))

    @property
    def past_tool(self) -> bool:
        return any(each.kind in _TOOLS for each in self.between)

    @property
    def past_agent(self) -> bool:
        return any(each.kind == EVENT and each.layer == "agent" for each in (self.inner, *self.between))


def repeats_of(drafts: Sequence[ActionDraft], recorded: Iterable[ActionDraft]) -> Repeats:
    """Return what the drafts and recorded actions repeat, by the tree of their parents. Of two recorded actions, only if a
    draft connects them."""
    before = {str(each.id): each for each in recorded}
    every = before | {str(each.id): each for each in drafts}
    new = {str(each.id) for each in drafts}
    related = [pair for name in every for pair in _pairs(name, every)]
    nested = [pair for pair in related if pair.involves(new)]
    of_agents, of_tools = _tokens_of_agents(nested), _tokens_of_tools(related)
    around: list[_Nested] = []
    others: list[_Nested] = []
    for pair in nested:
        (around if _repeats_sums(pair, of_tools) else others).append(pair)
    repeating = (_repeating(pair, new, of_agents, of_tools) for pair in others)
    of_calls = {str(found.id) for found in repeating if found is not None}
    sums = of_calls | _sums_in_sums(around, of_calls)
    calls: dict[str, str] = {}
    for pair in nested:
        same = _same_call(pair, new, sums) or _same_tool_call(pair, new)
        if same is not None:
            other = pair.outer if same is pair.inner else pair.inner
            calls.setdefault(str(same.id), str(other.id))
    remaining = (each for name, each in every.items() if name not in sums and name not in calls)
    for twice, call in recorded_twice(remaining, new):
        if is_counted(call):
            sums.add(str(twice.id))
        else:
            calls[str(twice.id)] = str(call.id)
    return Repeats(sums=frozenset(sums), calls=calls)


def _repeats_sums(pair: _Nested, of_tools: Mapping[str, tuple[int, int]]) -> bool:
    """Return whether both spans are around calls and one of them repeats the other one's sums."""
    if not (states_sums(pair.inner) and states_sums(pair.outer)):
        return False
    return not (pair.past_tool and _has_own(pair, of_tools))


def _sums_in_sums(pairs: Sequence[_Nested], of_calls: Collection[str]) -> set[str]:
    """Return the ids of spans whose sums repeat those of another span around no recorded call. The outer one counts if it states
    more than those inside together; otherwise these count."""
    inside: dict[str, list[ActionDraft]] = {}
    placed: set[str] = set()
    for pair in pairs:  # of each span, the nearest around it comes first
        inner, outer = str(pair.inner.id), str(pair.outer.id)
        if inner not in placed and inner not in of_calls and outer not in of_calls:
            placed.add(inner)
            inside.setdefault(outer, []).append(pair.inner)
    outers = {str(pair.outer.id): pair.outer for pair in pairs}
    repeating: set[str] = set()
    waiting = [(outers[name], False) for name in inside if name not in placed]
    while waiting:
        span, repeats = waiting.pop()
        within = inside.get(str(span.id), [])
        contains = bool(within) and not repeats and _consists_of(span, within)
        if repeats or (within and not contains):
            repeating.add(str(span.id))
        waiting += [(each, repeats or contains) for each in within]
    return repeating


def _consists_of(outer: ActionDraft, inner: Sequence[ActionDraft]) -> bool:
    """Return whether a span states more than the sums of those inside it, and nothing less."""
    tokens = tuple(sum(counts) for counts in zip(*map(tokens_of, inner), strict=True))
    if any(tokens_of(outer)):
        own = tokens_of(outer)
        return own != tokens and all(more >= less for more, less in zip(own, tokens, strict=True))
    return not any(tokens) and (outer.cost_usd or 0) > sum(each.cost_usd or 0 for each in inner)


def _repeating(
    pair: _Nested,
    new: Collection[str],
    of_agents: Mapping[str, tuple[int, int]],
    of_tools: Mapping[str, tuple[int, int]],
) -> ActionDraft | None:
    """Return which of the two repeats the numbers of the other one; None if neither does.

    What a tool did during a call is not part of the call's numbers. Nor is what another agent did, such as one to which the
    conversation was handed over, unless the numbers are the same. An agent whose tool called a model has called one itself, so
    its numbers are its own, unless they are those of its tools.
    """
    inner, outer = pair.inner, pair.outer
    if not (is_counted(inner) and is_counted(outer) and _covers(outer, inner)):
        return None
    if outer.kind == EVENT:
        return None if pair.past_tool and _has_own(pair, of_tools) else outer
    of_agent = pair.past_agent and tokens_of(outer) not in (tokens_of(inner), of_agents.get(str(outer.id)))
    if outer.kind != CALL or pair.past_tool or of_agent:
        return None
    return outer if inner.kind == CALL and str(outer.id) in new else inner


def _has_own(pair: _Nested, of_tools: Mapping[str, tuple[int, int]]) -> bool:
    """Return whether the numbers of a span around a tool are not those of what the tool called."""
    outer = tokens_of(pair.outer)
    return outer not in ((0, 0), tokens_of(pair.inner), of_tools.get(str(pair.outer.id)))


def _tokens_of_agents(nested: Sequence[_Nested]) -> dict[str, tuple[int, int]]:
    """Return, by the id of a call, the tokens read and written by the calls of agents that ran during it."""
    around = {id(pair.outer) for pair in nested if is_counted(pair.inner)}
    found: dict[str, tuple[int, int]] = {}
    for pair in nested:
        is_call = pair.inner.kind == CALL and id(pair.inner) not in around
        if is_call and pair.outer.kind == CALL and pair.past_agent and not pair.past_tool:
            read, written = found.get(str(pair.outer.id), (0, 0))
            more = tokens_of(pair.inner)
            found[str(pair.outer.id)] = (read + more[0], written + more[1])
    return found


def _tokens_of_tools(related: Sequence[_Nested]) -> dict[str, tuple[int, int]]:
    """Return, by the id of a span around tools, the tokens read and written by what these tools called."""
    around = {id(pair.outer) for pair in related if is_counted(pair.inner)}
    found: dict[str, tuple[int, int]] = {}
    for pair in related:
        if pair.past_tool and is_counted(pair.inner) and id(pair.inner) not in around:
            read, written = found.get(str(pair.outer.id), (0, 0))
            more = tokens_of(pair.inner)
            found[str(pair.outer.id)] = (read + more[0], written + more[1])
    return found


def _same_call(pair: _Nested, new: Collection[str], sums: Collection[str]) -> ActionDraft | None:
    """Return which span of a model call is too many, if only one of the two states numbers, or none."""
    inner, outer = pair.inner, pair.outer
    both = is_counted(inner) and is_counted(outer)
    calls = inner.kind == outer.kind == CALL and is_embedding(inner) == is_embedding(outer)
    if both or not calls or pair.past_tool or pair.past_agent or str(outer.id) in sums:
        return None
    order = (inner, outer) if is_counted(outer) else (outer, inner)
    return next((each for each in order if str(each.id) in new), None)


def _same_tool_call(pair: _Nested, new: Collection[str]) -> ActionDraft | None:
    """Return which span of a tool call is too many: two instrumentations recorded it, or MCP passed it on."""
    inner, outer = pair.inner, pair.outer
    if inner.kind != TOOL or outer.kind != TOOL or inner.tool != outer.tool or pair.past_agent:
        return None
    if any(each.kind != EVENT and each.tool != outer.tool for each in pair.between):
        return None
    same_id = inner.call_id is not None and inner.call_id == outer.call_id
    same_id = same_id or (inner.name, outer.name) == (TOOL_RESULT, TOOL_SPAN)
    if not (same_id or _is_of_mcp(inner) or _is_of_mcp(outer) or have_two_senders(inner, outer)):
        return None
    return next((each for each in (inner, outer) if str(each.id) in new), None)


def _is_of_mcp(draft: ActionDraft) -> bool:
    return (draft.name or "").startswith(_OF_MCP)


def _covers(outer: ActionDraft, inner: ActionDraft) -> bool:
    """Return whether the numbers of `outer` include those of a counted action inside it.

    Those of an agent that wrote tokens, or of a chat, do not consist of embeddings.
    """
    wrote = outer.usage is not None and bool(outer.usage.output_tokens)
    is_chat = outer.kind == CALL and not is_embedding(outer)
    return not (is_embedding(inner) and (wrote or is_chat))


def _pairs(inner: str, every: Mapping[str, ActionDraft]) -> Iterator[_Nested]:
    """Yield an action with each one above it that it can repeat, the nearest first."""
    if not _can_repeat(every[inner]):
        return
    between: list[str] = []
    name = every[inner].parent
    while isinstance(name, str) and name in every and name != inner and name not in between:
        if _can_repeat(every[name]):
            above = [every[each] for each in between]
            yield _Nested(inner=every[inner], outer=every[name], between=above)
        between.append(name)
        name = every[name].parent if len(between) < _DEEPEST else None


def _can_repeat(draft: ActionDraft) -> bool:
    return draft.kind in (CALL, TOOL) or is_counted(draft)
