"""A page at every width: a picture of it, what axe finds in it, and whether anything is wider than the screen."""

from pathlib import Path
from typing import Final

from playwright.sync_api import Page

WIDTHS: Final = (360, 900, 1440)
HEIGHT: Final = 900
THEMES: Final = ("light", "dark")
AXE = Path(__file__).resolve().parents[1] / "vendor" / "axe" / "axe.min.js"
PICTURES = Path(__file__).resolve().parents[2] / "build" / "pictures"
OF_AXE = "async () => (await axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})).violations.map(v => `${v.id}: ${v.nodes.map(n => n.target).slice(0, 3).join(' ')}`)"


def look(page: Page, name: str, address: str) -> list[str]:
    """Open the page, and at each width keep a picture of it and let axe and the ruler at it; what they found."""
    page.goto(address)
    page.evaluate(AXE.read_text())
    theme = "dark" if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else "light"
    PICTURES.mkdir(parents=True, exist_ok=True)
    faults: list[str] = []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        page.screenshot(path=PICTURES / f"{name}-{theme}-{width}.png")
        faults += [f"{name}, {width} px: {fault}" for fault in page.evaluate(OF_AXE)]
        wide = page.evaluate("document.documentElement.scrollWidth")
        faults += [f"{name}: {wide} px wide in {width}"] if wide > width else []
    return faults
