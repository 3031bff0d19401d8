"""Patterns over HTTP: the same error or question in several sessions, what solved it, and the rules that watch for it."""

from typing import Any, Final

from django.http import HttpRequest
from ninja import Query, Router, Status

from timemachine.api import paging
from timemachine.api.access import caller
from timemachine.api.paging import checked_limit, page
from timemachine.api.pattern_schemas import PatternRuleIn, PatternsIn
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput
from timemachine.memory.patterns import rules
from timemachine.memory.patterns.document import (
    alert_json,
    in_session_json,
    listed,
    pattern_json,
    rule_json,
    similar_json,
    wording_json,
)
from timemachine.memory.patterns.queries import (
    Asked,
    alert_of,
    alerts_of,
    counted_now,
    page_now,
    pattern_of,
    patterns_after,
    patterns_of,
    resolutions_of,
    rule_of,
    rules_of,
    session_place,
    sessions_of,
    trends_of,
    wordings_of,
)
from timemachine.memory.patterns.reader import not_read
from timemachine.memory.patterns.similar import similar_to_step, similar_to_text

_LIKE: Final = frozenset({"similar_to", "text"})
router = Router(tags=["patterns"])


@router.get("", summary="List patterns")
def index(request: HttpRequest, asked: Query[PatternsIn]) -> dict[str, Any]:
    """The same error or question in several sessions, the one that was seen last first; `q` are characters of its wordings.

    `similar_to` (SESSION:STEP, read at once) or `text` asks instead which patterns a step or a text is like, at most 10: `like` is `same` (its
    wording) or `alike` (its words), and `resolution` is what solved it in another session, null where the steps show nothing. `not_read` is how
    many steps of the project are in no pattern because nobody read them yet.
    """
    project = caller(request, "read").project
    if asked.model_fields_set & _LIKE:
        return _similar(project, asked)
    wanted = Asked(**asked.model_dump(include=set(Asked.__slots__)))
    found = patterns_of(project, wanted)
    if asked.after is not None:
        found = patterns_after(found, paging.read(asked.after, paging.name))
    rows, place = page_now(found, wanted, checked_limit(asked.limit))
    trends, solved = trends_of(rows), resolutions_of([each.id for each in rows])
    return {
        "items": [pattern_json(each, trends.get(each.id), solved.get(each.id)) for each in rows],
        "next": place and paging.written([place]),
        "not_read": not_read(project.id),
    }


@router.get("/alerts", summary="List what rules found")
def alerts(request: HttpRequest, limit: int = paging.DEFAULT, after: str | None = None) -> dict[str, Any]:
    """Patterns that came as often as a rule says, each once for its window, the latest first."""
    found = alerts_of(caller(request, "read").project)
    if after is not None:
        found = found.filter(id__lt=paging.read(after, paging.identity))
    rows = list(found[: checked_limit(limit) + 1])
    return page(rows, limit, lambda each: [str(each.id)], alert_json)


@router.post("/alerts/{alert_id}/seen", summary="Put an alert aside")
def seen(request: HttpRequest, alert_id: str) -> dict[str, Any]:
    """Somebody has seen it: it is no mark in the navigation any more."""
    who = caller(request, "run")
    return alert_json(rules.put_aside(alert_of(who.project, alert_id), by=who.by))


@router.get("/rules", summary="List rules")
def rule_index(request: HttpRequest) -> dict[str, Any]:
    """The rules by which a pattern is worth telling; there are 20 at most."""
    return listed([rule_json(each) for each in rules_of(caller(request, "read").project)])


@router.post("/rules", response={201: dict[str, Any]}, summary="Make a rule")
def make_rule(request: HttpRequest, payload: PatternRuleIn) -> Status[dict[str, Any]]:
    """Watch for patterns that come again in so many sessions of one day, week or month (of the calendar, in UTC).

    Those that came so often in this one already are found at once. A `url` is told by POST of a pattern's address and figures, and of nothing that was recorded; to name one needs the scope `admin`.
    """
    who = caller(request, "admin" if payload.url else "run")
    made = rules.make_rule(who.project, by=who.by, **payload.model_dump())
    return Status(201, rule_json(made))


@router.delete("/rules/{rule_id}", summary="Delete a rule")
def delete_rule(request: HttpRequest, rule_id: str) -> dict[str, Any]:
    """Take a rule away, with what it found. One with a `url` needs the scope `admin`, as making it does."""
    found = rule_of(caller(request, "run").project, rule_id)
    if found.url:
        caller(request, "admin")
    rules.delete_rule(found)
    return {"deleted": rule_id}


@router.get("/{pattern_id}", summary="One pattern")
def read(
    request: HttpRequest, pattern_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> dict[str, Any]:
    """A pattern with its wordings and its sessions, the one that had it last first: in which steps, and what solved it there.

    The id of a pattern that became part of another leads to that one. `limit` and `after` count sessions.
    """
    pattern = pattern_of(caller(request, "read").project, pattern_id)
    counted_now([pattern])
    place = None if after is None else paging.read(after, paging.name)
    rows = sessions_of(pattern, limit=checked_limit(limit) + 1, after=place)
    shown = pattern_json(
        pattern, trends_of([pattern]).get(pattern.id), resolutions_of([pattern.id]).get(pattern.id)
    )
    wordings = [wording_json(text, steps) for text, steps in wordings_of(pattern)]
    return (
        shown | {"wordings": wordings} | page(rows, limit, lambda row: [session_place(row)], in_session_json)
    )


def _similar(project: Project, asked: PatternsIn) -> dict[str, Any]:
    if asked.similar_to and asked.text:
        raise InvalidInput("Ask for `similar_to` or for `text`.", code="invalid_field", field="text")
    named = "text" if "text" in asked.model_fields_set else "similar_to"
    if not (asked.similar_to or asked.text.strip()):
        raise InvalidInput(
            f"`{named}` is empty; say what patterns shall be like: an error, a question, or a step.",
            code="invalid_field",
            field=named,
        )
    given = asked.model_fields_set - _LIKE - {"kind"}
    if given:
        name = min(given)
        raise InvalidInput(
            f"`{name}` does not go with a step or a text that patterns are like; leave it out.",
            code="invalid_field",
            field=name,
        )
    found = (
        similar_to_step(project, asked.similar_to, kind=asked.kind)
        if asked.similar_to
        else similar_to_text(project, asked.text, kind=asked.kind)
    )
    trends = trends_of(counted_now([each.pattern for each in found]))
    items = [similar_json(each, trends.get(each.pattern.id)) for each in found]
    return listed(items) | {"not_read": not_read(project.id)}
