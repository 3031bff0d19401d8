"""Retention rules over HTTP: how long sessions are kept, and what that would delete now."""

from dataclasses import asdict
from typing import Any

from django.http import HttpRequest
from ninja import Router, Status

from timemachine.api.access import caller
from timemachine.api.forgetting_schemas import RetentionRuleIn
from timemachine.core.pure.clock import written
from timemachine.governance.deletion.retention import retention
from timemachine.governance.deletion.retention.document import floor_json, rule_json
from timemachine.governance.deletion.retention.queries import amount_of, due_by, rule_of, rules_of

router = Router(tags=["forgetting"])


@router.get("", summary="Retention rules")
def index(request: HttpRequest) -> dict[str, Any]:
    """The project's rules, the most specific first, each with what it would delete now (`due`); what no rule covers is kept for good."""
    rules = list(rules_of(caller(request, "read").project))
    items = [rule_json(rule, amount_of(due_by(rule, rules))) for rule in rules]
    return {"items": items, "floor": floor_json()}


@router.post("", response={200: dict[str, Any], 201: dict[str, Any]}, summary="Set a retention rule")
def set_(request: HttpRequest, payload: RetentionRuleIn) -> Status[dict[str, Any]]:
    """Keep the sessions of an `agent`, with a `tag`, both, or all others for `days` after something was last recorded in them; null for good.

    Of several rules that cover a session the most specific holds: a tag and an agent, a tag, an agent, all; of equals the one that keeps longer.
    Fewer than 183 days need a `reason`. With `dry_run` the answer says what the rule would delete today (`due`) and when the first session that is not held
    is or was old enough (`first`), which rule it takes the place of (`replaces`), and nothing is set. The very same rule again is the rule there is.
    """
    who = caller(request, "admin")
    asked = payload.model_dump(exclude={"dry_run"})
    if payload.dry_run:
        found = retention.preview(who.project, **asked | {"reason": None})
        replaces = found.replaced and rule_json(found.replaced)
        seen = {"due": asdict(found.due), "first": written(found.first), "replaces": replaces}
        return Status(200, seen | {"floor": floor_json()})
    made = retention.set_rule(who.project, by=who.by, **asked)
    rules = list(rules_of(who.project))
    return Status(201, rule_json(made, amount_of(due_by(made, rules))))


@router.delete("/{rule_id}", summary="Remove a retention rule")
def remove(request: HttpRequest, rule_id: str) -> dict[str, Any]:
    """Take a rule away; what no other rule covers is kept for good from then on."""
    who = caller(request, "admin")
    return rule_json(retention.remove_rule(rule_of(who.project, rule_id), by=who.by))
