"""`comparison`: several models over the same frozen contexts, with statistics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import click

from timemachine.cli import options
from timemachine.cli.command import InOrder
from timemachine.cli.connection import connected
from timemachine.cli.failure import ConditionHeld, Failure
from timemachine.cli.formatting import visible
from timemachine.cli.launching import print_estimate, reason_or_default
from timemachine.cli.output.comparisons import (
    comparison_lines,
    comparison_progress,
    judging_estimate,
    judging_progress,
    listed_comparisons,
    opinion_lines,
)
from timemachine.cli.terminal import Progress, announce, checked_when_shown, show, waiting, wants_json
from timemachine.core.pure.conditions import Condition, reasons_to_fail

if TYPE_CHECKING:
    from timemachine.client.client import Client
    from timemachine.client.generated import types


@click.group(cls=InOrder)
def comparison() -> None:
    """Compare models or prompts over the same frozen contexts."""


@comparison.command()
@click.argument("sessions", metavar="SESSION…", nargs=-1, required=True)
@click.option(
    "--model",
    "--arm",
    "variants",
    multiple=True,
    required=True,
    type=options.VariantType(),
    metavar="VARIANT",
    help="A variant: provider:model, optionally followed by settings for this variant only, for example 'openai:gpt-4o temperature=0 system-prompt=@brief.txt'. Give two "
    "to eight.",
)
@click.option(
    "--repeats", type=int, default=1, metavar="N", help="How many times to run each variant (default 1)."
)
@click.option("--noise-floor", is_flag=True, help="Run each variant once more, to compare it with itself.")
@options.call_options
@options.spend_limit
@click.option("--reason", metavar="TEXT", help="Why; stored with the comparison.")
@options.fail_on(
    " for a variant: any verdict, like altered, error, numbers_differ or other_tool, or cost:USD"
)
@click.option("--no-wait", is_flag=True, help="Launch it and do not wait.")
@options.as_json
def create(
    *,
    sessions: tuple[str, ...],
    variants: tuple[types.VariantIn, ...],
    repeats: int,
    noise_floor: bool,
    spend_limit_usd: float | None,
    reason: str | None,
    fail_on: tuple[Condition, ...],
    no_wait: bool,
    **shared: Any,
) -> None:
    """Repeat the asks and model calls of these sessions with each variant, over their frozen contexts.

    Prints the estimated cost, waits with a progress line, then shows the results of each variant and each pair of them. Exits with 3
    if a --fail-on condition is true for a variant.
    """
    if no_wait and fail_on:
        raise click.UsageError("--fail-on needs the result, so you cannot combine it with --no-wait.")
    defaults = {name: value for name, value in shared.items() if value is not None}
    complete = [cast("types.VariantIn", {**defaults, **variant}) for variant in variants]
    client = connected()
    if not wants_json():
        print_estimate(
            client.comparisons.estimate(
                sessions,
                complete,
                repeats=repeats,
                noise_floor=noise_floor,
                spend_limit_usd=spend_limit_usd,
            )
        )
    launched = client.comparisons.launch(
        sessions,
        complete,
        reason=reason_or_default(reason),
        repeats=repeats,
        noise_floor=noise_floor,
        spend_limit_usd=spend_limit_usd,
    )
    if no_wait:
        show(launched, [page_url(client, launched["comparison_id"])])
        return
    done = waited(client, launched["comparison_id"])
    replays = [client.replays.get(each) for each in launched["replay_ids"]] if fail_on else []
    with checked_when_shown(lambda: check(done, replays, fail_on)):
        show(done, comparison_lines(done, page_url(client, done["id"])))


@comparison.command()
@click.argument("comparison_id", metavar="ID")
@options.as_json
def view(*, comparison_id: str) -> None:
    """Show the results of each variant and each pair; for a running comparison, the results so far."""
    client = connected()
    found = client.comparisons.results(comparison_id)
    show(found, comparison_lines(found, page_url(client, found["id"])))


@comparison.command()
@click.argument("comparison_id", metavar="ID")
@click.option("--model", required=True, metavar="M", help="The judge model, as provider:model.")
@click.option("--estimate", is_flag=True, help="Print the estimated cost and exit.")
@options.as_json
def judge(*, comparison_id: str, model: str, estimate: bool) -> None:
    """Let a judge model rate every changed answer.

    The judge model sees the question, the passages and both answers twice, in swapped order. Its verdict is stored separately; no
    verdict changes. Exits with 1 if it rated no answer.
    """
    client = connected()
    about = client.comparisons.judge_estimate(comparison_id, model=model)
    if estimate:
        show(about, [judging_estimate(about)])
        return
    if not wants_json():
        announce(f"Asking {about['model']}: {judging_estimate(about)}")
    requested = client.comparisons.judge(comparison_id, model=model)
    with Progress() as progress:
        found = client.comparisons.wait_for_judges(
            comparison_id, lambda each: progress.update(judging_progress(each["judges"]))
        )
    opinions = [
        opinion
        for ask in client.comparisons.cells(comparison_id)
        for cell in ask["cells"]
        for opinion in cell["opinions"]
        if opinion["model"] == requested["model"]
    ]
    with checked_when_shown(lambda: _check_opinions(requested, opinions)):
        show({**requested, "opinions": opinions}, opinion_lines(found, requested, opinions))


def _check_opinions(requested: types.JudgeQueued, opinions: Sequence[types.OpinionOut]) -> None:
    """Fail if the judge model rated none of the answers it was asked about now. It is not asked about those it rated before."""
    without = [each for each in opinions if each["state"] != "done"]
    if len(without) < requested["cells"]:
        return
    why = next((each["error"]["message"] for each in without if each["error"]), "it was not called.")
    raise Failure(visible(f"{requested['model']} rated no answer: {why}"))


@comparison.command("list")
@options.as_json
def list_comparisons() -> None:
    """List the newest comparisons."""
    page = connected().comparisons.page()
    show(page, listed_comparisons(page["items"]))


@comparison.command()
@click.argument("comparison_id", metavar="ID")
@options.as_json
def cancel(*, comparison_id: str) -> None:
    """Cancel every replay of a comparison, and its judge models."""
    found = connected().comparisons.cancel(comparison_id)
    show(found, [f"Comparison {found['id']} is {found['status']}."])


@comparison.command()
@click.argument("comparison_id", metavar="ID")
@click.option("--no-wait", is_flag=True, help="Start it, print the link to its page and do not wait.")
@options.as_json
def retry(*, comparison_id: str, no_wait: bool) -> None:
    """Retry the failed and cancelled answers of a comparison, wait, and show the results."""
    client = connected()
    begun = client.comparisons.retry(comparison_id)
    address = page_url(client, begun["id"])
    if no_wait:
        show(begun, [address])
        return
    done = waited(client, begun["id"])
    with checked_when_shown(lambda: check(done)):
        show(done, comparison_lines(done, address))


def waited(client: Client, comparison_id: str) -> types.ComparisonResults:
    """Wait for the comparison with a progress line, and return it."""
    address = page_url(client, comparison_id)
    with waiting(f"The comparison is still running. Follow or cancel it at {address}") as progress:
        return client.comparisons.wait(
            comparison_id, lambda found: progress.update(comparison_progress(found))
        )


def page_url(client: Client, comparison_id: str) -> str:
    """The URL of the comparison's page."""
    return f"{client.url}/comparisons/{comparison_id}/"


def check(
    found: types.ComparisonResults,
    replays: Sequence[types.ReplayOut] = (),
    conditions: Sequence[Condition] = (),
) -> None:
    """Fail if a condition is true for the `replays` of a variant, or the comparison did not finish."""
    reasons = [
        f"{arm['name']}: {why}"
        for arm in found["arms"]
        for why in reasons_to_fail(conditions, _sums(found, arm["arm"], replays))
    ]
    if reasons:
        raise ConditionHeld(f"--fail-on: {'; '.join(reasons)}.")
    if found["status"] == "cancelled":
        raise Failure(
            f"The comparison was cancelled. Run the rest with `timemachine comparison retry {found['id']}`."
        )
    if found["status"] != "done":
        raise Failure("Every answer of the comparison failed. See its page for the errors.")


def _sums(
    found: types.ComparisonResults, arm: int, replays: Sequence[types.ReplayOut]
) -> Mapping[str, object]:
    """The sums over the replays of a variant, to check conditions against."""
    ids = {each["replay_id"] for each in found["replay_ids"] if each["arm"] == arm}
    of_arm = [each for each in replays if each["id"] in ids]
    counts = {
        part: sum((Counter(each[part]) for each in of_arm), Counter())
        for part in ("context", "retrieval", "verdicts", "steps")
    }
    sums = {
        name: sum(each[name] for each in of_arm)
        for name in ("cost_usd", "unknown_cost_calls", "uncertain_calls")
    }
    return {"arm": arm, **counts, **sums}
