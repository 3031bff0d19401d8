"""Checks of a page: no accessibility violation found by axe, and nothing wider than the screen."""

import os
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Page

WIDTHS: Final = (360, 900, 1440)
HEIGHT: Final = 900
THEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
AXE = Path(__file__).resolve().parents[1] / "vendor" / "axe" / "axe.min.js"
PICTURES = Path(__file__).resolve().parents[2] / "build" / "pictures"
RULES: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Every element is visible on the narrowest or the widest screen, and a theme has few colours: two runs of axe suffice.
AXE_THEMES: Final[dict[int, Literal["light", "dark"]]] = {WIDTHS[-1]: "light", WIDTHS[0]: "dark"}
RUN_AXE = """async rules => (await axe.run(document, {runOnly: rules, resultTypes: ["violations"], preload: false}))
    .violations.map(v => `${v.id}: ${v.nodes.map(n => n.target).slice(0, 3).join(" ")}`)"""


def faults_at(page: Page, name: str, address: str) -> list[str]:
    """Open the page at desktop width and return its faults: overflow at any width, axe violations at the outermost ones."""
    page.set_viewport_size({"width": WIDTHS[-1], "height": HEIGHT})
    page.goto(address)
    return faults_on(page, name)


def faults_on(page: Page, name: str) -> list[str]:
    """Do the same for a page that is already open, such as the answer to a form. It ends at phone width."""
    page.evaluate(AXE.read_text())
    faults: list[str] = []
    for width in reversed(WIDTHS):
        page.set_viewport_size({"width": width, "height": HEIGHT})
        wide = page.evaluate("document.documentElement.scrollWidth")
        faults += [f"{name}: {wide} px wide in {width}"] if wide > width else []
        if theme := AXE_THEMES.get(width):
            page.emulate_media(color_scheme=theme)
            faults += [f"{name}, {theme}, {width} px: {fault}" for fault in page.evaluate(RUN_AXE, RULES)]
        if os.environ.get("KEEP_PICTURES"):
            for theme in THEMES:
                page.emulate_media(color_scheme=theme)
                page.screenshot(path=PICTURES / f"{name}-{theme}-{width}.png")
    page.emulate_media(color_scheme="light")
    return faults
