"""The pictures in docs/pages.md: which pages they show, in what order, and how they are retaken."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from playwright.sync_api import Page

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
DEMO: Final = {
    "sessions": "Sessions",
    "timeline": "Timeline",
    "timeline-state": "Timeline: state at a step",
    "timeline-diff": "Timeline: what a step changed",
    "timeline-context": "Timeline: frozen context",
    "timeline-raw": "Timeline: the raw step",
    "timeline-table": "Timeline: table view",
    "timeline-compact": "Timeline: compact view",
    "timeline-documents": "Timeline: JSON view",
    "totals": "Totals",
    "notes": "Notes",
    "transcript": "Transcript",
    "significance": "Significance",
    "work": "Record manually",
    "launch": "Launch a replay",
    "audit-replay": "Audit replay",
    "audit-step": "Audit replay: one step",
    "debug-replay": "Debug replay",
    "debug-step": "Debug replay: one step",
    "where": "Rank of a frame",
    "trial": "Try one change",
    "tried": "Result of a trial",
    "new-sweep": "New sweep",
    "sweep": "Sweep of retrieval settings",
    "compare": "Two sessions aligned",
    "compare-steps": "Two steps side by side",
    "comparisons": "Comparisons",
    "new-comparison": "New comparison",
    "comparison": "Comparison of models",
    "suites": "Suites",
    "new-suite": "New suite",
    "suite": "Suite and its runs",
    "suite-run": "What changed in a run",
    "search": "Search",
    "recall-around": "Recall with surrounding turns",
    "patterns": "Patterns",
    "pattern": "Pattern and its sessions",
    "costs": "Costs",
    "collections": "Collections",
    "collection": "Collection",
    "collection-found": "Search results in a collection",
    "frame": "Frame and its versions",
    "new-session": "New session",
    "import": "Import",
    "evidence": "Evidence",
    "share": "New share link",
    "shares": "Share links",
    "share-policy": "Sharing policy",
    "settings": "Settings",
    "models": "Models",
    "redaction": "Redaction",
    "training": "Training pairs",
    "retention": "Retention",
    "hold": "Legal hold",
}
CALLS: Final = {
    "calls-timeline": "Timeline: a model call",
    "calls-request": "Timeline: the request as the model saw it",
    "calls-launch": "Launch a replay of model calls",
    "calls-replay": "Audit replay of model calls",
    "calls-step": "Audit replay: one model call",
    "calls-comparison": "Comparison of models over model calls",
    "calls-continue": "Continue with another model",
    "calls-continued": "Continuation that needs a result",
    "calls-compare": "First divergence of two runs",
    "calls-shared": "Continuation on a share link",
}


def keep(screen: Page, addresses: Mapping[str, str], names: Mapping[str, str]) -> None:
    """Retake the pictures of these pages if `KEEP_PICTURES` is set, and check that all are there and in the page."""
    if os.environ.get("KEEP_PICTURES"):
        (DOCS / "pictures").mkdir(parents=True, exist_ok=True)
        for name in names:
            screen.goto(addresses[name])
            screen.screenshot(path=DOCS / "pictures" / f"{name}.jpg", type="jpeg", quality=70)
        (DOCS / "pages.md").write_text(_text())
    assert [name for name in names if not (DOCS / "pictures" / f"{name}.jpg").exists()] == []
    assert (DOCS / "pages.md").read_text() == _text()


def _text() -> str:
    shown = "\n".join(_section(name, words) for name, words in DEMO.items())
    calls = "\n".join(_section(name, words) for name, words in CALLS.items())
    return (
        f"# Pages\n\nEvery page after `timemachine demo`. `make pictures` retakes the screenshots.\n\n{shown}\n"
        f"# Pages of model calls\n\nA recorded agent that decides a claim, replayed with two other models.\n\n{calls}"
    )


def _section(name: str, words: str) -> str:
    return f"## {words}\n\n![{words}](pictures/{name}.jpg)\n"
