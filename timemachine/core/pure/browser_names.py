"""The name of a browser and its system, from the User-Agent header."""

from typing import Final

UNKNOWN: Final = "unknown browser"
_BROWSERS: Final = (  # most of them also claim to be Chrome or Safari, so that the order matters
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Chromium/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS: Final = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
)


def browser_family(user_agent: str) -> str:
    """Return such as `Firefox`; empty if the header names no known browser."""
    return next((name for mark, name in _BROWSERS if mark in user_agent), "")


def browser_name(user_agent: str) -> str:
    """Return such as `Firefox on Windows`; `unknown browser` if the header says neither browser nor system."""
    browser = browser_family(user_agent)
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    if browser and system:
        return f"{browser} on {system}"
    return browser or (f"browser on {system}" if system else UNKNOWN)
