"""One step of a replay as text: its context, retrieval, and the answers then and now. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from timemachine.cli.formatting import (
    cut_off_rule,
    duration,
    frame_name,
    json_or_text,
    listed_scores,
    local,
    score,
    shortened,
    tokens,
    visible,
)
from timemachine.cli.output.grounding import grounding_summary
from timemachine.cli.output.table import facts, table
from timemachine.cli.output.word_diff import difference
from timemachine.core.pure.numbers import NOT_RECORDED, UNKNOWN, counted, money_or_unknown, spaced
from timemachine.core.pure.verdicts import CALLS_IN_TEXT, OTHER_TOOL, calls_on_one_side, verdict_in_words

if TYPE_CHECKING:
    from timemachine.client.generated import types

_INDENT = "  "
_MODEL_CALL = "llm_call"
_MODEL_CALLS = ("ask", _MODEL_CALL)


def step_lines(
    step: types.ReplayStepOut, replay: types.ReplayOut, recorded: types.ReadAction | None, *, with_diff: bool
) -> Iterator[str]:
    """A step with its verdict, and if `recorded` (its action) is given also its hits, scores and calls."""
    yield f"Step {step['sequence']:,} · {spaced(step['kind'])} · {_outcome(step)}"
    yield from _indented(facts(_facts(step, replay)))
    if recorded is not None:
        yield from _indented(_verbose(step, recorded))
    if step["kind"] in _MODEL_CALLS:
        yield from _indented(_answers(step, with_diff=with_diff))


def _outcome(step: types.ReplayStepOut) -> str:
    """The result of the step in words: the verdict on its answer, retrieval or context, else its status."""
    retrieval = step["retrieval"]["verdict"] if step["retrieval"] else None
    verdicts = [step["verdict"], retrieval, step["context"]]
    reached = [verdict for verdict in verdicts if verdict and step["status"] == "done"]
    words = verdict_in_words((reached or [step["verdict"] or step["status"]])[0], step["evidence"])
    calls = calls_on_one_side(step["evidence"]) if step["verdict"] == OTHER_TOOL else ""
    return f"{words}: {calls}" if calls else words


def _facts(step: types.ReplayStepOut, replay: types.ReplayOut) -> list[tuple[str, str]]:
    original, new = step["original"], step["new"]
    evidence = step["evidence"] or {}
    names_model, is_call = step["kind"] in _MODEL_CALLS, step["kind"] == _MODEL_CALL
    asked = "question" if step["kind"] == "ask" else "query"
    return [
        ("mode", mode_of(step, replay)),
        ("original model", (original["model"] or NOT_RECORDED) if names_model else ""),
        ("model now", (new["model"] if new else None) or ""),
        ("frozen frames", "" if is_call else _frames(step["frames"])),
        ("request", _request(evidence.get("request"))),
        ("context", spaced(step["context"] or UNKNOWN)),
        ("retrieval", _retrieval(step)),
        ("next", _next(step["retrieval"])),
        (asked, "" if is_call else _text(original["input"])),
        ("question now", replay["options"].get("question") or ""),
        ("cut off", " and ".join(f"the {side} answer" for side in evidence.get("cut_off", []))),
        ("not asked", evidence.get("not_asked", "")),
        ("error", (new["error"]["message"] if new and new["error"] else None) or ""),
    ]


def _request(found: Mapping[str, Any] | None) -> str:
    """The request of a model call: `4 messages, 2 tools; not recorded: system prompt`."""
    if found is None:
        return ""
    sizes = [counted(found[name], name[:-1]) for name in ("messages", "tools") if found[name]]
    absent = f"; not recorded: {', '.join(found['absent'])}" if found["absent"] else ""
    inferred = found.get("inferred_tools")
    offered = f"; offered as the recorded calls show them: {', '.join(inferred)}" if inferred else ""
    in_text = f"; {CALLS_IN_TEXT}" if found.get("calls_in_text") else ""
    return f"{', '.join(sizes)}{absent}{offered}{in_text}"


def mode_of(step: types.ReplayStepOut, replay: types.ReplayOut) -> str:
    """How the step was replayed: `audit, frozen context`, or what was searched."""
    if replay["kind"] == "audit":
        return "audit, frozen context"
    found = step["retrieval"]
    if replay["kind"] == "trial" and (found is None or found["mode"] == "chosen"):
        return "trial, frozen context" if found is None else "trial, chosen passages"
    if found is None:
        return "debug"
    adaptive = ", adaptive" if found["adaptive"] else ""
    most = f"pool {found['pool']}" if found.get("pool") else f"top {found['top_k']}"
    when = f"as of {local(found['as_of'])}" if found["as_of"] else "now"
    return f"{replay['kind']}, {found['mode']} search, {most}{adaptive}, {when}"


def _frames(frames: Sequence[types.FrozenFrameOut]) -> str:
    """The frozen frames with their verdicts and what changed since: `3: #0, #4 altered, #7 (updated since)`."""
    if not frames:
        return "none"
    return f"{len(frames)}: {', '.join(_frame(each) for each in frames)}"


def _frame(frame: types.FrozenFrameOut) -> str:
    name = frame_name(frame["frame"], rank=frame["rank"])
    verdict = "" if frame["verdict"] == "verified" else f" {spaced(frame['verdict'])}"
    since = f" ({frame['since']} since)" if frame["since"] not in (None, "unchanged") else ""
    return f"{name}{verdict}{since}"


def _retrieval(step: types.ReplayStepOut) -> str:
    found, new = step["retrieval"], step["new"]
    if found is None:
        return ""
    ranks = {hit["frame"]: hit["rank"] for hit in (new["hits"] if new and found["gained"] else [])}
    gained = [
        frame_name(frame) + (f" at rank {ranks[frame]}" if frame in ranks else "")
        for frame in found["gained"]
    ]
    parts = [f"gained {', '.join(gained)}"] if gained else []
    parts += [f"lost {', '.join(map(frame_name, found['lost']))}"] if found["lost"] else []
    parts += [
        f"{frame_name(each['frame'])} from rank {each['from']} to {each['to']}" for each in found["moved"]
    ]
    overlap = "" if found["overlap"] is None else f" ({_overlaps(found)})"
    return f"{spaced(found['verdict'])}{overlap}" + (f": {'; '.join(parts)}" if parts else "")


def _next(found: types.RetrievalCompared | None) -> str:
    """The passage just below an adaptive cut-off, and the options that would find it: `#7 at rank 13 with --cliff 0.2`."""
    if found is None or not (needs := found.get("below_needs")) or not (below := found.get("below")):
        return ""
    options = " ".join(f"--{name.replace('_', '-')} {value:g}" for name, value in needs.items())
    return f"{frame_name(below['frame'])} at rank {found['curve']['kept'] + 1} with {options}"


def _overlaps(found: types.RetrievalCompared) -> str:
    """`overlap@8 0.50, rank-biased 0.31 down to rank 4`, the end of the shorter list. Older replays have only the overlap."""
    if found.get("k") is None:
        return f"overlap {found['overlap']:.2f}"
    to = f" down to rank {found['rank_biased_depth']:,}" if found.get("rank_biased_depth") else ""
    return f"overlap@{found['k']} {found['overlap']:.2f}, rank-biased {found['rank_biased_overlap']:.2f}{to}"


def _answers(step: types.ReplayStepOut, *, with_diff: bool) -> Iterator[str]:
    original, new = step["original"], step["new"]
    yield "original answer:"
    yield from _block(_answer(original))
    if new is None or new["output"] is None:
        return
    yield "new answer:"
    yield from _block(_answer(new))
    if with_diff and original["output"] is not None:
        yield "diff:"
        yield from _block("\n".join(difference(_answer(original), _answer(new))) or "no difference")


def _answer(side: types.RecordedStep | types.NewStep) -> str:
    """The answer of one side as text; that of a model call with the tools that it calls."""
    found = side["answer"]
    if found is None:
        return _text(side["output"])
    calls = [f"calls {call['name']} {json_or_text(call['arguments'])}" for call in found["calls"]]
    return "\n".join([*filter(None, [found["text"]]), *calls])


def _verbose(step: types.ReplayStepOut, recorded: types.ReadAction) -> Iterator[str]:
    original, new, before = step["original"], step["new"], recorded["retrieval"]
    yield f"recorded hits ({cut_off_rule(before['cut_by'] if before else None)}):"
    yield from _indented(_hits((before["hits"] if before else None) or []))
    if step["retrieval"] is not None:
        yield f"hits now ({cut_off_rule(step['retrieval'].get('cut_by'))}):"
        yield from _indented(_hits(new["hits"] if new else []))
    calls: list[tuple[str, types.RecordedStep | types.NewStep | None]] = [
        ("recorded call", original),
        ("call now", new),
    ]
    yield from facts([(name, _call(call)) for name, call in calls if call and call["model"]])


def _hits(hits: Sequence[types.HitOut | types.ReplayHitOut]) -> Iterator[str]:
    rows = [
        [
            str(hit["rank"]),
            score(hit["score"]),
            listed_scores(hit["scores"] or {}),
            frame_name(hit["frame"], rank=hit["rank"]),
            shortened(hit["title"] or "", 40),
        ]
        for hit in hits
    ]
    yield from table(
        ["rank", "score", "scores", "frame", "title"], rows, right=("rank", "score"), none="none"
    )


def _call(call: types.RecordedStep | types.NewStep) -> str:
    parts = [
        call["model"],
        f"tokens {tokens(call['usage'])}",
        money_or_unknown(call["cost_usd"]),
        duration(call["duration_ms"]),
        grounding_summary(call["grounding"]),
    ]
    return "; ".join(part for part in parts if part)


def _text(value: Any) -> str:
    if value is None:
        return NOT_RECORDED
    return json_or_text(value)


def _block(text: str) -> Iterator[str]:
    return _indented(visible(text).split("\n"))


def _indented(lines: Any) -> Iterator[str]:
    return (f"{_INDENT}{line}".rstrip() for line in lines)
