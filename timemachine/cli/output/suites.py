"""Suites, their runs and what changed, as text. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from timemachine.cli.formatting import duration, listed_words, local, one_line, shortened, visible
from timemachine.cli.launching import spending
from timemachine.cli.output.table import facts, table
from timemachine.core.pure.numbers import counted, money, money_or_unknown, spaced, total_cost

if TYPE_CHECKING:
    from timemachine.client.generated import types

_NOTHING: Final = "–"
_CHANGES: Final = ("change", "session", "step", "what", "before", "now", "cost", "took")


def suite_lines(found: types.SuiteOut | types.SuiteDetail, address: str) -> Iterator[str]:
    """What a suite replays and when, and its latest run."""
    named = [each["key"] for each in found["sessions"]]
    yield from facts(
        [
            ("suite", found["name"]),
            ("kind", found["kind"]),
            ("sessions", f"{counted(len(named), 'session')}: {shortened(', '.join(named), 160)}"),
            ("matching", _matching(found["matching"])),
            ("missing", f"deleted: {', '.join(found['missing'])}" if found["missing"] else ""),
            ("models", _models(found)),
            *((spaced(name), str(value)) for name, value in found["options"].items() if name != "audit"),
            ("fails on", ", ".join(spaced(each) for each in found["fail_on"])),
            ("schedule", found["schedule"] or "none, runs manually"),
            ("next run", "" if found["next_run_at"] is None else local(found["next_run_at"])),
            ("cannot start", visible(found["problem"] or "")),
            ("latest run", _latest(found["latest_run"])),
            ("page", address),
        ]
    )


def listed_suites(items: Sequence[types.SuiteOut]) -> Iterator[str]:
    """A line for each suite."""
    rows = [
        [
            each["name"],
            each["kind"],
            f"{len(each['sessions']):,}",
            shortened(_models(each), 40),
            _latest(each["latest_run"]),
            "manual" if each["next_run_at"] is None else local(each["next_run_at"]),
        ]
        for each in items
    ]
    heads = ("name", "kind", "sessions", "models", "latest run", "next run")
    none = "No suites yet. Create one with `timemachine suite create NAME SESSION…`."
    yield from table(heads, rows, right=("sessions",), none=none)


def listed_runs(items: Sequence[types.SuiteRunOut]) -> Iterator[str]:
    """A line for each run."""
    rows = [
        [
            str(each["number"]),
            each["status"],
            local(each["created_at"]),
            "the schedule" if each["due_at"] else shortened(each["requested_by"], 40),
            f"{each['steps']['total']:,}",
            total_cost(each["cost_usd"], each["unknown_cost_calls"]),
            _since(each),
            "; ".join(each["held"] or ()),
        ]
        for each in items
    ]
    heads = (
        "run",
        "status",
        "launched",
        "by",
        "steps",
        "cost",
        "compared with the previous run",
        "failed conditions",
    )
    none = "No runs yet. Start one with `timemachine suite run NAME`."
    yield from table(heads, rows, right=("run", "steps", "cost"), none=none)


def run_lines(
    run: types.SuiteRunDetail, changed: Iterable[types.StepChangeOut], address: str
) -> Iterator[str]:
    """The totals of a run, then every step that changed, then what was left out."""
    limit = None if run["over_limit_usd"] is None else run["options"]["spend_limit_usd"]
    yield from facts(
        [
            ("run", f"{run['number']}, {run['status']}"),
            ("cancelled by", run["cancelled_by"] or ""),
            ("steps", _steps(run)),
            ("verdicts", listed_words(run["verdicts"])),
            ("retrieval", listed_words(run["retrieval"])),
            ("context", listed_words({name: n for name, n in run["context"].items() if n})),
            ("error", _most_frequent(run)),
            ("spent", ", ".join(spending(run, limit))),
            ("compared with", _compared_with(run)),
            ("cost", _paired(run["cost_since"], money_or_unknown)),
            ("latency", _paired(run["took_since"], duration, "median ")),
            ("failed conditions", "; ".join(run["held"] or ())),
            ("page", address),
        ]
    )
    rows = [_row(each) for each in changed]
    if rows:
        yield ""
        yield from table(_CHANGES, rows, right=("step", "cost", "took"))
    for each in run["members"]:
        if each["first_divergence"]:
            yield ""
            found = each["first_divergence"]
            yield visible(
                f"First differs, {each['session_key']}: step {found['sequence']:,}, {found['in_words']} "
                f"(replay {each['replay_id']})"
            )
        if each["problem"]:
            yield ""
            yield visible(f"Left out, {each['session_key']}: {each['problem']['message']}")


def _models(suite: types.SuiteOut | types.SuiteDetail) -> str:
    default = "none, recorded answers are verified" if suite["kind"] == "audit" else "as recorded"
    return ", ".join(suite["use_models"]) or default


def _most_frequent(run: types.SuiteRunDetail) -> str:
    found = run.get("most_frequent_error")
    if found is None:
        return ""
    return f"most frequent, {found['steps']:,} of {run['steps']['failed']:,}: {one_line(found['message'])}"


def _matching(filters: types.Matching | None) -> str:
    if filters is None:
        return ""
    texts = ", ".join(f"{name} {value}" for name, value in filters.items() if name != "most")
    return f"the newest {counted(filters['most'], 'session')} with {texts}, searched again at each run"


def _row(change: types.StepChangeOut) -> list[str]:
    before, after = change["before"], change["after"]
    return [
        spaced(change["change"]),
        change["session_key"] or "deleted",
        f"{change['sequence']:,}",
        shortened(change["label"], 48),
        _verdicts(before),
        _verdicts(after),
        _NOTHING if change["cost_change_usd"] is None else _signed(change["cost_change_usd"], money),
        _NOTHING if change["took_change_ms"] is None else _signed(change["took_change_ms"], duration),
    ]


def _verdicts(fact: types.StepFactOut | None) -> str:
    if fact is None:
        return _NOTHING
    retrieval = f"passages {fact['retrieval']}" if fact["retrieval"] else None
    parts = [fact["in_words"], retrieval, None if fact["context"] == "verified" else fact["context"]]
    return ", ".join(spaced(each) for each in parts if each) or spaced(fact["context"] or fact["status"])


def _signed(amount: float, written: Any) -> str:
    sign = "+" if amount > 0 else "−" if amount < 0 else "±"
    return f"{sign}{written(abs(amount))}"


def _latest(run: types.SuiteRunOut | None) -> str:
    if run is None:
        return "not run yet"
    outcome = run["status"] if run["since"] is None else _since(run)
    return f"{run['number']}: {outcome}" + (", failed conditions" if run["held"] else "")


def _since(run: types.SuiteRunOut | types.SuiteRunDetail) -> str:
    if run["since"] is None:
        return f"no earlier {run['kind']} run" if run["finished_at"] else "in progress"
    changed = {name: number for name, number in run["since"].items() if name != "same"}
    return ", ".join(f"{spaced(name)} {number:,}" for name, number in changed.items()) or "nothing changed"


def _compared_with(run: types.SuiteRunDetail) -> str:
    if run["previous"] is None:
        return f"no earlier {run['kind']} run to compare with"
    return f"run {run['previous']}: {_since(run)}"


def _steps(run: types.SuiteRunDetail) -> str:
    steps = run["steps"]
    by_status = {name: number for name, number in steps.items() if name != "total" and number}
    left_out = f"; {counted(run['left_out'], 'replay')} left out" if run["left_out"] else ""
    return f"{steps['total']:,}: {listed_words(by_status)}{left_out}"


def _paired(pair: types.Change | None, written: Any, what: str = "") -> str:
    if pair is None or not pair["steps"]:
        return ""
    before, after = written(pair["before"]), written(pair["after"])
    return (
        f"{what}{before} before, {after} now, over {counted(pair['steps'], 'step')} with a value in both runs"
    )
