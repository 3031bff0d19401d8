"""Retention rules over HTTP: how long sessions are kept, and what that would delete now."""

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api.access import caller
from timemachine.governance.deletion.retention import retention
from timemachine.governance.deletion.retention.queries import amount_of, due_by, rule_of, rules_of
from timemachine.governance.deletion.retention.schemas import (
    RetentionFloor,
    RetentionPreview,
    RetentionRuleIn,
    RetentionRuleOut,
    RetentionRules,
)

router = Router(tags=["forgetting"])


@router.get("", response=RetentionRules, summary="Retention rules")
def index(request: HttpRequest) -> RetentionRules:
    """The project's rules, the most specific first, each with what it would delete now (`due`). Sessions that no rule covers are kept for good."""
    rules = list(rules_of(caller(request, "read").project))
    items = [RetentionRuleOut.of(rule, amount_of(due_by(rule, rules))) for rule in rules]
    return RetentionRules.model_construct(items=items, floor=RetentionFloor.now())


@router.post("", response={200: RetentionPreview, 201: RetentionRuleOut}, summary="Set a retention rule")
def set_(request: HttpRequest, payload: RetentionRuleIn) -> Status[RetentionPreview | RetentionRuleOut]:
    """Keep the sessions of an `agent`, with a `tag`, both, or all others for `days` after the last recording in them; null for good.

    If several rules cover a session, the most specific holds: a tag and an agent, a tag, an agent, all; of equals, the one that keeps longer.
    Fewer than 183 days need a `reason`. With `dry_run`, nothing is set, and the answer says what the rule would delete today (`due`), when the
    first session that is not held is or was old enough (`first`), and which rule it would replace (`replaces`). Setting the same rule again
    changes nothing.
    """
    who = caller(request, "admin")
    given = payload.model_dump(exclude={"dry_run"})
    if payload.dry_run:
        return Status(200, RetentionPreview.of(retention.preview(who.project, **given | {"reason": None})))
    made = retention.set_rule(who.project, by=who.by, **given)
    rules = list(rules_of(who.project))
    return Status(201, RetentionRuleOut.of(made, amount_of(due_by(made, rules))))


@router.delete("/{rule_id}", response=RetentionRuleOut, summary="Remove a retention rule")
def remove(request: HttpRequest, rule_id: str) -> RetentionRuleOut:
    """Remove a rule. Sessions that no other rule covers are then kept for good."""
    who = caller(request, "admin")
    return RetentionRuleOut.of(retention.remove_rule(rule_of(who.project, rule_id), by=who.by))
