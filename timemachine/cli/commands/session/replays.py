"""`session replay`, `session trial` and `session judge`: repeat a session or a step, or let a judge model check an answer."""

from __future__ import annotations

import os
import sys
import time
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from timemachine.cli import options
from timemachine.cli.command import OneEach
from timemachine.cli.commands import comparisons
from timemachine.cli.connection import connected
from timemachine.cli.failure import ConditionHeld, Failure, Interrupted
from timemachine.cli.formatting import duration, frame_name, one_line, tokens, visible
from timemachine.cli.launching import busy_calls, print_estimate, reason_or_default, replay_progress
from timemachine.cli.output.comparisons import comparison_lines
from timemachine.cli.output.replay_step import mode_of, step_lines
from timemachine.cli.output.replayed_calls import (
    MODEL_CALL,
    ReplayedCall,
    replayed_call,
    replayed_call_lines,
)
from timemachine.cli.output.table import facts
from timemachine.cli.terminal import (
    Progress,
    announce,
    checked_when_shown,
    print_error,
    show,
    waiting,
    wants_json,
)
from timemachine.core.pure.conditions import Condition, reasons_to_fail
from timemachine.core.pure.numbers import counted, money_or_unknown, spaced

if TYPE_CHECKING:
    from timemachine.client.client import Client
    from timemachine.client.generated import types


@dataclass(frozen=True, slots=True, kw_only=True)
class _Output:
    """How to show the result."""

    with_diff: bool
    verbose: bool
    web: bool


_PATIENCE = 20.0  # seconds in the queue before the hint at the worker


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.option(
    "--audit", is_flag=True, help="Use the frozen context; without this option, retrieval runs again."
)
@click.option("--reason", metavar="TEXT", help="Why; stored with the replay.")
@click.option(
    "--use-model",
    "use_models",
    multiple=True,
    metavar="M",
    help="Ask this model instead, as provider:model; repeat for a comparison.",
)
@options.diff
@options.replay_options
@click.option("--from-checkpoint", metavar="C", help="Only steps after this checkpoint (its step or name).")
@options.spend_limit
@options.fail_on(": any verdict, like altered, error, numbers_differ or other_tool, or cost:USD")
@click.option(
    "--verbose",
    is_flag=True,
    help="Show hits with scores, the cut-off rule, the cost of calls, and each model call in full.",
)
@click.option("--web", is_flag=True, help="Print the link to the replay's page and open it.")
@options.as_json
def replay(
    *,
    session: str,
    mode: str | None,
    adaptive: bool,
    audit: bool,
    reason: str | None,
    with_diff: bool,
    fail_on: tuple[Condition, ...],
    verbose: bool,
    web: bool,
    **chosen: Any,
) -> None:
    """Replay a session and wait for the result.

    With --audit it uses the frozen context; otherwise retrieval runs again. --use-model asks another model; several make a
    comparison over the frozen context. Exits with 3 if a --fail-on condition is true.
    """
    audit = audit or len(chosen["use_models"]) > 1
    chosen |= {"audit": audit, "reason": reason_or_default(reason) if audit else reason}
    chosen |= {"search_mode": mode, "adaptive": adaptive or None}
    client = connected()
    if not wants_json():
        print_estimate(client.replays.estimate(session, **chosen))
    launched = client.replays.launch(session, **chosen)
    if "comparison_id" in launched:
        output = _Output(with_diff=with_diff, verbose=verbose, web=web)
        _compared(client, launched, fail_on, output)
        return
    address = f"{client.url}/replays/{launched['replay_id']}/"
    done = wait_for_replay(client, launched["replay_id"], address)
    lines = _lines(client, done, address if web else None, with_diff=with_diff, verbose=verbose)
    with checked_when_shown(lambda: _check(done, fail_on)):
        show(done, lines)
        if web:
            _open(address)


def _compared(
    client: Client, launched: types.ComparisonLaunched, conditions: Sequence[Condition], output: _Output
) -> None:
    """Wait for a comparison and show it; `--diff` and `--verbose` show every step of every model first."""
    done = comparisons.waited(client, launched["comparison_id"])
    replays = [client.replays.get(each) for each in launched["replay_ids"]]
    address = comparisons.page_url(client, done["id"])
    with checked_when_shown(lambda: comparisons.check(done, replays, conditions)):
        show(done, _compared_lines(client, done, replays, output))
        if output.web:
            _open(address)


def _compared_lines(
    client: Client, done: types.ComparisonResults, replays: Sequence[types.ReplayOut], output: _Output
) -> Iterator[str]:
    if output.with_diff or output.verbose:
        for replay in replays:
            yield from _lines(client, replay, None, with_diff=output.with_diff, verbose=output.verbose)
            yield ""
    yield from comparison_lines(done, comparisons.page_url(client, done["id"]))


def wait_for_replay(client: Client, replay_id: str, address: str) -> types.ReplayOut:
    """Wait for the replay with its progress, and return it."""
    with waiting(f"The replay is still running. Follow or cancel it at {address}") as progress:
        return client.replays.wait(replay_id, _updater(progress))


def _updater(progress: Progress) -> Callable[[types.ReplayOut], None]:
    """Update the progress line, and print a hint once if no worker seems to be running."""
    hint = {"at": time.monotonic() + _PATIENCE}

    def update(found: types.ReplayOut) -> None:
        progress.update(f"{replay_progress(found)}{busy_calls(found['waiting'])}")
        if found["status"] == "queued" and time.monotonic() > hint["at"]:
            hint["at"] = float("inf")
            print_error(
                f"Still queued after {_PATIENCE:.0f} s. Check that a worker is running. Ctrl-C stops waiting, not the replay."
            )

    return update


def _lines(
    client: Client, done: types.ReplayOut, address: str | None, *, with_diff: bool, verbose: bool
) -> Iterator[str]:
    calls: list[ReplayedCall] = []
    in_full = with_diff or verbose or done["kind"] == "trial"
    kinds, mode = set(), ""
    for step in client.replays.steps(done["id"]):
        kinds.add(step["kind"])
        if step["kind"] == MODEL_CALL and not in_full:
            calls.append(replayed_call(step))
            mode = mode_of(step, done)
            continue
        recorded = client.sessions.action(done["session"], step["sequence"]) if verbose else None
        yield from step_lines(step, done, recorded, with_diff=with_diff)
        yield ""
    if calls:
        yield from replayed_call_lines(calls, mode)
        yield ""
    if done["first_divergence"] and MODEL_CALL not in kinds:  # the summary of model calls says it
        found = done["first_divergence"]
        yield f"First differs at step {found['sequence']:,}: {found['in_words']}"
    yield f"Replay {done['id']} is {done['status']}: {one_line(done['summary'])}"
    if address:
        yield address


def _check(done: types.ReplayOut, conditions: Sequence[Condition]) -> None:
    reasons = reasons_to_fail(conditions, done)
    if reasons:
        raise ConditionHeld(f"--fail-on: {'; '.join(reasons)}.")
    if done["status"] == "cancelled":
        raise Failure("The replay was cancelled. Launch it again for all of its steps.")
    if done["status"] != "done":
        raise Failure("Every step of the replay failed. See the errors above or on its page.")


def _open(address: str) -> None:
    """Open the page if there is a screen; a text browser would take over the terminal."""
    screen = (
        sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if screen and sys.stdout is not None and sys.stdout.isatty():
        webbrowser.open(address)


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.argument("sequence", metavar="STEP", type=int)
@click.option("--question", metavar="Q", help="Use another question or query.")
@click.option(
    "--frames",
    metavar="NAMES",
    help="The passages in order, by number or recorded name: 3,12,'rank 2'. Use '' for none.",
)
@options.use_model
@options.call_options
@options.top_k
@options.mode
@click.option("--adaptive/--not-adaptive", default=None, help="Use or do not use the adaptive cut-off.")
@options.retrieval_options
@click.option("--reason", metavar="TEXT", help="Why; stored with the trial.")
@options.diff
@options.as_json
def trial(
    *, session: str, sequence: int, frames: str | None, mode: str | None, with_diff: bool, **chosen: Any
) -> None:
    """Try one find, ask or model call again with a change.

    Anything you leave unchanged is repeated as recorded. An ask uses its frozen passages, those named by --frames, or the results
    of a new search with --top-k and other search options. The session does not change.
    """
    named = None if frames is None else [_name(each.strip()) for each in frames.split(",") if each.strip()]
    client = connected()
    launched = client.replays.try_step(session, sequence, frames=named, search_mode=mode, **chosen)
    done = wait_for_replay(client, launched["replay_id"], f"{client.url}/replays/{launched['replay_id']}/")
    with checked_when_shown(lambda: _check(done, ())):
        show(done, _lines(client, done, None, with_diff=with_diff, verbose=False))


def _name(written: str) -> int | str:
    digits = written.removeprefix("#")
    return int(digits) if digits.isascii() and digits.isdigit() else written


@click.command(cls=OneEach)
@click.argument("session", metavar="ID")
@click.argument("sequence", type=click.IntRange(min=1), metavar="SEQUENCE")
@click.option("--model", required=True, metavar="M", help="The judge model, as provider:model.")
@options.as_json
def judge(*, session: str, sequence: int, model: str) -> None:
    """Let a judge model check a recorded answer.

    It checks for each sentence whether the recorded passages support it. The session does not change. Ctrl-C cancels it.
    """
    client = connected()
    about = client.judgements.estimate(session, sequence, model=model)
    if not wants_json():
        announce(
            f"Asking {about['model']}: about {money_or_unknown(about['cost_usd'])}, by {about['basis']}."
        )
    try:
        made = client.judgements.make(session, sequence, model=model)
    except KeyboardInterrupt as why:
        client.judgements.cancel(session, sequence, model=about["model"])
        raise Interrupted(
            "The judgement was cancelled. A call that had started may have been billed."
        ) from why
    with checked_when_shown(lambda: _check_judgement(made)):
        show(made, _judgement_lines(made))


def _check_judgement(made: types.JudgementOut) -> None:
    if made["state"] != "done":
        raise Failure(visible((made["error"] and made["error"]["message"]) or made["state"]))


def _judgement_lines(made: types.JudgementOut) -> Iterator[str]:
    if made["state"] == "done":
        for sentence in made["sentences"]:
            yield from _sentence(sentence)
        yield ""
    counts = made["verdicts"]
    verdicts = ", ".join(
        f"{counts[name]:,} {spaced(name)}"
        for name in ("supported", "contradicted", "not_found", "quote_not_found")
        if counts[name] or name != "quote_not_found"
    )
    yield from facts(
        [
            ("judge model", made["model"]),
            ("verdicts", verdicts if made["state"] == "done" else ""),
            ("grounding", _disagreement(counts["disagree"]) if made["state"] == "done" else ""),
            ("tokens", tokens(made["usage"])),
            ("cost", money_or_unknown(made["cost_usd"])),
            ("took", duration(made["duration_ms"])),
        ]
    )


def _disagreement(number: int) -> str:
    return f"differs in {counted(number, 'sentence')}" if number else "same for every sentence"


def _sentence(sentence: types.JudgedSentenceOut) -> Iterator[str]:
    grounded = "supported" if sentence["grounded"] else "not supported"
    differs = f"  (grounding: {grounded})" if sentence["agrees"] is False else ""
    verdict = spaced(sentence["counted_as"] or "")
    yield visible(f"{sentence['number']:>3}  {verdict:<15}  {sentence['text']}{differs}")
    if sentence["quote"] is not None:
        yield visible(f"     {_place(sentence)}: {sentence['quote']}")


def _place(sentence: types.JudgedSentenceOut) -> str:
    named, found = sentence["passage"], sentence["quote_in"]
    where = (
        "no passage named"
        if named is None
        else f"passage {named}, {frame_name(sentence['frame'], rank=named)}"
    )
    if found is None:
        changed = sentence["counted_as"] != sentence["verdict"]
        verdict = f"judge model: {spaced(sentence['verdict'] or '')}; " if changed else ""
        return f"{verdict}quote not found in the passages ({where})"
    return where if found == named else f"quote found in passage {found} ({where})"
