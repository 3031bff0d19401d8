"""Tools that find steps in all sessions: recall, search_sessions, similar_errors."""

from typing import Any, Final, Self

from pydantic import Field, model_validator

from timemachine.core.pure.json_types import JsonObject
from timemachine.mcp.api import Api, path_of
from timemachine.mcp.pages import page, place_of
from timemachine.mcp.reading import STEPS_AT_ONCE, StepItem, step_item
from timemachine.mcp.tool import NOTICE, Answer, Item, Paged, Tool, without_null
from timemachine.recording.sessions.pure.vocabulary import Kind, Significance

_MOST_RESULTS: Final = 50


class RecallArguments(Paged):
    """What to recall."""

    query: str = Field(
        description='A question in plain words. Time expressions ("last week", "yesterday") narrow the search.'
    )
    agent: str | None = Field(default=None, description="Only what this agent recorded.")
    user: str | None = Field(default=None, description="Only sessions of this user.")
    session: str | None = Field(default=None, description="Only this session (key or id).")
    besides: str | None = Field(
        default=None, description="Leave out this session (key or id), for example your own."
    )
    significances: list[Significance] = Field(
        default_factory=list, description="Only steps with one of these significances."
    )
    since: str | None = Field(
        default=None, description="Only steps at or after this time: RFC 3339 or a date."
    )
    until: str | None = Field(default=None, description="Only steps before this time: RFC 3339 or a date.")
    around: int = Field(
        default=0, ge=0, le=5, description="Also this many steps before and after each result."
    )


class Recalled(Answer):
    """Steps that answer the question, best first. `nothing` is why there are none."""

    results: list[StepItem]
    times: list[str] | None = None
    nothing: str | None = None
    not_indexed: int | None = None
    next: str | None = None


async def _recall(api: Api, asked: RecallArguments) -> JsonObject:
    place_of(asked.after)
    options = asked.model_dump(exclude={"query", "max_tokens", "after"}, exclude_none=True)
    found = await api.call(
        "POST",
        "/api/recall",
        body={"queries": [asked.query], "limit": _MOST_RESULTS if asked.around == 0 else 20, **options},
    )
    (answer,) = found["items"]
    head = {
        "notice": NOTICE,
        **without_null(
            times=[
                f"{time['words']}: {time['from'] or '…'} – {time['until'] or '…'}" for time in answer["times"]
            ],
            nothing=answer["nothing"],
            not_indexed=found["not_indexed"] or None,
        ),
    }
    items = [_recalled(each) for each in answer["results"]]
    return page(head, "results", items, after=asked.after, following=None, limit=asked.max_tokens)


def _recalled(found: JsonObject) -> JsonObject:
    around = found.get("around") or {"items": []}
    more = [step_item(each) for each in around["items"] if each["sequence"] != found["sequence"]]
    return {
        "session": found["session"]["key"],
        "session_name": found["session"]["name"],
        "step": found["sequence"],
        "kind": found["kind"],
        "who": found["role"] or found["label"],
        **without_null(
            significance=None if found["significance"] == "normal" else found["significance"],
            at=found["at"],
            failed=found["failed"] or None,
        ),
        "text": _passage(found),
        **without_null(around=more),
        **({"cut": True} if _is_part(found) else {}),
    }


def _passage(hit: JsonObject) -> str:
    return str(hit["passage"]["text"] if hit["passage"] else hit["label"])


def _is_part(hit: JsonObject) -> bool:
    passage = hit["passage"]
    return passage is None or not (passage["begins"] and passage["ends"])


class SearchArguments(Paged):
    """What to search for."""

    query: str = Field(
        description='Words that a step must contain, all of them; "…" for a phrase, -word to exclude, `or` between alternatives; identifiers and error codes as they are.'
    )
    agent: str | None = Field(default=None, description="Only steps of this agent.")
    kind: Kind | None = Field(default=None, description="Only steps of this kind.")
    tool: str | None = Field(default=None, description="Only calls of this tool.")
    model: str | None = Field(default=None, description="Only calls of this model, as provider:model.")
    status: str | None = Field(
        default=None, description="`error` or `ok` for the step, `recording` or `ended` for the session."
    )
    tag: str | None = Field(default=None, description="Only steps or sessions with this tag.")
    session: str | None = Field(default=None, description="Only this session (key or id).")
    since: str | None = Field(
        default=None, description="Only steps at or after this time: RFC 3339 or a date."
    )
    until: str | None = Field(default=None, description="Only steps before this time: RFC 3339 or a date.")


class MatchingSession(Item):
    """A session with its best steps; `matches` is how many of its steps have the words."""

    session: str
    name: str
    status: str
    steps: list[StepItem]
    agent: str | None = None
    started_at: str | None = None
    matches: int | None = None


class SearchMatches(Answer):
    """Sessions with matching steps, best first. `nothing` is why there are none."""

    sessions: list[MatchingSession]
    nothing: str | None = None
    not_indexed: int | None = None
    next: str | None = None


async def _search(api: Api, asked: SearchArguments) -> JsonObject:
    _, cursor = place_of(asked.after)
    filters = asked.model_dump(exclude={"query", "max_tokens", "after"}, exclude_none=True)
    found = await api.call(
        "GET", "/api/search", query={"q": asked.query, "limit": STEPS_AT_ONCE, "after": cursor, **filters}
    )
    head = {
        "notice": NOTICE,
        **without_null(nothing=found["nothing"], not_indexed=found["not_indexed"] or None),
    }
    items = [_matching(each) for each in found["items"]]
    return page(head, "sessions", items, after=asked.after, following=found["next"], limit=asked.max_tokens)


def _matching(group: JsonObject) -> JsonObject:
    session = group["session"]
    return {
        "session": session["key"],
        "name": session["name"],
        "status": session["status"],
        **without_null(agent=session["agent"], started_at=session["started_at"], matches=group["matches"]),
        "steps": [_hit(each) for each in group["hits"]],
    }


def _hit(found: JsonObject) -> JsonObject:
    return {
        "step": found["sequence"],
        "kind": found["kind"],
        "who": found["tool"] or found["name"] or found["model"] or found["kind"],
        **without_null(at=found["started_at"], failed=found["failed"] or None),
        "text": _passage(found),
        **({"cut": True} if _is_part(found) else {}),
    }


class SimilarArguments(Paged):
    """An error or question, as text or as a recorded step."""

    text: str | None = Field(default=None, description="The error message or question, as you see it.")
    session: str | None = Field(
        default=None, description="Instead of `text`: the session (key or id) of a recorded step …"
    )
    step: int | None = Field(default=None, ge=1, description="… and its number.")
    kind: str | None = Field(default=None, description="`error` or `question`; both if left out.")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        by_step = self.session is not None and self.step is not None
        if by_step == bool(self.text) or (self.session is None) != (self.step is None):
            raise ValueError("give `text`, or `session` and `step`")
        return self


class SimilarItem(Item):
    """An error or question of several sessions; `solved` is the step that solved it in one of them, absent if no step shows that."""

    text: str
    like: str
    sessions: int
    steps: int
    last_seen: str | None = None
    solved: StepItem | None = None
    how: str | None = None


class Similar(Answer):
    """Known errors and questions that are like this one. `not_read` steps are not analysed yet."""

    items: list[SimilarItem]
    not_read: int | None = None
    next: str | None = None


_TEXT_IN_URL: Final = 4_000


async def _similar(api: Api, asked: SimilarArguments) -> JsonObject:
    place_of(asked.after)
    what = (
        {"text": asked.text[:_TEXT_IN_URL]} if asked.text else {"similar_to": f"{asked.session}:{asked.step}"}
    )
    found = await api.call("GET", "/api/patterns", query={**what, "kind": asked.kind})
    items = [await _similar_item(api, each) for each in found["items"]]
    head = {"notice": NOTICE, **without_null(not_read=found["not_read"] or None)}
    return page(head, "items", items, after=asked.after, following=None, limit=asked.max_tokens)


async def _similar_item(api: Api, found: JsonObject) -> JsonObject:
    """Return the pattern with the whole step that solved it."""
    item = {
        "text": found["text"],
        "like": found["like"],
        "sessions": found["sessions"],
        "steps": found["steps"],
        **without_null(last_seen=found["last_seen"]),
    }
    solved = found["resolution"]
    if solved is None:
        return item
    named = solved["session"]
    step = await api.call("GET", path_of(named["id"], "actions", solved["solved_by"]))
    return {
        **item,
        "how": solved["says"],
        "solved": step_item(step, session=named["key"], session_name=named["name"]),
    }


FINDING: Final[tuple[Tool[Any], ...]] = (
    Tool(
        name="recall",
        title="Recall earlier sessions",
        description="Ask what earlier sessions of this project found out, in plain words: decisions, causes, solutions, what was tried. "
        "Use it at the start of a task and before solving a problem that may have come up before. Searches by meaning and keywords; for "
        "exact identifiers use search_sessions. Each result names its session and step, for get_step and get_transcript.",
        arguments=RecallArguments,
        answer=Recalled,
        run=_recall,
    ),
    Tool(
        name="search_sessions",
        title="Search sessions",
        description="Find sessions whose steps contain certain words, phrases or identifiers, with the matching steps. Use it for exact "
        "terms (file names, error codes, function names); for questions use recall. recorder_list lists sessions without a search.",
        arguments=SearchArguments,
        answer=SearchMatches,
        run=_search,
    ),
    Tool(
        name="similar_errors",
        title="Find similar errors",
        description="Look up an error message (or a question, or a recorded step) among those that occurred in earlier sessions, with the "
        "step that solved it. Use it as soon as you encounter an error, before debugging.",
        arguments=SimilarArguments,
        answer=Similar,
        run=_similar,
    ),
)
