"""What the commands that launch replays share: the reason, the estimate, the progress and the spending."""

from __future__ import annotations

import getpass
from typing import TYPE_CHECKING

from timemachine.cli.formatting import local
from timemachine.cli.terminal import print_error
from timemachine.core.pure.numbers import counted, money, total_cost

if TYPE_CHECKING:
    from timemachine.client.generated import types


def reason_or_default(reason: str | None) -> str:
    """The reason, else "command line" and the user of this machine."""
    if reason is not None:
        return reason
    try:
        return f"command line, {getpass.getuser()}"
    except (OSError, KeyError):  # this machine does not know the user
        return "command line"


def print_estimate(found: types.Estimates | types.VariantEstimates) -> None:
    """Print the estimated cost by model or variant to standard error, if anything can cost money."""
    for each in found["estimates"]:
        if each["cost_usd"] or each["unknown_cost_calls"]:
            cost = total_cost(each["cost_usd"], each["unknown_cost_calls"])
            name = each.get("name") or each["model"] or "the recorded models"
            print_error(f"{counted(each['calls'], 'call')} with {name}: estimated cost {cost}.")


def replay_progress(found: types.ReplayOut | types.SuiteRunDetail) -> str:
    """The progress of a replay or of the run of a suite, in one line."""
    steps = found["steps"]
    finished = steps["done"] + steps["failed"] + steps["skipped"] + steps["cancelled"]
    spent = total_cost(found["cost_usd"], found["unknown_cost_calls"])
    return f"{found['status']}: {finished:,} of {counted(steps['total'], 'step')}, {spent}"


def busy_calls(waits: types.WaitingOut) -> str:
    """The calls that wait for a busy provider; empty if there are none."""
    if not waits["calls"]:
        return ""
    return f"; {counted(waits['calls'], 'busy call')} retried by {local(waits['until'])}"


def spending(found: types.ComparisonResults | types.SuiteRunDetail, limit_usd: float | None) -> list[str]:
    """What was spent, the limit, and by how much it was exceeded."""
    parts = [total_cost(found["cost_usd"], found["unknown_cost_calls"])]
    if limit_usd is not None:
        parts.append(f"limit {money(limit_usd)}")
    if found["over_limit_usd"]:
        parts.append(f"exceeded by {money(found['over_limit_usd'])}")
    return parts
