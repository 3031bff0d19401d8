"""A page at every width and in both themes: what axe finds in it, whether anything is wider than the screen, and a picture of it."""

import os
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Page

WIDTHS: Final = (360, 900, 1440)
HEIGHT: Final = 900
AXE = Path(__file__).resolve().parents[1] / "vendor" / "axe" / "axe.min.js"
PICTURES = Path(__file__).resolve().parents[2] / "build" / "pictures"
# The themes differ by their colours only, and so does what axe may find: the other rules are asked in the first one.
OF_COLOURS: Final = ["color-contrast", "link-in-text-block"]
RULES: Final[tuple[tuple[Literal["light", "dark"], list[str]], ...]] = (
    ("light", ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]),
    ("dark", OF_COLOURS),
)
# Whatever can be seen at all is seen on the narrowest or the widest screen.
OUTERMOST: Final = (WIDTHS[0], WIDTHS[-1])
OF_AXE = """async rules => (await axe.run(document, {runOnly: rules, resultTypes: ["violations"], preload: false}))
    .violations.map(v => `${v.id}: ${v.nodes.map(n => n.target).slice(0, 3).join(" ")}`)"""


def look(page: Page, name: str, address: str) -> list[str]:
    """Open the page, and let axe and the ruler at it at every width, in the dark theme at the outermost; what they found."""
    page.goto(address)
    return look_at_it(page, name)


def look_at_it(page: Page, name: str) -> list[str]:
    """The same of a page that is open, as a form answered with it."""
    page.evaluate(AXE.read_text())
    faults: list[str] = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        for theme, rules in RULES if width in OUTERMOST else RULES[:1]:
            page.emulate_media(color_scheme=theme)
            if os.environ.get("KEEP_PICTURES"):
                page.screenshot(path=PICTURES / f"{name}-{theme}-{width}.png")
            faults += [f"{name}, {theme}, {width} px: {fault}" for fault in page.evaluate(OF_AXE, rules)]
            wide = page.evaluate("document.documentElement.scrollWidth")
            faults += [f"{name}, {theme}: {wide} px wide in {width}"] if wide > width else []
    page.emulate_media(color_scheme="light")
    return faults
