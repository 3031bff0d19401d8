"""`comparison`: several models over the same frozen contexts, and what the figures show."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.connecting import connected
from timemachine.cli.failure import ConditionHeld, Failure, Interrupted
from timemachine.cli.formatting import duration, listed_words, shortened, visible
from timemachine.cli.group import InOrder
from timemachine.cli.output.estimates import tell_estimate
from timemachine.cli.output.table import facts, table
from timemachine.cli.output.variants import ArmType, of_every_arm
from timemachine.cli.reason import reason_given
from timemachine.cli.terminal import Progress, announce, judged, show
from timemachine.cli.times import local
from timemachine.core.pure.conditions import Condition, reasons_to_fail
from timemachine.core.pure.numbers import (
    UNKNOWN,
    counted,
    money,
    money_or_unknown,
    progress,
    spaced,
    total_cost,
)

if TYPE_CHECKING:
    from timemachine.client.client import Client

_HEADS = (
    "column",
    "answers",
    "agreement",
    "grounding",
    "cost",
    "latency p50",
    "latency p95",
    "verdicts",
    "missing",
)
_RIGHT = ("answers", "agreement", "grounding", "cost", "latency p50", "latency p95")


@click.group(cls=InOrder)
def comparison() -> None:
    """Ask several models over the same frozen contexts."""


@comparison.command()
@click.argument("sessions", metavar="SESSION…", nargs=-1, required=True)
@click.option(
    "--model",
    "--arm",
    "arms",
    multiple=True,
    required=True,
    type=ArmType(),
    metavar="ARM",
    help="An arm, as provider:model, two to eight; behind the model what only this arm is asked with, as in "
    "'openai:gpt-4o temperature=0 system-prompt=@brief.txt'.",
)
@click.option("--repeats", type=int, default=1, metavar="N", help="How often each arm is asked (1).")
@click.option("--noise-floor", is_flag=True, help="Ask each arm once more, to compare it with itself.")
@of_every_arm
@click.option(
    "--spend-limit",
    type=float,
    metavar="USD",
    help="A call starts only where what it is expected to cost fits in.",
)
@click.option("--reason", metavar="TEXT", help="Why it is made; it is kept with the comparison.")
@click.option(
    "--fail-on",
    "conditions",
    multiple=True,
    type=options.ConditionType(),
    metavar="CONDITION",
    help="Exit with 3 where this holds for an arm: altered, missing, error, a verdict like numbers_differ, or cost:USD.",
)
@click.option("--no-wait", is_flag=True, help="Only launch it.")
@options.as_json
def create(
    *,
    sessions: tuple[str, ...],
    arms: tuple[dict[str, Any], ...],
    repeats: int,
    noise_floor: bool,
    spend_limit: float | None,
    reason: str | None,
    conditions: tuple[Condition, ...],
    no_wait: bool,
    as_json: bool,
    **shared: Any,
) -> None:
    """Ask the questions of these sessions again, with each arm, over their frozen contexts.

    It says first about what that costs, waits with a line of progress, then says what each arm came to and what each two of them
    show. It exits with 3 where a --fail-on condition holds for an arm.
    """
    if no_wait and conditions:
        raise click.UsageError("--fail-on needs an end to look at, so it does not go with --no-wait.")
    of_all = {name: value for name, value in shared.items() if value is not None}
    whole = [of_all | arm for arm in arms]
    with connected() as client:
        if not as_json:
            tell_estimate(
                client.comparisons.estimate(sessions, whole, repeats=repeats, noise_floor=noise_floor)
            )
        launched = client.comparisons.launch(
            sessions,
            whole,
            reason=reason_given(reason),
            repeats=repeats,
            noise_floor=noise_floor,
            spend_limit_usd=spend_limit,
        )
        if no_wait:
            show(launched, [address_of(client, launched["comparison_id"])], as_json=as_json)
            return
        done = waited(client, launched["comparison_id"])
        replays = [client.replays.get(each) for each in launched["replay_ids"]] if conditions else []
        with judged(lambda: check(done, replays, conditions)):
            show(done, lines(done, address_of(client, done["id"])), as_json=as_json)


@comparison.command()
@click.argument("comparison_id", metavar="ID")
@options.as_json
def view(*, comparison_id: str, as_json: bool) -> None:
    """Show what each model came to and what each two of them show; of a comparison that runs, so far."""
    with connected() as client:
        found = client.comparisons.results(comparison_id)
        show(found, lines(found, address_of(client, found["id"])), as_json=as_json)


@comparison.command()
@click.argument("comparison_id", metavar="ID")
@click.option("--model", required=True, metavar="M", help="The model that judges, as provider:model.")
@click.option("--estimate", is_flag=True, help="Say about what it would cost, and ask nobody.")
@options.as_json
def judge(*, comparison_id: str, model: str, estimate: bool, as_json: bool) -> None:
    """Let a model judge every changed answer.

    It reads question, passages and both answers, twice, the second time the other way round. What it says is its opinion; no verdict
    changes. It exits with 1 where it judged none.
    """
    with connected() as client:
        about = client.comparisons.judge_estimate(comparison_id, model=model)
        if estimate:
            show(about, [_about(about)], as_json=as_json)
            return
        if not as_json:
            announce(f"Asking {about['model']}: {_about(about)}")
        asked = client.comparisons.judge(comparison_id, model=model)
        with Progress() as progress:
            found = client.comparisons.wait_for_judges(
                comparison_id,
                lambda each: progress.tell(judging_so_far(each["judges"])),
            )
        said = [
            opinion
            for ask in client.comparisons.cells(comparison_id)
            for cell in ask["cells"]
            for opinion in cell["opinions"]
            if opinion["model"] == asked["model"]
        ]
        with judged(lambda: _check_opinions(asked, said)):
            show({**asked, "opinions": said}, _opinions(found, asked, said), as_json=as_json)


def _check_opinions(asked: dict[str, Any], said: Sequence[dict[str, Any]]) -> None:
    """Fail where the judge said nothing of any cell it was asked about now; of those that it had judged before, it was not asked."""
    without = [each for each in said if each["state"] != "done"]
    if len(without) < asked["cells"]:
        return
    why = next((each["error"]["message"] for each in without if each["error"]), "it was not asked.")
    raise Failure(visible(f"{asked['model']} judged no answer: {why}"))


def _about(about: dict[str, Any]) -> str:
    calls = f"{counted(about['cells'], 'cell')} in {counted(about['calls'], 'call')}"
    return f"{calls}, about {money_or_unknown(about['cost_usd'])}, by {about['basis']}."


def judging_so_far(judges: dict[str, Any]) -> str:
    """How far the judges of a comparison are, in one line."""
    busy = _busy(judges.get("busy"))
    return f"{counted(judges['waiting'], 'cell')} still to be judged, {judges['asking']:,} being judged{busy}"


def _opinions(found: dict[str, Any], asked: dict[str, Any], said: Sequence[dict[str, Any]]) -> Iterator[str]:
    judges = found["judges"]
    yield from facts(
        [
            ("asked about", counted(asked["cells"], "cell")),
            (
                "relation",
                listed_words(Counter(each["relation"] or f"judge {each['state']}" for each in said)),
            ),
            ("new answer", listed_words(Counter(each["preference"] for each in said if each["preference"]))),
            ("all judges", total_cost(judges["cost_usd"], judges["unknown_cost_calls"])),
        ]
    )
    failed = next((each["error"]["message"] for each in said if each["error"]), None)
    if failed:
        yield visible(f"At least one failed: {failed}")


@comparison.command("list")
@options.as_json
def list_comparisons(*, as_json: bool) -> None:
    """List the newest comparisons."""
    with connected() as client:
        page = client.comparisons.page()
        show(page, _listed(page["items"]), as_json=as_json)


@comparison.command()
@click.argument("comparison_id", metavar="ID")
@options.as_json
def cancel(*, comparison_id: str, as_json: bool) -> None:
    """Stop every replay of a comparison, and its judges."""
    with connected() as client:
        found = client.comparisons.cancel(comparison_id)
        show(found, [f"Comparison {found['id']} is {found['status']}."], as_json=as_json)


@comparison.command()
@click.argument("comparison_id", metavar="ID")
@click.option("--no-wait", is_flag=True, help="Only start it, and print the address of its page.")
@options.as_json
def retry(*, comparison_id: str, no_wait: bool, as_json: bool) -> None:
    """Ask again the answers of a comparison that failed or were cancelled, wait, and show it like `view`."""
    with connected() as client:
        begun = client.comparisons.retry(comparison_id)
        address = address_of(client, begun["id"])
        if no_wait:
            show(begun, [address], as_json=as_json)
            return
        done = waited(client, begun["id"])
        with judged(lambda: check(done)):
            show(done, lines(done, address), as_json=as_json)


def so_far(found: dict[str, Any]) -> str:
    """How far a comparison is, in one line."""
    spent = total_cost(found["cost_usd"], found["unknown_cost_calls"])
    return f"{found['status']}: {_answered(found['answers'])}, {spent}{_busy(found.get('waiting'))}"


def _answered(answers: dict[str, Any]) -> str:
    """An older server does not tell how many are `answered`."""
    answered = answers.get("answered", answers.get("done", 0))
    failed, cancelled = answers.get("failed", 0), answers.get("cancelled", 0)
    not_asked = answers["finished"] - answered - failed - cancelled
    rest = {"failed": failed, "not asked": not_asked, "cancelled": cancelled}
    return progress(answered, f"{answers['total']:,} answered", rest)


def _busy(waits: dict[str, Any] | None) -> str:
    """What an older server does not tell is left out."""
    if not waits or not waits["calls"]:
        return ""
    return f"; {counted(waits['calls'], 'busy call')} asked again by {local(waits['until'])}"


def waited(client: "Client", comparison_id: str) -> dict[str, Any]:
    """The comparison once it is over, with a line of progress until then."""
    try:
        with Progress() as progress:
            return client.comparisons.wait(comparison_id, lambda found: progress.tell(so_far(found)))
    except KeyboardInterrupt as why:
        address = address_of(client, comparison_id)
        raise Interrupted(f"The comparison goes on; follow it, or cancel it, at {address}") from why


def address_of(client: "Client", comparison_id: str) -> str:
    """The address of the comparison's page."""
    return f"{client.url}/comparisons/{comparison_id}/"


def lines(found: dict[str, Any], address: str) -> Iterator[str]:
    """A comparison in lines: what it is, a row for each column, a sentence for each metric of each two columns."""
    yield from facts(
        [
            ("comparison", found["id"]),
            ("status", found["status"]),
            ("reason", found["reason"]),
            ("asks", f"{found['asks']:,}, each asked {counted(found['repeats'], 'time')} of every arm"),
            ("answers", _answered(found["answers"])),
            ("spent", _spent(found)),
            ("address", address),
        ]
    )
    yield ""
    if found["columns"] is None:
        yield "A worker failed at computing what the figures show; its log says why."
        return
    names = ["recording", *(f"{arm['arm']} {arm['name']}" for arm in found["arms"])]
    rows = [_row(name, column) for name, column in zip(names, found["columns"], strict=True)]
    yield from table(_HEADS, rows, right=_RIGHT)
    for pair in found["pairs"]:
        yield from _pair(names[pair["a"]], names[pair["b"]], pair)
    for pair in found["noise"]:
        yield from _pair(names[pair["a"]], "the same once more (noise floor)", pair)


def _spent(found: dict[str, Any]) -> str:
    parts = [total_cost(found["cost_usd"], found["unknown_cost_calls"])]
    if found["spend_limit_usd"] is not None:
        parts.append(f"of at most {money(found['spend_limit_usd'])}")
    if found.get("over_limit_usd"):
        parts.append(f"passed by {money(found['over_limit_usd'])}")
    if found.get("uncertain_calls"):
        parts.append(f"{counted(found['uncertain_calls'], 'lost attempt')} may have been billed")
    if found["answers"].get("skipped"):
        parts.append(f"{counted(found['answers']['skipped'], 'answer')} not asked for")
    return ", ".join(parts)


def check(
    found: dict[str, Any], replays: Sequence[dict[str, Any]] = (), conditions: Sequence[Condition] = ()
) -> None:
    """Fail where a condition holds for an arm over all its `replays`, or the comparison did not come to its end."""
    reasons = [
        f"{arm['name']}: {why}"
        for arm in found["arms"]
        for why in reasons_to_fail(conditions, _together(found, arm["arm"], replays))
    ]
    if reasons:
        raise ConditionHeld(f"--fail-on: {'; '.join(reasons)}.")
    if found["status"] == "cancelled":
        raise Failure(
            f"The comparison was cancelled before it was through; `timemachine comparison retry {found['id']}` asks the rest."
        )
    if found["status"] != "done":
        raise Failure("Every answer of the comparison failed; what each says is on its page.")


def _together(found: dict[str, Any], arm: int, replays: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the replays of an arm came to together, as a condition is looked for in it."""
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


def _row(name: str, column: dict[str, Any]) -> list[str]:
    cost = column["cost"]["total"]
    return [
        name,
        f"{column['answers']:,}",
        _share(column["agreement"]),
        _share(column["grounding"]),
        total_cost(cost, column["unknown_cost"]) if cost is not None or column["unknown_cost"] else UNKNOWN,
        _took(column["latency"]["p50"]),
        _took(column["latency"]["p95"]),
        listed_words(column["verdicts"]),
        listed_words(column["missing"]),
    ]


def _pair(a: str, b: str, pair: dict[str, Any]) -> Iterator[str]:
    yield ""
    yield visible(f"A: {a}, B: {b}")
    yield from facts([(spaced(each["metric"]), each["sentence"]) for each in pair["metrics"]])


def _listed(items: list[dict[str, Any]]) -> Iterator[str]:
    if not items:
        yield "No comparison yet; make one with `timemachine comparison create SESSION --model M --model M`."
        return
    rows = [
        [
            each["id"],
            each["status"],
            shortened(", ".join(arm["name"] for arm in each["arms"])),
            money(each["cost_usd"]),
            shortened(each["reason"], 40),
        ]
        for each in items
    ]
    yield from table(("id", "status", "arms", "cost", "reason"), rows, right=("cost",))


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _took(milliseconds: float | None) -> str:
    return UNKNOWN if milliseconds is None else duration(milliseconds)
