"""The pictures in docs/pages.md: which pages they show, in what order, and how they are retaken."""

import os
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from playwright.sync_api import Page

from tests.e2e.looking import HEIGHT, THEMES

DOCS: Final = Path(__file__).resolve().parents[2] / "docs"
PICTURES: Final = DOCS / "pictures"
BEFORE: Final = PICTURES / "before"
"""Pictures of the first design, which are not retaken."""
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
    "timeline-agents": "Timeline: several agents",
    "timeline-terminal": "Timeline: terminal output",
    "timeline-edit": "Timeline: an edited file",
    "totals": "Totals",
    "notes": "Notes",
    "transcript": "Transcript",
    "significance": "Highlights",
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
    "file-import": "Import of a file",
    "evidence": "Evidence",
    "share": "New share link",
    "shares": "Share links",
    "share-policy": "Sharing policy",
    "settings": "Settings",
    "second-factor": "Second factor",
    "second-factor-app": "Authenticator app",
    "models": "Models",
    "redaction": "Redaction",
    "training": "Training pairs",
    "retention": "Retention",
    "audit-log": "Audit log",
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


WIDTHS: Final = (1440, 900, 390)
QUALITY: Final = 60


def keep(screen: Page, addresses: Mapping[str, str], names: Mapping[str, str]) -> None:
    """Retake the pictures of these pages if `KEEP_PICTURES` is set. Check that `docs/pages.md` shows all pictures that there are."""
    if os.environ.get("KEEP_PICTURES"):
        PICTURES.mkdir(parents=True, exist_ok=True)
        for name in names:
            _take(screen, name, addresses[name])
        (DOCS / "pages.md").write_text(_text())
    assert (DOCS / "pages.md").read_text() == _text()


def _take(screen: Page, name: str, address: str) -> None:
    """Take a page in both themes at three widths, as WebP, which Playwright itself cannot."""
    screen.goto(address)
    chromium = screen.context.new_cdp_session(screen)
    for theme in THEMES:
        screen.emulate_media(color_scheme=theme)
        for width in WIDTHS:
            screen.set_viewport_size({"width": width, "height": HEIGHT})
            screen.wait_for_load_state("networkidle")
            taken = chromium.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
            (PICTURES / _file(name, theme, width)).write_bytes(b64decode(taken["data"]))
    screen.emulate_media(color_scheme="light")
    screen.set_viewport_size({"width": WIDTHS[0], "height": HEIGHT})


def _file(name: str, theme: str, width: int) -> str:
    return f"{name}-{theme}-{width}.webp"


def _text() -> str:
    demo = "\n".join(section for name, words in DEMO.items() if (section := _section(name, words)))
    calls = "\n".join(section for name, words in CALLS.items() if (section := _section(name, words)))
    return (
        "# Pages\n\nEach page in both themes, at 1440, 900 and 390 px, and before it was redesigned. The examples are the assistant of a"
        " bank's card desk, and agents that repair a shop. `make pictures` retakes the pictures."
        f"\n\n{demo}\n# Pages of model calls\n\nA recorded agent that decides a claim, replayed with two other models.\n\n{calls}"
    )


def _section(name: str, words: str) -> str:
    """Return the pictures of a page under its heading; empty if it has none."""
    before = BEFORE / f"{name}.jpg"
    now = [
        (theme, width)
        for width in WIDTHS
        for theme in THEMES
        if (PICTURES / _file(name, theme, width)).exists()
    ]
    if not now and not before.exists():
        return ""
    parts = [f"## {words}\n"]
    if now:
        parts.append(f"![{words}](pictures/{_file(name, *now[0])})\n")
        small = "\n".join(_image(name, words, theme, width) for theme, width in now[1:])
        parts.append(f"<details>\n<summary>Dark, 900 and 390 px</summary>\n\n{small}\n\n</details>\n")
    if before.exists():
        image = f"![{words}, before](pictures/before/{name}.jpg)"
        parts.append(
            f"<details>\n<summary>Before</summary>\n\n{image}\n\n</details>\n" if now else f"{image}\n"
        )
    return "\n".join(parts)


def _image(name: str, words: str, theme: str, width: int) -> str:
    """Return a picture at half its size, so that those of one width fit next to each other."""
    return f'<img src="pictures/{_file(name, theme, width)}" width="{width // 2}" alt="{words}, {theme}, {width} px">'
