"""Patterns over HTTP: the same error or question in several sessions, what solved it, and the rules that watch for it."""

from typing import Final

from django.http import HttpRequest
from ninja import Query, Router, Status

from timemachine.api import paging
from timemachine.api.access import caller
from timemachine.core.accounts.models import Project
from timemachine.core.pure.errors import InvalidInput
from timemachine.memory.patterns import queries, rules
from timemachine.memory.patterns.reader import BACKLOG
from timemachine.memory.patterns.schemas import (
    PatternAlertOut,
    PatternAlerts,
    PatternDetails,
    PatternInSession,
    PatternOut,
    PatternPage,
    PatternRuleDeleted,
    PatternRuleIn,
    PatternRuleOut,
    PatternRules,
    PatternsIn,
    SimilarPattern,
    SimilarPatterns,
    WordingOut,
)
from timemachine.memory.patterns.similar import similar_to_step, similar_to_text

_LIKE: Final = frozenset({"similar_to", "text"})
router = Router(tags=["patterns"])


@router.get("", response=PatternPage | SimilarPatterns, summary="List patterns")
def index(request: HttpRequest, asked: Query[PatternsIn]) -> PatternPage | SimilarPatterns:
    """The errors and questions that occur in several sessions, most recent first; `q` is text of their wordings.

    `similar_to` (SESSION:STEP, which is read immediately) or `text` lists instead the patterns that a step or a text is like, at most 10: `like` is
    `same` (same wording) or `alike` (same words), and `resolution` is what solved the pattern in another session, null if no step shows that.
    `not_read` is how many steps of the project have not been read for patterns yet.
    """
    project = caller(request, "read").project
    if asked.model_fields_set & _LIKE:
        return _similar(project, asked)
    pattern_filter = queries.PatternFilter(**asked.model_dump(include=set(queries.PatternFilter.__slots__)))
    found = queries.patterns_of(project, pattern_filter)
    if asked.after is not None:
        found = queries.patterns_after(found, paging.read(asked.after, paging.name))
    rows, place = queries.patterns_page(found, pattern_filter, paging.checked_limit(asked.limit))
    trends, solved = queries.trends_of(rows), queries.resolutions_of([each.id for each in rows])
    return PatternPage.model_construct(
        items=[PatternOut.of(each, trends.get(each.id), solved.get(each.id)) for each in rows],
        next=place and paging.written([place]),
        not_read=BACKLOG.count(project.id),
    )


@router.get("/alerts", response=PatternAlerts, summary="List alerts")
def alerts(request: HttpRequest, limit: int = paging.DEFAULT, after: str | None = None) -> PatternAlerts:
    """Patterns that met a rule, each once per window, newest first."""
    found = queries.alerts_of(caller(request, "read").project)
    rows, following = paging.ordered_rows(found, limit, after)
    return PatternAlerts.model_construct(items=[PatternAlertOut.of(each) for each in rows], next=following)


@router.post("/alerts/{alert_id}/seen", response=PatternAlertOut, summary="Dismiss an alert")
def seen(request: HttpRequest, alert_id: str) -> PatternAlertOut:
    """Mark an alert as seen, so that the navigation no longer shows it."""
    who = caller(request, "run")
    return PatternAlertOut.of(rules.dismiss_alert(queries.alert_of(who.project, alert_id), by=who.by))


@router.get("/rules", response=PatternRules, summary="List rules")
def rule_index(request: HttpRequest) -> PatternRules:
    """The rules by which patterns are reported; a project has at most 20."""
    found = queries.rules_of(caller(request, "read").project)
    return PatternRules.model_construct(items=[PatternRuleOut.of(each) for each in found], next=None)


@router.post("/rules", response={201: PatternRuleOut}, summary="Create a rule")
def make_rule(request: HttpRequest, payload: PatternRuleIn) -> Status[PatternRuleOut]:
    """Report patterns that occur in at least this many sessions in one calendar day, week or month (UTC).

    Patterns that already meet the rule in the current window are reported immediately. A `url` is notified by POST with a pattern's address and
    counts, never with recorded text; setting one needs the scope `admin`.
    """
    who = caller(request, "admin" if payload.url else "run")
    return Status(201, PatternRuleOut.of(rules.create_rule(who.project, by=who.by, **payload.model_dump())))


@router.delete("/rules/{rule_id}", response=PatternRuleDeleted, summary="Delete a rule")
def delete_rule(request: HttpRequest, rule_id: str) -> PatternRuleDeleted:
    """Delete a rule and its alerts. If it has a `url`, this needs the scope `admin`, just as creating it does."""
    found = queries.rule_of(caller(request, "run").project, rule_id)
    if found.url:
        caller(request, "admin")
    rules.delete_rule(found)
    return PatternRuleDeleted.model_construct(deleted=rule_id)


@router.get("/{pattern_id}", response=PatternDetails, summary="One pattern")
def read(
    request: HttpRequest, pattern_id: str, limit: int = paging.DEFAULT, after: str | None = None
) -> PatternDetails:
    """A pattern with its wordings and its sessions, the one that had it last first: in which steps, and what solved it there.

    The id of a pattern that became part of another returns that one. `limit` and `after` count sessions.
    """
    pattern = queries.pattern_of(caller(request, "read").project, pattern_id)
    queries.with_current_counts([pattern])
    place = None if after is None else paging.read(after, paging.name)
    rows = queries.sessions_of(pattern, limit=paging.checked_limit(limit) + 1, after=place)
    shown = rows[:limit]
    return PatternDetails.of(
        pattern,
        queries.trends_of([pattern]).get(pattern.id),
        queries.resolutions_of([pattern.id]).get(pattern.id),
        wordings=[
            WordingOut.model_construct(text=text, steps=steps) for text, steps in queries.wordings_of(pattern)
        ],
        items=[PatternInSession.of(row) for row in shown],
        next=paging.written([queries.session_place(shown[-1])]) if len(rows) > limit else None,
    )


def _similar(project: Project, parameters: PatternsIn) -> SimilarPatterns:
    if parameters.similar_to and parameters.text:
        raise InvalidInput("Use `similar_to` or `text`.", code="invalid_field", field="text")
    named = "text" if "text" in parameters.model_fields_set else "similar_to"
    if not (parameters.similar_to or parameters.text.strip()):
        raise InvalidInput(
            f"`{named}` is empty. Send an error, a question, or a step to compare patterns with.",
            code="invalid_field",
            field=named,
        )
    given = parameters.model_fields_set - _LIKE - {"kind"}
    if given:
        name = min(given)
        raise InvalidInput(
            f"`{name}` cannot be combined with `{named}`. Leave it out.", code="invalid_field", field=name
        )
    found = (
        similar_to_step(project, parameters.similar_to, kind=parameters.kind)
        if parameters.similar_to
        else similar_to_text(project, parameters.text, kind=parameters.kind)
    )
    trends = queries.trends_of(queries.with_current_counts([each.pattern for each in found]))
    return SimilarPatterns.model_construct(
        items=[SimilarPattern.of_similar(each, trends.get(each.pattern.id)) for each in found],
        next=None,
        not_read=BACKLOG.count(project.id),
    )
