"""A page as axe and a ruler find it: nothing that keeps people out, and nothing wider than the screen."""

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
# Whatever can be seen at all is seen on the narrowest or the widest screen, and every colour is one of a theme's few.
LOOKS: Final[dict[int, Literal["light", "dark"]]] = {WIDTHS[-1]: "light", WIDTHS[0]: "dark"}
OF_AXE = """async rules => (await axe.run(document, {runOnly: rules, resultTypes: ["violations"], preload: false}))
    .violations.map(v => `${v.id}: ${v.nodes.map(n => n.target).slice(0, 3).join(" ")}`)"""


def look(page: Page, name: str, address: str) -> list[str]:
    """Open the page on a desk, let the ruler at it at every width, and axe at the outermost ones; what they found."""
    page.set_viewport_size({"width": WIDTHS[-1], "height": HEIGHT})
    page.goto(address)
    return look_at_it(page, name)


def look_at_it(page: Page, name: str) -> list[str]:
    """The same of a page that is open, as a form answered with it. It is left on a phone."""
    page.evaluate(AXE.read_text())
    faults: list[str] = []
    for width in reversed(WIDTHS):
        page.set_viewport_size({"width": width, "height": HEIGHT})
        wide = page.evaluate("document.documentElement.scrollWidth")
        faults += [f"{name}: {wide} px wide in {width}"] if wide > width else []
        if theme := LOOKS.get(width):
            page.emulate_media(color_scheme=theme)
            faults += [f"{name}, {theme}, {width} px: {fault}" for fault in page.evaluate(OF_AXE, RULES)]
        if os.environ.get("KEEP_PICTURES"):
            for theme in THEMES:
                page.emulate_media(color_scheme=theme)
                page.screenshot(path=PICTURES / f"{name}-{theme}-{width}.png")
    page.emulate_media(color_scheme="light")
    return faults
